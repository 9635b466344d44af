#pragma once

#include "json/value.h"
#include "sdk/cluster_config.h"

#include <cstdint>
#include <string>
#include <vector>

namespace codeflare::sdk {

// Where the names come from: options of the command line need no advice on older names.
enum class Names : std::uint8_t { fields, options };

// The configuration as far as it could be read, and all faults.
struct ConfigReading {
  ClusterConfig config;
  std::vector<std::string> advice;  // a line for each older name
  std::vector<Fault> faults;        // also those of faults_of()
};

// An object whose members are fields or aliases of the table; null means "not given". Two names
// that give one field different values are a fault.
ConfigReading read_config(const json::Value& object, Names names = Names::fields);

// A file that `define --from` or Python reads: one YAML document with such an object.
Result<ConfigReading> read_config_file(std::string_view text, const std::string& file);

}  // namespace codeflare::sdk
