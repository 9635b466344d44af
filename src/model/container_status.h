#pragma once

#include "model/container.h"
#include "model/extra.h"
#include "model/meta.h"
#include "model/resource_list.h"

#include <cstdint>
#include <optional>
#include <string>

namespace codeflare::model {

struct ContainerStateWaiting {
  std::string reason;
  std::string message;
  Extra extra;

  friend bool operator==(const ContainerStateWaiting&, const ContainerStateWaiting&) = default;
};

struct ContainerStateRunning {
  std::optional<Time> started_at;
  Extra extra;

  friend bool operator==(const ContainerStateRunning&, const ContainerStateRunning&) = default;
};

struct ContainerStateTerminated {
  std::int32_t exit_code = 0;
  std::int32_t signal = 0;
  std::string reason;
  std::string message;
  std::optional<Time> started_at;
  std::optional<Time> finished_at;
  std::string container_id;
  Extra extra;

  friend bool operator==(const ContainerStateTerminated&,
                         const ContainerStateTerminated&) = default;
};

// At most one of them is set; none means waiting.
struct ContainerState {
  std::optional<ContainerStateWaiting> waiting;
  std::optional<ContainerStateRunning> running;
  std::optional<ContainerStateTerminated> terminated;
  Extra extra;

  friend bool operator==(const ContainerState&, const ContainerState&) = default;
};

struct ContainerStatus {
  std::string name;
  ContainerState state;
  ContainerState last_state;
  bool ready = false;
  std::int32_t restart_count = 0;
  std::string image;
  std::string image_id;
  std::string container_id;
  std::optional<bool> started;
  ResourceList allocated_resources;
  std::optional<ResourceRequirements> resources;
  Extra extra;

  friend bool operator==(const ContainerStatus&, const ContainerStatus&) = default;
};

}  // namespace codeflare::model
