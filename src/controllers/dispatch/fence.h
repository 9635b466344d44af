#pragma once

#include "base/result.h"
#include "base/time.h"
#include "model/meta.h"
#include "queue/work.h"

#include <optional>
#include <string>
#include <string_view>

// A fence: a copy that its worker stops when the hub has been silent for too long, so that the hub
// may start the work elsewhere without an answer. Pure (docs/decisions/0016-many-clusters.md).
//
//   hub     last try to renew the Lease ------- lost_after + margin -------> starts elsewhere
//   worker  last look without the renewal ---- lost_after ----> stops the copy
//
// Each side measures with its own steady clock, from the moment that is worst for itself.
namespace codeflare::controllers::dispatch {

struct Fence {
  std::string lease;  // in queue::kControllerNamespace of the worker
  Duration lost_after{};
  friend bool operator==(const Fence&, const Fence&) = default;
};
std::string to_text(const Fence& fence);
// Of a copy; nothing: it has none.
std::optional<Fence> fence_of(const model::ObjectMeta& copy);
// Its worker has stopped it.
bool is_fenced(const model::ObjectMeta& copy);

// "codeflare-hub-NAME"
std::string hub_lease_name(std::string_view cluster);

// A worker's controller that has just started does not know how old the last renewal is: it waits
// so long for another one.
Duration fence_grace(Duration lost_after);
// The hub waits so much longer: for a restart of the worker's controller, clocks that run apart,
// and pods that end.
Duration fence_margin(Duration lost_after);

// The worker's side: what looks at one Lease tell of the last renewal.
class Renewals {
 public:
  explicit Renewals(Instant begin) : begin_(begin) {}
  // A look that was sent then found this renewal; empty: no Lease of that hub.
  void seen(Instant sent, std::string_view renewal);
  bool expired(Instant now, Duration lost_after) const;

 private:
  Instant begin_;
  std::optional<Instant> looked_{};      // the last look was sent then
  std::string renewal_{};                // and found this
  std::optional<Instant> not_before_{};  // the last renewal that we saw was after this moment
};

// Stops a copy for its fence, in the version that was looked at.
std::string fence_patch(const model::ObjectMeta& copy, queue::WorkKind kind, WallTime now);
// Gives a copy this fence; nothing: takes its fence away.
std::string refence_patch(const model::ObjectMeta& copy, const std::optional<Fence>& fence);

}  // namespace codeflare::controllers::dispatch
