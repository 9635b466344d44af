#pragma once

#include "base/env/env.h"
#include "base/log.h"
#include "controllers/appwrapper/queue_driver.h"
#include "controllers/scale/provider.h"
#include "controllers/scale/request_decision.h"
#include "runtime/finalizer.h"
#include "runtime/manager.h"
#include "runtime/reconciler.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::controllers::scale {

inline constexpr std::string_view kFinalizer = "scale.codeflare.dev/machines";
// On Nodes that we have cordoned because they are idle.
inline constexpr std::string_view kLeavingAnnotation = "scale.codeflare.dev/leaving";

// Brings the machines of a MachineRequest, lets the queue use them once all are there, and gives
// them back when they are idle. docs/decisions/0017-machines.md has the order of writes.
class RequestController final : public runtime::Reconciler {
 public:
  RequestController(const runtime::ControllerContext& context, QueueDriver& driver,
                    Providers providers, Patience patience, Logger logger);

  Task<Result<runtime::Next>> reconcile(runtime::ObjectKey key) override;

 private:
  struct Observed {
    SeenRequest seen;
    std::vector<MachineOrder> orders;
    kube::ObjectRef object;
  };
  std::optional<Observed> observe(const runtime::ObjectKey& key);
  void look(Observed& observed);
  SeenMachine seen_of(const MachineOrder& order, const MachineView& view);
  Task<Result<void>> ask(std::vector<MachineOrder> orders);
  Task<Result<void>> hand_over(std::vector<MachineOrder> orders);
  // Returns the Nodes that an autoscaler may have.
  Task<std::vector<std::string>> give_back(const Observed& observed, RequestDecision& decision);
  runtime::Plan plan(const Observed& observed, const RequestDecision& decision) const;
  void add_node_patches(const Observed& observed, const RequestDecision& decision,
                        runtime::Plan& plan) const;
  Result<model::Node> node(const std::string& name) const;

  Env env_;
  runtime::Actor& actor_;
  const runtime::Store& requests_;
  const runtime::Store& types_;
  const runtime::Store& nodes_;
  const runtime::Store& pods_;
  QueueDriver& driver_;
  Providers providers_;
  Patience patience_;
  Logger logger_;
  runtime::Finalizer finalizer_;
  std::map<std::string, WallTime> idle_;      // machines that nobody uses, since when
  std::map<std::string, WallTime> unwanted_;  // incomplete requests that nobody waits for
};

// The machines of a request, by type and number.
std::vector<MachineOrder> orders_of(const model::MachineRequest& request,
                                    const runtime::Store& types);

}  // namespace codeflare::controllers::scale
