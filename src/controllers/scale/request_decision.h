#pragma once

#include "base/time.h"
#include "model/machine_request.h"
#include "queue/market.h"

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

// The decision about a MachineRequest. Pure.
namespace codeflare::controllers::scale {

using queue::kFailed;
using queue::kGone;
using queue::kLeaving;
using queue::kPending;
using queue::kReady;

struct Patience {
  Duration timeout = std::chrono::minutes(15);    // until all machines of a request are ready
  Duration down_after = std::chrono::minutes(5);  // idle, until a machine goes
};

struct SeenMachine {
  std::string name;
  std::string type;
  bool there = false;
  bool ready = false;
  std::string problem{};     // it will not come
  std::string note{};        // why it is not ready yet
  std::string node{};        // its Node
  bool adopted = true;       // the Node has the labels of its request
  bool leaves_node = false;  // its Node is removed by an autoscaler
  bool pending = false;      // its Node has the taint of an incomplete request
  bool cordoned = false;
  bool ours = false;  // the cordon
  bool used = true;   // work has places there, or pods other than DaemonSets' are there
  std::optional<WallTime> idle_since{};
};

struct SeenRequest {
  model::MachineRequest request;
  std::vector<SeenMachine> machines;
  std::optional<WallTime> unwanted_since{};  // of an incomplete one: nobody waits for it
};

struct RequestDecision {
  model::MachineRequestStatus status;
  bool ask = false;
  bool hand_over = false;  // before the status is written
  // Positions of machines.
  std::vector<std::size_t> adopt{};
  std::vector<std::size_t> untaint{};
  std::vector<std::size_t> cordon{};
  std::vector<std::size_t> uncordon{};
  std::vector<std::size_t> give_back{};
  bool remove = false;          // the request: nothing of it is left, or nobody waits for it
  bool drop_finalizer = false;  // likewise, of one that is being deleted
  std::optional<Duration> again{};
};

// The order of the machines is that of the spec.
RequestDecision decide(const SeenRequest& seen, WallTime now, const Patience& patience);
// The provider has taken it back for good.
void mark_gone(RequestDecision& decision, std::size_t machine);
// It will not come, in the provider's words.
void mark_failed(RequestDecision& decision, const std::string& words, WallTime now,
                 const Patience& patience);

}  // namespace codeflare::controllers::scale
