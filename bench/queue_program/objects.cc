#include "bench/queue_program/objects.h"

#include "json/write.h"
#include "model/app_wrapper.h"
#include "model/quota_subtree.h"
#include "model/resources.h"
#include "queue/marks.h"

#include <chrono>
#include <cstddef>
#include <iterator>
#include <map>

namespace codeflare::bench {

const model::ResourceType kAppWrappers = model::resource_type<model::AppWrapper>();
const model::ResourceType kRuns{"bench.codeflare.dev", "v1", "Run", "runs", true};
const model::ResourceType kWorkloads{"kueue.x-k8s.io", "v1beta2", "Workload", "workloads", true};
const model::ResourceType kQuotaSubtrees = model::resource_type<model::QuotaSubtree>();
const model::ResourceType kNamespaces{"", "v1", "Namespace", "namespaces", false};
const model::ResourceType kNodes{"", "v1", "Node", "nodes", false};

namespace {

constexpr std::string_view kTree = "cohorts";
constexpr std::int64_t kNodeCpus = 64;

void begin_object(json::Writer& w, std::string_view api_version, std::string_view kind) {
  w.begin_object().member("apiVersion", api_version).member("kind", kind);
}

void write_run(json::Writer& w, std::string_view name, const WorkClass& work_class) {
  begin_object(w, "bench.codeflare.dev/v1", "Run");
  w.key("metadata").begin_object().member("name", name).end_object();
  w.key("spec").begin_object().key("runtimeMs");
  w.integer(std::chrono::floor<std::chrono::milliseconds>(work_class.runtime).count());
  w.end_object().end_object();
}

struct QuotaChild {
  std::string name;
  std::string ns{};
  std::int64_t cpus = 0;
};

std::string quota_subtree(std::string_view name, std::string_view parent,
                          const std::vector<QuotaChild>& children) {
  std::string text;
  json::Writer w(text);
  begin_object(w, "quota.codeflare.dev/v1alpha1", "QuotaSubtree");
  w.key("metadata").begin_object().member("name", name);
  w.key("labels").begin_object().member(model::kQuotaTreeLabel, kTree).end_object().end_object();
  w.key("spec").begin_object().member_if_set("parent", parent).key("children").begin_array();
  for (const QuotaChild& child : children) {
    w.begin_object().member("name", child.name).member_if_set("namespace", child.ns);
    w.key("quotas").begin_object().key("requests").begin_object();
    w.member("cpu", std::to_string(child.cpus)).end_object().end_object().end_object();
  }
  w.end_array().end_object().end_object();
  return text;
}

std::string node(std::int64_t number) {
  std::string text;
  json::Writer w(text);
  begin_object(w, "v1", "Node");
  w.key("metadata").begin_object().member("name", "bench-" + std::to_string(number)).end_object();
  w.key("status").begin_object();
  for (const std::string_view amounts : {"capacity", "allocatable"}) {
    w.key(amounts).begin_object().member("cpu", std::to_string(kNodeCpus));
    w.member("memory", "256Gi").member("pods", "110").end_object();
  }
  w.key("conditions").begin_array().begin_object();
  w.member("type", "Ready").member("status", "True").member("reason", "KubeletReady");
  w.end_object().end_array().end_object().end_object();
  return text;
}

}  // namespace

std::string named_object(std::string_view api_version, std::string_view kind,
                         std::string_view name) {
  std::string text;
  json::Writer w(text);
  begin_object(w, api_version, kind);
  w.key("metadata").begin_object().member("name", name).end_object().end_object();
  return text;
}

std::string app_wrapper(const model::ObjectKey& key, const WorkClass& work_class) {
  std::string text;
  json::Writer w(text);
  begin_object(w, "workload.codeflare.dev/v1beta1", "AppWrapper");
  w.key("metadata").begin_object().member("name", key.name).member("namespace", key.ns);
  w.key("labels").begin_object().member(kTree, key.ns).end_object();
  w.key("finalizers").begin_array().string(queue::kFinalizer).end_array().end_object();
  w.key("spec").begin_object().key("priority").integer(work_class.priority);
  w.key("resources").begin_object().key("GenericItems").begin_array().begin_object();
  w.key("generictemplate");
  write_run(w, key.name, work_class);
  w.key("custompodresources").begin_array().begin_object().key("replicas").integer(1);
  w.key("requests").begin_object().member("cpu", std::to_string(work_class.cpu));
  w.end_object().end_object().end_array();
  w.member("completionstatus", "Complete");
  w.end_object().end_array().end_object().end_object().end_object();
  return text;
}

std::vector<std::string> quota_subtrees(const Scenario& scenario) {
  std::map<std::string, std::vector<QuotaChild>> cohorts;
  for (const QueueRef& queue : scenario.queues()) {
    cohorts[queue.cohort].push_back(
        {.name = queue.name, .ns = queue.name, .cpus = queue.set->nominal});
  }
  std::vector<QuotaChild> roots;
  std::vector<std::string> result;
  for (const auto& [cohort, queues] : cohorts) {
    std::int64_t cpus = 0;
    for (const QuotaChild& queue : queues) {
      cpus += queue.cpus;
    }
    roots.push_back({.name = cohort, .cpus = cpus});
    result.push_back(quota_subtree(cohort, cohort, queues));
  }
  result.insert(result.begin(), quota_subtree("all", "", roots));
  return result;
}

std::vector<std::string> nodes(const Scenario& scenario) {
  // At most the nominal CPUs are used, so with four times as many, on average a quarter of a node
  // is; a pod of less than three quarters of a node always finds one.
  const std::int64_t count = (4 * scenario.nominal() + kNodeCpus - 1) / kNodeCpus;
  std::vector<std::string> result;
  for (std::int64_t i = 0; i < count; ++i) {
    result.push_back(node(i));
  }
  return result;
}

std::string run_object(const model::ObjectKey& key, const WorkClass& work_class) {
  std::string text;
  json::Writer w(text);
  write_run(w, key.name, work_class);
  return text;
}

std::string run_complete() {
  return R"({"status":{"phase":"Complete"}})";
}

std::string status_write(int number, const kube::Object& before) {
  struct Condition {
    std::string_view type;
    std::string_view reason;
    std::string_view message;
  };
  static constexpr Condition kConditions[] = {
      {"Init", "", ""},
      {"Queueing", "AwaitingHeadOfLine", ""},
      {"HeadOfLine", "FrontOfQueue.", ""},
      {"Backoff", "quota limit exceeded",
       "Insufficient quota and/or resources to dispatch AppWrapper."},
      {"Dispatched", "AppWrapperRunnable", ""},
      {"Completed", "PodsCompleted", ""},
      {"Queued", "Quota", "waits for 1 cpu of cohort-0 in tree cohorts: 120 of 120 are in use"},
  };
  // Of the conditions but the last, so many are there at each write.
  static constexpr std::size_t kShown[kStatusWrites] = {4, 4, 5, 6};
  static constexpr std::string_view kStates[kStatusWrites] = {"Pending", "Pending", "Running",
                                                              "Completed"};
  const auto step = static_cast<std::size_t>(number);
  constexpr std::string_view kTime = "2026-01-01T00:00:00.000000Z";
  std::string text;
  json::Writer w(text);
  begin_object(w, "workload.codeflare.dev/v1beta1", "AppWrapper");
  w.key("metadata").begin_object().member("name", before.name()).member("namespace", before.ns());
  w.member("resourceVersion", before.resource_version()).end_object();
  w.key("status").begin_object().member("state", kStates[step]);
  w.key("canrun").boolean(step > 0).key("systempriority").number(50.0);
  w.member("queuejobstate", kConditions[kShown[step] - 1].type);
  w.key("conditions").begin_array();
  for (std::size_t i = 0; i < std::size(kConditions); ++i) {
    if (i >= kShown[step] && i + 1 < std::size(kConditions)) {
      continue;
    }
    w.begin_object().member("type", kConditions[i].type).member("status", "True");
    w.member("lastUpdateMicroTime", kTime).member("lastTransitionMicroTime", kTime);
    w.member_if_set("reason", kConditions[i].reason);
    w.member_if_set("message", kConditions[i].message).end_object();
  }
  w.end_array();
  if (step == 1 || step == 2) {
    w.key("plan").begin_object().key("places").begin_array().begin_object();
    w.key("podSet").integer(0).member("node", "bench-0").key("count").integer(1);
    w.end_object().end_array().member("started", kTime).end_object();
  }
  w.end_object().end_object();
  return text;
}

}  // namespace codeflare::bench
