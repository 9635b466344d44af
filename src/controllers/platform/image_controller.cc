#include "controllers/platform/image_controller.h"

#include "controllers/pods_type.h"
#include "controllers/run/run_pods.h"
#include "controllers/status_patch.h"
#include "model/codec/node.h"
#include "model/codec/platform.h"
#include "model/codec/pod.h"
#include "model/condition.h"
#include "model/node.h"
#include "model/resources.h"
#include "runtime/map_function.h"
#include "sdk/program_image.h"

#include <algorithm>
#include <utility>

namespace codeflare::controllers::platform_kinds {

namespace {

using runtime::Action;
using runtime::Plan;

const runtime::ResourceType kImages = model::resource_type<model::Image>();
const runtime::ResourceType kNodes = model::resource_type<model::Node>();

bool has_all(const model::StringMap& labels, const model::StringMap& wanted) {
  return std::ranges::all_of(wanted, [&](const auto& each) {
    const auto found = labels.find(each.first);
    return found != labels.end() && found->second == each.second;
  });
}

FetchPod fetch_pod_of(const kube::Object& object) {
  const Result<model::Pod> whole = object.as<model::Pod>();
  const runs::RunPod digest = whole ? runs::run_pod_of(*whole) : runs::RunPod{};
  FetchPod pod{.name = std::string(object.name()),
               .uid = std::string(object.uid()),
               .phase = digest.phase,
               .deleting = object.deleting(),
               .trouble = digest.trouble,
               .message = digest.message};
  if (whole) {
    pod.node = whole->spec.node_name;
    pod.image = model::find_or_empty(whole->metadata.annotations, kFetchesAnnotation);
    pod.created = whole->metadata.creation_timestamp.value_or(model::Time{});
  }
  return pod;
}

}  // namespace

ImageReconciler::ImageReconciler(const runtime::ControllerContext& context,
                                 std::string program_image)
    : StoryReconciler(context.env, context.actor),
      images_(context.subject.store()),
      nodes_(context.cache.informer(kNodes).store()),
      pods_(context.cache.informer(kPods).store()),
      program_image_(std::move(program_image)) {}

std::optional<ImageObserved> ImageReconciler::observe(const runtime::ObjectKey& key) const {
  const runtime::ObjectRef object = images_.get(key);
  if (object == nullptr || object->deleting()) {
    return std::nullopt;  // its pods go with it
  }
  Result<model::Image> image = object->as<model::Image>();
  if (!image) {
    return std::nullopt;
  }
  ImageObserved observed{.image = *std::move(image), .nodes = {}, .pods = {}};
  for (const runtime::ObjectRef& each : nodes_.list()) {
    const Result<model::Node> node = each->as<model::Node>();
    if (!node || node->metadata.deleting() ||
        !has_all(node->metadata.labels, observed.image.spec.node_selector)) {
      continue;
    }
    observed.nodes.push_back({.name = node->metadata.name,
                              .ready = model::is_condition_true(node->status.conditions, "Ready")});
    const runtime::ObjectRef pod =
        pods_.get(key.ns, fetch_pod_name(observed.image, node->metadata.name));
    if (pod != nullptr) {
      observed.pods.push_back(fetch_pod_of(*pod));
    }
  }
  std::ranges::sort(observed.nodes, {}, &FetchNode::name);
  return observed;
}

ImageDesired ImageReconciler::desired(const ImageObserved& observed, WallTime now) const {
  return decide_image(observed, now);
}

Plan ImageReconciler::diff(const ImageObserved& observed, const ImageDesired& desired) const {
  Plan plan;
  const model::Image& image = observed.image;
  // First, because a pod that goes takes its result with it.
  if (!(desired.status == image.status)) {
    plan.actions.push_back({.verb = Action::Verb::patch,
                            .type = kImages,
                            .key = image.metadata.key(),
                            .body = status_patch(image, desired.status),
                            .why = "the status is behind",
                            .write = {.subresource = "status"}});
  }
  for (const FetchPod& pod : desired.remove) {
    plan.actions.push_back({.verb = Action::Verb::remove,
                            .type = kPods,
                            .key = {image.metadata.ns, pod.name},
                            .why = "the fetch is over",
                            .removal = {.uid = pod.uid}});
  }
  for (const std::string& node : desired.create) {
    plan.actions.push_back({.verb = Action::Verb::create,
                            .type = kPods,
                            .key = {image.metadata.ns, ""},
                            .body = fetch_pod(image, node, program_image_),
                            .why = "the node lacks the image",
                            .together = true});
  }
  if (desired.again) {
    plan.next = runtime::Next::after(*desired.again);
  }
  return plan;
}

ImageReconciler& add_image_controller(runtime::Manager& manager) {
  const runtime::Store& images = manager.cache().informer(kImages).store();
  const runtime::MapFunction to_all = [&images](const kube::Object&,
                                                std::vector<model::ObjectKey>& keys) {
    for (const runtime::ObjectRef& image : images.list()) {
      keys.push_back(image->key());
    }
  };
  return manager.controller("images")
      .reconciles(kImages)
      .owns(kPods)
      .watches(kNodes, to_all)
      .with<ImageReconciler>(sdk::program_image(manager.env().variables));
}

}  // namespace codeflare::controllers::platform_kinds
