#include "controllers/fakenode/fake_kubelet.h"

#include "controllers/fakenode/pod_status.h"
#include "controllers/pods_type.h"
#include "json/scan.h"
#include "model/codec/pod.h"
#include "model/resources.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace codeflare::controllers::fakenode {

namespace {

using runtime::Action;
using runtime::Plan;
using Kind = DesiredPod::Kind;

const runtime::ResourceType kNodes = model::resource_type<model::Node>();

// Our view of nodes may lag behind a binding by a moment.
constexpr Duration kNodeMissing = std::chrono::seconds(5);

bool is_over(const model::PodStatus& status) {
  return status.phase == "Succeeded" || status.phase == "Failed";
}

// Others wait for the end of a pod before they let its object go.
DesiredPod drop(const ObservedPod& observed, WallTime now, std::string why) {
  const model::Pod& pod = observed.pod;
  DesiredPod desired{.kind = Kind::drop, .why = std::move(why)};
  if (!pod.metadata.finalizers.empty() && !is_over(pod.status)) {
    desired.status = failed_status(pod, now, "", "");
  } else if (pod.metadata.deleting() &&
             pod.metadata.deletion_grace_period_seconds.value_or(0) == 0) {
    desired.kind = Kind::nothing;  // its finalizers hold it
  }
  return desired;
}

DesiredPod on_missing_node(const ObservedPod& observed, WallTime now) {
  const Duration left = observed.entry.bound + kNodeMissing - now;
  if (left > Duration::zero()) {
    return {.look_again = left};
  }
  return drop(observed, now, "node is gone");
}

DesiredPod evict_in_time(const ObservedPod& observed, WallTime now, DesiredPod otherwise) {
  const auto when = eviction_time(*observed.node, observed.pod.spec);
  if (!when || observed.pod.metadata.deleting() || is_over(observed.pod.status)) {
    return otherwise;
  }
  if (*when <= now) {
    return {.kind = Kind::evict, .why = "node has a taint that the pod does not tolerate"};
  }
  const Duration left = *when - now;
  otherwise.look_again = otherwise.look_again ? std::min(*otherwise.look_again, left) : left;
  return otherwise;
}

DesiredPod live(const ObservedPod& observed, WallTime now) {
  const model::Pod& pod = observed.pod;
  if (pod.metadata.deleting()) {
    return drop(observed, now, "deletion was requested");
  }
  if (is_over(pod.status)) {
    return {};
  }
  const Result<Script> script = script_of(pod);
  if (!script) {
    return {.kind = Kind::status,
            .status = failed_status(pod, now, "BadAnnotation", script.error().message),
            .why = "annotations cannot be read"};
  }
  const Moment moment = moment_of(*script, observed.entry.bound, now);
  DesiredPod desired;
  if (moment.change) {
    desired.look_again = *moment.change - now;
  }
  if (!shows(pod, *script, moment)) {
    desired.kind = Kind::status;
    desired.status = status_at(pod, *script, moment, observed.entry.bound,
                               {observed.entry.address, observed.node->address});
    desired.why = "next phase is due";
  }
  return desired;
}

Action write_status(const model::Pod& pod, const model::PodStatus& status, std::string why) {
  return {.verb = Action::Verb::patch,
          .type = kPods,
          .key = pod.metadata.key(),
          .body = R"({"metadata":{"uid":")" + pod.metadata.uid + R"("},"status":)" +
                  model::to_json_text(status) + "}",
          .why = std::move(why),
          .write = {.subresource = "status"}};
}

}  // namespace

DesiredPod decide(const ObservedPod& observed, WallTime now) {
  if (!observed.node) {
    return on_missing_node(observed, now);
  }
  // A kubelet that is not ready does nothing at all, not even for pods that are to go.
  return evict_in_time(observed, now, observed.node->ready ? live(observed, now) : DesiredPod());
}

FakeKubelet::FakeKubelet(const runtime::ControllerContext& context,
                         std::shared_ptr<FakeNodePods> ledger)
    : StoryReconciler(context.env, context.actor),
      clock_(context.env.clock),
      pods_(context.subject.store()),
      nodes_(context.cache.informer(kNodes)),
      ledger_(std::move(ledger)) {
  ledger_->follow(context.subject);
}

// Told without reading the whole pod: all pods of the cluster pass here at each of their changes,
// most of them before they have a node or after their end.
bool FakeKubelet::is_of_interest(const kube::Object& pod) const {
  constexpr std::array<std::string_view, 2> kPaths = {"spec.nodeName", "status.phase"};
  std::array<std::string_view, 2> slices;
  const std::string text = pod.text();
  if (!json::scan(text, kPaths, slices)) {
    return false;
  }
  json::Arena arena;
  const Result<std::string_view> name = json::unquote(slices[0], arena);
  if (!name || name->empty()) {
    return false;
  }
  const NodeFacts* node = nodes_.find(*name);
  if (node == nullptr) {
    return true;
  }
  if (!node->fake) {
    return false;
  }
  const bool over = slices[1] == "\"Succeeded\"" || slices[1] == "\"Failed\"";
  return !over || pod.deleting() || !ledger_->ended(pod.uid());
}

std::optional<ObservedPod> FakeKubelet::observe(const runtime::ObjectKey& key) const {
  const runtime::ObjectRef object = pods_.get(key);
  if (object == nullptr || !is_of_interest(*object)) {
    return std::nullopt;
  }
  Result<model::Pod> pod = object->as<model::Pod>();
  if (!pod) {
    return std::nullopt;
  }
  const NodeFacts* node = nodes_.find(pod->spec.node_name);
  const FakeNodePods::Entry& entry = ledger_->enter(*pod, clock_.wall());
  return ObservedPod{.pod = *std::move(pod),
                     .node = node == nullptr ? std::nullopt : std::optional(*node),
                     .entry = entry};
}

DesiredPod FakeKubelet::desired(const ObservedPod& observed, WallTime now) const {
  return fakenode::decide(observed, now);
}

Plan FakeKubelet::diff(const ObservedPod& observed, const DesiredPod& desired) const {
  Plan plan;
  const model::Pod& pod = observed.pod;
  if (desired.status) {
    plan.actions.push_back(write_status(pod, *desired.status, desired.why));
  }
  if (desired.kind == Kind::evict || desired.kind == Kind::drop) {
    Action removal{.verb = Action::Verb::remove,
                   .type = kPods,
                   .key = pod.metadata.key(),
                   .why = desired.why,
                   .removal = {.uid = pod.metadata.uid}};
    if (desired.kind == Kind::drop) {
      removal.removal.grace_period_seconds = 0;
    }
    plan.actions.push_back(std::move(removal));
  }
  if (desired.look_again) {
    plan.next = runtime::Next::after(*desired.look_again);
  }
  return plan;
}

}  // namespace codeflare::controllers::fakenode
