#include "cli/gather/top_state.h"

#include "cli/gather/namespace_hint.h"
#include "controllers/fakenode/node_table.h"
#include "json/parse.h"
#include "model/codec/node.h"
#include "model/codec/pod.h"
#include "model/node.h"
#include "model/pod.h"
#include "model/pod_requests.h"
#include "model/resources.h"
#include "queue/marks.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

namespace codeflare::cli {

namespace {

using Uses = std::map<model::ObjectKey, model::ResourceList>;

model::ResourceList usage_of(const json::Value& entry) {
  model::ResourceList list;
  const json::Value* usage = entry.find("usage");
  for (const char* resource : {"cpu", "memory"}) {
    const std::string_view text =
        usage == nullptr ? std::string_view() : usage->string_or_empty(resource);
    if (const Result<model::Quantity> amount = model::Quantity::parse(text)) {
      list.set(resource, *amount);
    }
  }
  return list;
}

// Of nodes their own use, of pods the sum of their containers. Nothing without a metrics API.
Task<Result<std::optional<Uses>>> read_metrics(Session& session, std::string path) {
  Result<kube::Client::RawResponse> answer =
      co_await session.client().raw({.target = "/apis/metrics.k8s.io/v1beta1/" + path});
  if (!answer) {
    if (answer.error().code == ErrorCode::not_found) {
      co_return std::optional<Uses>();
    }
    co_return fail(std::move(answer).error());
  }
  CO_TRY_ASSIGN(const json::Document document, json::parse(answer->body));
  Uses uses;
  const json::Value* items = document.root.find("items");
  for (const json::Value& item :
       items == nullptr ? std::span<const json::Value>() : items->items()) {
    const json::Value* meta = item.find("metadata");
    if (meta == nullptr) {
      continue;
    }
    model::ResourceList& use = uses[{std::string(meta->string_or_empty("namespace")),
                                     std::string(meta->string_or_empty("name"))}];
    use += usage_of(item);
    if (const json::Value* containers = item.find("containers")) {
      for (const json::Value& container : containers->items()) {
        use += usage_of(container);
      }
    }
  }
  co_return std::optional(std::move(uses));
}

Task<Result<void>> add_nodes(Session& session, TopView& view) {
  Result<kube::ObjectList> nodes =
      co_await session.client().list_all(model::resource_type<model::Node>(), {});
  if (!nodes && nodes.error().code == ErrorCode::permission_denied) {
    view.with_nodes = false;
    co_return Result<void>();
  }
  CO_TRY_ASSIGN(const kube::ObjectList list, std::move(nodes));
  CO_TRY_ASSIGN(const std::optional<Uses> measured, co_await read_metrics(session, "nodes"));
  const Uses uses = measured.value_or(Uses());
  for (const kube::ObjectRef& object : list.items) {
    CO_TRY_ASSIGN(const model::Node node, object->as<model::Node>());
    TopNode top{.name = node.metadata.name, .allocatable = node.status.allocatable};
    top.fake = node.metadata.labels.contains(controllers::fakenode::kFakeLabel);
    if (const auto use = uses.find({"", node.metadata.name}); use != uses.end()) {
      top.measured = true;
      top.used = use->second;
    }
    view.nodes.push_back(std::move(top));
  }
  co_return Result<void>();
}

void add_pod(TopView& view, std::map<model::ObjectKey, TopWork>& work, const model::Pod& pod,
             const Uses& uses) {
  const model::ResourceList requested = model::pod_requests(pod.spec);
  const auto node = std::ranges::find(view.nodes, pod.spec.node_name, &TopNode::name);
  if (node != view.nodes.end()) {
    node->requested += requested;
  }
  const std::string_view wrapper =
      model::find_or_empty(pod.metadata.labels, queue::kAppWrapperLabel);
  const std::string name = wrapper.empty() ? pod.metadata.name : std::string(wrapper);
  TopWork& entry = work[{pod.metadata.ns, (wrapper.empty() ? "pod/" : "") + name}];
  entry.ns = pod.metadata.ns;
  entry.name = name;
  entry.kind = wrapper.empty() ? "pod" : "appwrapper";
  ++entry.pods;
  entry.requested += requested;
  if (const auto use = uses.find({pod.metadata.ns, pod.metadata.name}); use != uses.end()) {
    entry.measured = true;
    entry.used += use->second;
  }
}

}  // namespace

Task<Result<TopView>> look_at_use(Session& session) {
  TopView view;
  CO_TRY(co_await add_nodes(session, view));
  std::string ns = session.ns_given() ? session.ns() : "";
  const model::ResourceType pods = model::resource_type<model::Pod>();
  Result<kube::ObjectList> list = co_await session.client().list_all(pods, {.ns = ns});
  if (!list && list.error().code == ErrorCode::permission_denied && ns.empty()) {
    ns = session.ns();
    session.console().err("note: you can list pods of namespace " + ns + " only\n");
    list = co_await session.client().list_all(pods, {.ns = ns});
  }
  if (!list) {
    co_return fail(with_namespace_hint(session, std::move(list).error(), ns));
  }
  std::string path = ns.empty() ? "pods" : "namespaces/" + ns + "/pods";
  CO_TRY_ASSIGN(const std::optional<Uses> measured,
                co_await read_metrics(session, std::move(path)));
  view.with_use = measured.has_value();
  const Uses uses = measured.value_or(Uses());
  std::map<model::ObjectKey, TopWork> work;
  for (const kube::ObjectRef& object : list->items) {
    CO_TRY_ASSIGN(const model::Pod pod, object->as<model::Pod>());
    if (pod.status.phase != "Succeeded" && pod.status.phase != "Failed" &&
        !pod.spec.node_name.empty()) {
      add_pod(view, work, pod, uses);
    }
  }
  for (auto& [key, entry] : work) {
    view.work.push_back(std::move(entry));
  }
  std::ranges::sort(view.work, [](const TopWork& a, const TopWork& b) {
    const auto cpu = [](const TopWork& each) { return each.used.get("cpu").milli_value(); };
    return std::tuple(-cpu(a), a.ns, a.name) < std::tuple(-cpu(b), b.ns, b.name);
  });
  co_return view;
}

}  // namespace codeflare::cli
