#include "controllers/endpoints/endpoint_controller.h"

#include "controllers/apps/claim.h"
#include "controllers/apps/owners.h"
#include "controllers/pods_type.h"
#include "model/codec/endpoint_slice.h"
#include "model/codec/service.h"
#include "model/labels.h"
#include "model/pod.h"
#include "model/resources.h"

#include <utility>
#include <vector>

namespace codeflare::controllers::endpoints {

namespace {

using runtime::Action;
using runtime::Plan;

const runtime::ResourceType kServices = model::resource_type<model::Service>();
const runtime::ResourceType kSlices = model::resource_type<model::EndpointSlice>();

constexpr int kWorkers = 8;

// The Services that select a pod.
runtime::MapFunction services_of(const runtime::Store& services) {
  return [&services](const kube::Object& pod, std::vector<model::ObjectKey>& keys) {
    const std::vector<runtime::ObjectRef> candidates = services.list(pod.ns());
    if (candidates.empty() || pod.labels_json().empty()) {
      return;
    }
    const model::StringMap labels = apps::labels_of(pod);
    for (const runtime::ObjectRef& candidate : candidates) {
      const Result<model::Service> service = candidate->as<model::Service>();
      if (service && !service->spec.selector.empty() &&
          model::Selector::of_labels(service->spec.selector).matches(labels)) {
        keys.push_back(candidate->key());
      }
    }
  };
}

}  // namespace

EndpointReconciler::EndpointReconciler(const runtime::ControllerContext& context)
    : StoryReconciler(context.env, context.actor),
      services_(context.subject.store()),
      slices_(context.cache.informer(kSlices).store()),
      pods_(context.cache.informer(kPods)) {}

std::optional<ObservedService> EndpointReconciler::observe(const runtime::ObjectKey& key) const {
  const runtime::ObjectRef object = services_.get(key);
  if (object == nullptr || object->deleting()) {
    return std::nullopt;  // what it owns goes with it
  }
  Result<model::Service> service = object->as<model::Service>();
  if (!service || service->spec.selector.empty() || service->spec.type == "ExternalName") {
    return std::nullopt;  // somebody else knows its endpoints, or nobody
  }
  ObservedService observed{.service = *std::move(service), .pods = {}, .slices = {}};
  observed.pods =
      pods_.selected(key.ns, model::Selector::of_labels(observed.service.spec.selector));
  for (const runtime::ObjectRef& slice : apps::controlled(slices_, key.ns, object->uid())) {
    if (Result<model::EndpointSlice> read = slice->as<model::EndpointSlice>()) {
      observed.slices.push_back(*std::move(read));
    }
  }
  return observed;
}

DesiredSlices EndpointReconciler::desired(const ObservedService& observed, WallTime /*now*/) const {
  return endpoints::decide(observed);
}

Plan EndpointReconciler::diff(const ObservedService& observed, const DesiredSlices& desired) const {
  const model::ObjectMeta& service = observed.service.metadata;
  Plan plan;
  for (model::EndpointSlice slice : desired.create) {
    slice.metadata.owner_references.push_back(apps::controller_reference(kServices, service));
    plan.actions.push_back({.verb = Action::Verb::create,
                            .type = kSlices,
                            .key = {service.ns, ""},
                            .body = model::to_json_text(slice),
                            .why = "endpoints are in no slice"});
  }
  for (const model::EndpointSlice& slice : desired.update) {
    plan.actions.push_back({.verb = Action::Verb::update,
                            .type = kSlices,
                            .key = slice.metadata.key(),
                            .body = model::to_json_text(slice),
                            .why = "endpoints changed"});
  }
  for (const model::EndpointSlice& slice : desired.remove) {
    plan.actions.push_back({.verb = Action::Verb::remove,
                            .type = kSlices,
                            .key = slice.metadata.key(),
                            .why = "no endpoints left",
                            .removal = {.uid = slice.metadata.uid}});
  }
  return plan;
}

EndpointReconciler& add_endpoint_controller(runtime::Manager& manager) {
  return manager.controller("endpointslices")
      .reconciles(kServices)
      .owns(kSlices)
      .watches(kPods, services_of(manager.cache().informer(kServices).store()))
      .workers(kWorkers)
      .with<EndpointReconciler>();
}

}  // namespace codeflare::controllers::endpoints
