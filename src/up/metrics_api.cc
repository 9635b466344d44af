#include "up/metrics_api.h"

#include "base/async/sleep.h"
#include "json/write.h"
#include "model/codec/pod.h"
#include "model/node.h"
#include "model/quantity.h"
#include "model/resources.h"

#include <algorithm>
#include <chrono>

namespace codeflare::up {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::string_view kGroup = "metrics.k8s.io";
constexpr std::string_view kApiVersion = "metrics.k8s.io/v1beta1";
// Processor time is counted over at least this long, and against no older sample than that.
constexpr Duration kWindowMin = milliseconds(500);
constexpr Duration kWindowMax = seconds(60);
// A sample is replaced when it is that old.
constexpr Duration kSampleAge = seconds(15);

void write_usage(json::Writer& w, std::int64_t cpu_nanos, std::int64_t memory_bytes) {
  w.key("usage").begin_object().member("cpu", std::to_string(cpu_nanos) + "n");
  w.member("memory", std::to_string(memory_bytes / 1024) + "Ki").end_object();
}

void write_meta(json::Writer& w, const model::ObjectMeta& meta, std::string_view ns, WallTime now,
                Duration window) {
  w.key("metadata").begin_object().member("name", meta.name).member_if_set("namespace", ns);
  w.member("creationTimestamp", to_rfc3339(now));
  if (!meta.labels.empty()) {
    w.key("labels").begin_object();
    for (const auto& [key, value] : meta.labels) {
      w.member(key, value);
    }
    w.end_object();
  }
  w.end_object().member("timestamp", to_rfc3339(now));
  w.member("window", std::to_string(window / milliseconds(1)) + "ms");
}

void write_pod(json::Writer& w, const PodRate& rate, WallTime now, bool typed) {
  w.begin_object();
  if (typed) {
    w.member("kind", "PodMetrics").member("apiVersion", kApiVersion);
  }
  write_meta(w, rate.pod.metadata, rate.pod.metadata.ns, now, rate.window);
  w.key("containers").begin_array();
  for (const PodRate::Container& container : rate.containers) {
    w.begin_object().member("name", container.name);
    write_usage(w, container.cpu_nanos, container.memory_bytes);
    w.end_object();
  }
  w.end_array().end_object();
}

void write_node(json::Writer& w, const model::ObjectMeta& node, const std::vector<PodRate>& pods,
                WallTime now, bool typed) {
  std::int64_t cpu = 0;
  std::int64_t memory = 0;
  Duration window = kWindowMin;
  for (const PodRate& rate : pods) {
    if (rate.pod.spec.node_name != node.name) {
      continue;
    }
    for (const PodRate::Container& container : rate.containers) {
      cpu += container.cpu_nanos;
      memory += container.memory_bytes;
    }
    window = std::max(window, rate.window);
  }
  w.begin_object();
  if (typed) {
    w.member("kind", "NodeMetrics").member("apiVersion", kApiVersion);
  }
  write_meta(w, node, "", now, window);
  write_usage(w, cpu, memory);
  w.end_object();
}

net::Response json_answer(std::string text) {
  return net::make_response(200, "application/json", Bytes::from(std::move(text)));
}

std::string list_head(std::string_view kind) {
  return R"({"kind":")" + std::string(kind) + R"(","apiVersion":")" + std::string(kApiVersion) +
         R"(","metadata":{},"items":[)";
}

Error missing(const apiserver::RequestInfo& info) {
  return not_found(info.resource + "." + std::string(kGroup) + " \"" + info.name + "\" not found");
}

}  // namespace

apiserver::ServedGroup MetricsApi::group() {
  return {.group = std::string(kGroup),
          .version = "v1beta1",
          .kinds = {{"nodes", "", "NodeMetrics", false}, {"pods", "", "PodMetrics", true}},
          .handler = [this](const apiserver::RequestInfo& info, const net::Request&) {
            return answer(info);
          }};
}

void MetricsApi::serve(node::PodRuntime& pods, std::set<std::string> nodes, kube::Client& client) {
  pods_ = &pods;
  nodes_ = std::move(nodes);
  client_ = &client;
}

bool MetricsApi::rate(std::vector<PodRate>& pods, const node::PodUses& uses) {
  const Instant now = env_.clock.now();
  bool complete = true;
  for (PodRate& pod : pods) {
    pod.containers.clear();
    const auto found = uses.find(pod.pod.metadata.uid);
    if (found == uses.end()) {
      continue;
    }
    for (const node::ContainerUse& use : found->second) {
      const auto key = std::pair(found->first, use.name);
      const auto base = samples_.find(key);
      const Duration age = base == samples_.end() ? Duration::max() : now - base->second.at;
      // A container that was started again counts from zero.
      if (age > kWindowMax || use.cpu_nanos < base->second.cpu_nanos) {
        samples_[key] = {now, use.cpu_nanos};
        complete = false;
        continue;
      }
      if (age < kWindowMin) {
        complete = false;
        continue;
      }
      const std::int64_t spent = use.cpu_nanos - base->second.cpu_nanos;
      pod.window = age;
      pod.containers.push_back(
          {use.name,
           static_cast<std::int64_t>(static_cast<double>(spent) /
                                     std::chrono::duration<double>(age).count()),
           use.memory_bytes});
      if (age > kSampleAge) {
        base->second = {now, use.cpu_nanos};
      }
    }
  }
  std::erase_if(samples_, [&](const auto& each) { return now - each.second.at > 2 * kWindowMax; });
  return complete;
}

Task<Result<std::vector<PodRate>>> MetricsApi::measure(std::string ns, std::string selector) {
  CO_TRY_ASSIGN(
      const kube::ObjectList list,
      co_await client_->list_all(model::resource_type<model::Pod>(),
                                 {.ns = std::move(ns), .label_selector = std::move(selector)}));
  std::vector<PodRate> pods;
  std::vector<std::string> uids;
  for (const kube::ObjectRef& object : list.items) {
    CO_TRY_ASSIGN(model::Pod pod, object->as<model::Pod>());
    if (pod.status.phase == "Running" && nodes_.contains(pod.spec.node_name)) {
      uids.push_back(pod.metadata.uid);
      pods.push_back({.pod = std::move(pod), .containers = {}});
    }
  }
  for (int turn = 0; pods_ != nullptr; ++turn) {
    CO_TRY_ASSIGN(const node::PodUses uses, co_await pods_->measure(uids));
    if (rate(pods, uses) || turn > 0) {
      break;
    }
    CO_TRY(co_await sleep_for(kWindowMin));
  }
  std::erase_if(pods, [](const PodRate& pod) { return pod.containers.empty(); });
  co_return pods;
}

Task<Result<net::Response>> MetricsApi::answer(apiserver::RequestInfo info) {
  if (pods_ == nullptr) {
    co_return fail(unavailable("metrics need a node of this process"));
  }
  if (!info.subresource.empty() || (info.resource != "nodes" && info.resource != "pods")) {
    co_return fail(not_found("the server could not find the requested resource"));
  }
  if (info.resource == "nodes") {
    co_return co_await answer_nodes(std::move(info));
  }
  std::string ns = info.ns;
  std::string selector(info.query.get("labelSelector").value_or(""));
  CO_TRY_ASSIGN(const std::vector<PodRate> pods,
                co_await measure(std::move(ns), std::move(selector)));
  const WallTime now = env_.clock.wall();
  std::string text = info.name.empty() ? list_head("PodMetricsList") : std::string();
  bool first = true;
  for (const PodRate& pod : pods) {
    if (!info.name.empty() && pod.pod.metadata.name != info.name) {
      continue;
    }
    text += first ? "" : ",";
    first = false;
    json::Writer w(text);
    write_pod(w, pod, now, !info.name.empty());
  }
  if (!info.name.empty() && first) {
    co_return fail(missing(info));
  }
  co_return json_answer(info.name.empty() ? text + "]}" : text);
}

Task<Result<net::Response>> MetricsApi::answer_nodes(apiserver::RequestInfo info) {
  std::string selector(info.query.get("labelSelector").value_or(""));
  CO_TRY_ASSIGN(const kube::ObjectList nodes,
                co_await client_->list_all(model::resource_type<model::Node>(),
                                           {.label_selector = std::move(selector)}));
  CO_TRY_ASSIGN(const std::vector<PodRate> pods, co_await measure("", ""));
  const WallTime now = env_.clock.wall();
  std::string text = info.name.empty() ? list_head("NodeMetricsList") : std::string();
  bool first = true;
  for (const kube::ObjectRef& object : nodes.items) {
    const bool asked = info.name.empty() || object->name() == info.name;
    if (!asked || !nodes_.contains(std::string(object->name()))) {
      continue;
    }
    model::ObjectMeta meta;
    meta.name = object->name();
    text += first ? "" : ",";
    first = false;
    json::Writer w(text);
    write_node(w, meta, pods, now, !info.name.empty());
  }
  if (!info.name.empty() && first) {
    co_return fail(missing(info));
  }
  co_return json_answer(info.name.empty() ? text + "]}" : text);
}

}  // namespace codeflare::up
