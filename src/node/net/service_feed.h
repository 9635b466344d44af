#pragma once

#include "node/net/pod_network.h"
#include "runtime/manager.h"
#include "runtime/reconciler.h"

namespace codeflare::node {

// Tells the pod network which services there are and what is behind them.
class ServiceFeed final : public runtime::Reconciler {
 public:
  ServiceFeed(const runtime::ControllerContext& context, PodNetwork& network);

  Task<Result<runtime::Next>> reconcile(runtime::ObjectKey key) override;
  // Beside the controllers: what an earlier agent told and is gone since.
  Task<void> forget_old();

 private:
  runtime::Informer& services_;
  runtime::Informer& slices_;
  PodNetwork& network_;
};

// Wires it into a manager. The network outlives it.
ServiceFeed& add_service_feed(runtime::Manager& manager, PodNetwork& network);

}  // namespace codeflare::node
