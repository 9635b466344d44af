#pragma once

#include "base/result.h"
#include "cli/session/session.h"
#include "sdk/read_config.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace codeflare::cli::internal {

// The fields of a cluster as typed: by field or alias, in the order of the command line.
struct ClusterFlags {
  std::string name;  // NAME or --name
  std::string from;  // --from FILE
  std::map<std::string, std::vector<std::string>> fields;

  bool any_field() const { return !fields.empty() || !from.empty(); }
};

// NAME, --from and an option for every field of the table.
void add_cluster_flags(CLI::App& verb, const std::shared_ptr<ClusterFlags>& flags);
// The same without NAME, and without options that the verb has already.
void add_cluster_fields(CLI::App& verb, const std::shared_ptr<ClusterFlags>& flags);
// NAME or --name alone.
void add_cluster_name(CLI::App& verb, std::string& name);

// The configuration: the fields of `base` if given, then the file's, then those of the command
// line. Reports what is wrong, a line for each fault, and advice; nothing when there was something
// wrong.
std::optional<sdk::ClusterConfig> read_cluster_flags(Session& session, const ClusterFlags& flags,
                                                     const sdk::ClusterConfig* base = nullptr);

}  // namespace codeflare::cli::internal
