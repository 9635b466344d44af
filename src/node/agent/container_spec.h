#pragma once

#include "base/result.h"
#include "base/time.h"
#include "model/pod.h"
#include "node/agent/image_table.h"
#include "node/agent/pod_inputs.h"
#include "node/wire/keeper_protocol.h"

#include <string>
#include <vector>

namespace codeflare::node {

// The kubelet's reason for a container that waits: ErrImagePull, CreateContainerConfigError.
struct StartProblem {
  std::string reason;
  std::string message;
  friend bool operator==(const StartProblem&, const StartProblem&) = default;
};

struct ContainerSources {
  const model::Pod& pod;  // its status has the pod's addresses
  const PodInputs& inputs;
  const ImageTable& images;
  const std::vector<DeviceGrant>& devices;
};

// Whether there is something to run for the container's image: the sentence, when there is not.
// `required`: its command alone is not enough.
std::optional<StartProblem> image_problem(const model::Container& container,
                                          const ImageTable& images, bool required = false);

// Everything that its keeper has to know to start the container.
std::expected<ContainerSpec, StartProblem> container_spec(const ContainerSources& sources,
                                                          const model::Container& container,
                                                          std::int32_t attempt);

// Names of the init containers that run on beside the others, in order.
std::vector<std::string> sidecars_of(const model::Pod& pod);

// How long what runs in the pod has to end once it is asked to.
Duration grace_of(const model::Pod& pod);

// Ids besides 0 that containers of the pod run as.
std::vector<std::int64_t> users_of(const model::Pod& pod, const ImageTable& images);

// The keeper of the pod: devices and what its images need.
SandboxSpec sandbox_spec(const model::Pod& pod, const ImageTable& images);

}  // namespace codeflare::node
