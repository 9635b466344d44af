#pragma once

#include "controllers/endpoints/endpoint_decision.h"
#include "controllers/endpoints/endpoint_pods.h"
#include "runtime/manager.h"
#include "runtime/reconciler.h"

#include <optional>

namespace codeflare::controllers::endpoints {

// Keeps the EndpointSlices of Services with a selector. Slices that others manage are left alone.
class EndpointReconciler final : public runtime::StoryReconciler<ObservedService, DesiredSlices> {
 public:
  explicit EndpointReconciler(const runtime::ControllerContext& context);

  std::optional<ObservedService> observe(const runtime::ObjectKey& key) const override;
  DesiredSlices desired(const ObservedService& observed, WallTime now) const override;
  runtime::Plan diff(const ObservedService& observed, const DesiredSlices& desired) const override;

 private:
  const runtime::Store& services_;
  const runtime::Store& slices_;
  EndpointPods pods_;
};

EndpointReconciler& add_endpoint_controller(runtime::Manager& manager);

}  // namespace codeflare::controllers::endpoints
