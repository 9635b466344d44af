#pragma once

#include "node/agent/pod_network.h"
#include "runtime/manager.h"
#include "runtime/reconciler.h"

#include <string>

namespace codeflare::node {

// Tells the pod network which services there are and what is behind them.
class ServiceFeed final : public runtime::Reconciler {
 public:
  // Of endpoints only those of `node` are passed on; all when it is empty.
  ServiceFeed(const runtime::ControllerContext& context, PodNetwork& network, std::string node);

  Task<Result<runtime::Next>> reconcile(runtime::ObjectKey key) override;
  // Beside the controllers: what an earlier agent told and is gone since.
  Task<void> forget_old();

 private:
  runtime::Informer& services_;
  runtime::Informer& slices_;
  PodNetwork& network_;
  std::string node_;
};

// Wires it into a manager. The network outlives it. Where it has the pods of one node among others,
// that is named: addresses of other pods mean nothing in it, or another pod.
ServiceFeed& add_service_feed(runtime::Manager& manager, PodNetwork& network,
                              std::string node = {});

}  // namespace codeflare::node
