#pragma once

#include "base/result.h"
#include "model/pod.h"
#include "node/agent/pod_inputs.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// The content of the directories of a pod's volumes. Pure.
namespace codeflare::node {

struct VolumeFile {
  std::string path;  // below the volume, "a/b"
  std::string content;
  std::uint32_t mode = 0644;
  friend bool operator==(const VolumeFile&, const VolumeFile&) = default;
};

struct VolumePlan {
  enum class Kind : std::uint8_t {
    empty,    // a directory for the pod to fill
    memory,   // the same, in memory
    files,    // these, read-only
    machine,  // a place of the machine
  };
  std::string name;
  Kind kind = Kind::empty;
  std::vector<VolumeFile> files{};
  std::int64_t size = 0;  // of memory
  // Of the machine: where, and what has to be there (as hostPath has it).
  std::string source{};
  std::string type{};
  friend bool operator==(const VolumePlan&, const VolumePlan&) = default;
};

// Whether its content comes from objects, which may change.
bool follows_objects(const model::Volume& volume);
// Another one for other content.
std::uint64_t fingerprint(const VolumePlan& plan);

// In the order of the spec. Fails with the sentence for the event FailedMount: the pod waits.
Result<std::vector<VolumePlan>> plan_volumes(const model::Pod& pod, const PodInputs& inputs);

}  // namespace codeflare::node
