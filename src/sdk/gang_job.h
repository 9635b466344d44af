#pragma once

#include "base/result.h"
#include "json/value.h"
#include "model/extra.h"
#include "model/list.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The gang of pods behind `codeflare run`, DDP jobs on Kubernetes and Runs of the Platform; pure.
namespace codeflare::sdk {

// Pods of one size that start together and run one command.
struct GangJob {
  // Of the Job and its Service: a DNS label that begins with a letter; pods are NAME-0, NAME-1.
  std::string name;
  std::string ns{};  // empty: the namespace of the request
  // On Job, Service and pods.
  model::StringMap labels{};
  model::StringMap annotations{};

  std::string image;
  std::vector<std::string> pull_secrets{};
  // Word by word, never read by a shell; "$(VAR)" stays as it is. With torchrun, these are the
  // words behind torchrun's own: a script or "-m", "module", then its arguments.
  std::vector<std::string> argv;
  model::StringMap env{};  // wins over the variables of the gang
  std::string workdir{};

  std::int64_t pods = 1;
  std::int64_t processes_per_pod = 1;  // torchrun starts these
  // By Kubernetes' names (cpu, memory, nvidia.com/gpu), per pod; requests and limits alike.
  model::StringMap resources{};

  // Starts `python3 -m torch.distributed.run` in each pod, which meet at pod 0. Otherwise each pod
  // of several has RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT in its environment.
  bool torchrun = false;
  std::int64_t port = 29500;       // of the meeting point
  std::string rendezvous{"c10d"};  // torchrun's back end
  std::int64_t restarts = 0;       // of the processes by torchrun, within their pods
  // A terminal for the command, which starts when somebody attaches and sends a line.
  bool terminal = false;
  bool shared_memory = true;       // /dev/shm in memory, bounded by the memory of the pod
  model::RawJson volumes{};        // JSON lists, as in a pod
  model::RawJson volume_mounts{};  // of the main container
  model::RawJson init_containers{};
  model::RawJson tolerations{};
  model::StringMap node_selector{};
  std::int64_t backoff_limit = 0;     // pods that may fail and are started anew
  std::int64_t deadline_seconds = 0;  // 0: none
  std::string priority_class{};
  std::string service_account{};  // empty: the namespace's default
};

// The container that runs the command.
inline constexpr std::string_view kGangContainer = "main";

// All that is wrong with it: names, amounts, counts. Nothing is sent before this passes.
Result<void> check(const GangJob& gang);

// The objects, as a list in the order of their creation: a headless Service (with several pods or
// torchrun) and an Indexed Job. `gang` must pass check().
json::Document gang_objects(const GangJob& gang);

// A word as Kubernetes must be given it so that the container gets it as it is.
std::string literal_word(std::string_view word);

// How objects wait in the queue.
struct Wrapping {
  std::string name;
  std::string ns{};
  model::StringMap labels{};  // of the AppWrapper
  model::StringMap annotations{};
  model::StringMap quota{};  // tree -> node, as labels
  std::optional<std::int64_t> priority{};
  std::int64_t limit_seconds = 0;  // of dispatched time; 0: none
  bool suspended = false;          // until somebody releases it
};

// An AppWrapper (v1beta1) around the objects of a list. Jobs and RayJobs in it have the
// completionstatus that ends the AppWrapper with them.
json::Document wrap(const Wrapping& wrapping, const json::Value& objects);

}  // namespace codeflare::sdk
