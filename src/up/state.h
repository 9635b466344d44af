#pragma once

#include "base/env/env.h"
#include "base/result.h"
#include "base/time.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::up {

// A context that was put into somebody's kubeconfig. Empty name: none was.
struct AddedContext {
  std::string file{};
  std::string name{};
  std::string previous{};  // what was current before
  friend bool operator==(const AddedContext&, const AddedContext&) = default;
};

// A process, and when it began in the kernel's own ticks: its number alone may be another's by now.
struct ProcessId {
  std::int64_t pid = 0;
  std::int64_t began = 0;
  friend bool operator==(const ProcessId&, const ProcessId&) = default;
};

// The description of `codeflare up` in DIR/up.json while it runs.
struct UpState {
  ProcessId process{};
  WallTime since{};
  std::int64_t ready_ms = 0;  // how long the start took
  std::string version{};
  std::string server{};      // "https://127.0.0.1:6443"
  std::string kubeconfig{};  // the administrator's
  std::string log{};         // empty: whoever started it sees it
  AddedContext context{};
  std::vector<std::string> about{};  // lines about its nodes, for people
  std::string warning{};             // what failed at its start, though it runs
  friend bool operator==(const UpState&, const UpState&) = default;
};

std::string to_json(const UpState& state);
Result<UpState> parse_up_state(std::string_view text);

// Where a cluster is kept: `given`, else per user $XDG_STATE_HOME/codeflare/up.
Result<std::string> up_directory(const Variables& variables, const std::string& given);
std::string up_state_path(std::string_view directory);

// Paths that pods on a machine of this user never see, whatever else they are shown: the data of
// her clusters, and the kubeconfigs that hold the keys to them.
std::vector<std::string> private_places(const Variables& variables,
                                        const std::vector<std::string>& kubeconfigs);

// Nothing when there is none. Blocks on a file, as all below.
Result<std::optional<UpState>> read_up_state(FileSystem& files, const std::string& directory);

// The process of that number, or "self"; not found when there is none or it has ended already.
Result<ProcessId> find_process(FileSystem& files, std::string_view pid);
// It is still that very process.
bool is_running(FileSystem& files, const ProcessId& process);

// The text when it is ready: what was started, and three commands to try.
std::string render_ready(const UpState& state);

}  // namespace codeflare::up
