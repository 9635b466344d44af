#pragma once

#include "model/codec/codec.h"
#include "model/extra.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The messages between the agent and the keeper of a pod, and the files of both on disk. Keepers
// outlive the program that started them: fields are added, never changed, and unknown ones ignored.
namespace codeflare::node {

using model::Extra;

inline constexpr std::int32_t kKeeperProtocol = 1;
// The error of runs whose end nobody saw.
inline constexpr std::string_view kKeeperLost = "its keeper ended before it";

// A file or directory that a container sees at `target`.
struct MountSpec {
  std::string source;  // in a volume, from the pod's directory: "volumes/data", "volumes/data/sub"
  std::string target;
  bool read_only = false;
  Extra extra;

  friend bool operator==(const MountSpec&, const MountSpec&) = default;
};

// A volume that is kept in memory, one for all containers of the pod.
struct MemoryVolume {
  std::string name;
  std::int64_t size = 0;  // in bytes; 0: the kernel's default
  Extra extra;

  friend bool operator==(const MemoryVolume&, const MemoryVolume&) = default;
};

// A file or directory of the machine that is a volume of the pod.
struct MachineVolume {
  std::string name;
  std::string source;  // absolute, without links on the way
  Extra extra;

  friend bool operator==(const MachineVolume&, const MachineVolume&) = default;
};

// Which numbered devices a container of the pod has.
struct DeviceGrant {
  std::string container;
  std::string resource;  // "nvidia.com/gpu"
  std::vector<std::int32_t> ids;
  Extra extra;

  friend bool operator==(const DeviceGrant&, const DeviceGrant&) = default;
};

// The description of a keeper.
struct SandboxSpec {
  std::int32_t protocol = kKeeperProtocol;
  std::string ns;
  std::string name;
  std::string uid;
  std::string hostname;
  bool isolated = true;  // in namespaces; false: plain processes
  // The socket of the holder that has a network for the pod; empty: the machine's network.
  std::string network;
  // Directories of the machine that images need, read-only, at the same path for containers.
  std::vector<std::string> directories;
  // Root file systems of images that containers may name.
  std::vector<std::string> roots;
  std::vector<MemoryVolume> memory_volumes;
  std::vector<MachineVolume> machine_volumes;
  // Places of the machine that are empty for containers whatever holds them; without links.
  std::vector<std::string> hidden;
  // The pod's control groups, one per hierarchy; containers have theirs below. None: limits are
  // kept by the keeper as well as it can.
  std::vector<std::string> groups;
  std::vector<DeviceGrant> devices;
  // How the pod ends with its node, for whoever has nothing else to read it from.
  std::optional<std::int64_t> grace_seconds;
  std::vector<std::string> sidecars;  // in the order of their start
  Extra extra;

  friend bool operator==(const SandboxSpec&, const SandboxSpec&) = default;
};

// One run of a container, with everything resolved.
struct ContainerSpec {
  std::string name;
  std::int32_t attempt = 0;
  std::vector<std::string> command;      // never empty; looked up on the container's PATH
  std::vector<std::string> environment;  // "NAME=value", all there is
  std::string working_directory;         // empty: "/"
  std::optional<std::int64_t> run_as_user;
  std::optional<std::int64_t> run_as_group;
  std::int64_t memory_limit = 0;  // in bytes; 0: none
  std::int64_t cpu_limit_milli = 0;
  std::int64_t cpu_request_milli = 0;
  std::int32_t oom_score =
      0;  // how early it is killed when the machine has no memory left, to 1000
  std::vector<MountSpec> mounts;
  std::string root;  // of SandboxSpec::roots; empty: the machine's programs
  bool read_only_root = false;
  std::string message_path;  // where the container leaves its last words; empty: nowhere
  bool message_from_log = false;
  bool input = false;       // its standard input stays open for those who attach
  bool input_once = false;  // to the first of them only
  bool terminal = false;
  std::int64_t backoff_ms = 0;  // how long this start had to wait for the crash before it
  Extra extra;

  friend bool operator==(const ContainerSpec&, const ContainerSpec&) = default;
};

// The outcome of one start. Times are nanoseconds since 1970, 0 when not yet.
struct RunRecord {
  std::string name;
  std::int32_t attempt = 0;
  std::int32_t sandbox = 0;  // of KeeperState::sandbox when it was started
  std::string state;         // "starting", "running", "exited"
  std::int64_t started = 0;
  std::int64_t finished = 0;
  std::int64_t asked_to_end = 0;  // when it was first sent a signal that asks so
  bool cut_off = false;           // by the end of its node: what it came to is not its own doing
  std::int64_t backoff_ms = 0;
  std::int32_t exit_code = 0;
  std::int32_t signal = 0;
  std::string error;    // why it could not be started, or how its end was lost
  std::string message;  // its last words
  std::string reason;   // of its end, when the code does not say it: "OOMKilled"
  Extra extra;

  bool starting() const { return state == "starting"; }
  bool running() const { return state == "running"; }
  bool exited() const { return state == "exited"; }
  friend bool operator==(const RunRecord&, const RunRecord&) = default;
};

// Runs in the order of their starts; of each container at least the last two.
struct KeeperState {
  std::int32_t protocol = kKeeperProtocol;
  // How many keepers the pod has had: what an earlier one kept in memory is gone.
  std::int32_t sandbox = 0;
  std::vector<RunRecord> runs;
  Extra extra;

  // The newest run of the container, or the one before it; null when there is none.
  const RunRecord* last(std::string_view name) const;
  const RunRecord* previous(std::string_view name) const;
  RunRecord* find(std::string_view name, std::int32_t attempt);
  // Drops what nobody asks for any more.
  void forget_old();
  // The keeper is gone: what was under way has ended, nobody knows how.
  void lose(std::int64_t now);
  friend bool operator==(const KeeperState&, const KeeperState&) = default;
};

struct KeeperRequest {
  std::int32_t protocol = kKeeperProtocol;
  std::string verb;                        // "start", "signal", "kill", "state", "shutdown"
  std::string name;                        // of the container, for signal and kill
  std::int32_t signal = 0;                 // 0: none is sent
  bool cut_off = false;                    // of signal: because the node ends
  std::optional<ContainerSpec> container;  // of start
  Extra extra;

  friend bool operator==(const KeeperRequest&, const KeeperRequest&) = default;
};

struct KeeperAnswer {
  std::int32_t protocol = kKeeperProtocol;
  bool event = false;  // nobody asked: the state has changed
  std::string error;   // empty: done
  KeeperState state;
  Extra extra;

  friend bool operator==(const KeeperAnswer&, const KeeperAnswer&) = default;
};

const model::codec::StructInfo& describe(model::codec::Tag<MountSpec>);
const model::codec::StructInfo& describe(model::codec::Tag<MemoryVolume>);
const model::codec::StructInfo& describe(model::codec::Tag<MachineVolume>);
const model::codec::StructInfo& describe(model::codec::Tag<DeviceGrant>);
const model::codec::StructInfo& describe(model::codec::Tag<SandboxSpec>);
const model::codec::StructInfo& describe(model::codec::Tag<ContainerSpec>);
const model::codec::StructInfo& describe(model::codec::Tag<RunRecord>);
const model::codec::StructInfo& describe(model::codec::Tag<KeeperState>);
const model::codec::StructInfo& describe(model::codec::Tag<KeeperRequest>);
const model::codec::StructInfo& describe(model::codec::Tag<KeeperAnswer>);

}  // namespace codeflare::node
