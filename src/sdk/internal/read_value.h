#pragma once

#include "json/value.h"
#include "sdk/cluster_fields.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// One value of a configuration in the form that ClusterConfig keeps. A value that does not fit adds
// a fault and is nothing.
namespace codeflare::sdk {

class ValueReader {
 public:
  // `field` is the name under which the value was given.
  ValueReader(std::string field, std::vector<Fault>& faults)
      : field_(std::move(field)), faults_(faults) {}

  std::optional<std::string> text(const json::Value& value);
  std::optional<std::int64_t> integer(const json::Value& value);
  std::optional<bool> boolean(const json::Value& value);
  // Canonical text: CPUs as given, memory with its unit.
  std::optional<std::string> cpu(const json::Value& value);
  std::optional<std::string> memory(const json::Value& value);
  std::optional<std::int64_t> seconds(const json::Value& value);
  std::optional<model::StringMap> text_map(const json::Value& value);
  std::optional<model::StringMap> amount_map(const json::Value& value);
  std::optional<std::vector<std::string>> text_list(const json::Value& value);
  std::optional<model::RawJson> object_list(const json::Value& value);
  std::optional<model::RawJson> object(const json::Value& value);
  std::optional<Queueing> queueing(const json::Value& value);

  // The fault, and nothing.
  std::nullopt_t wrong(const json::Value& value, std::string problem, std::string fix);

 private:
  std::optional<std::string> quantity(const json::Value& value, std::string_view bare_unit,
                                      std::string fix);
  // Each item of the older form [{"name": ..., "value": ...}].
  std::optional<model::StringMap> pairs(const json::Value& value);

  std::string field_;
  std::vector<Fault>& faults_;
};

}  // namespace codeflare::sdk
