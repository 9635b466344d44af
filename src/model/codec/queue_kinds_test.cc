#include "json/parse.h"
#include "json/write.h"
#include "model/codec/app_wrapper.h"
#include "model/codec/quota_subtree.h"
#include "model/codec/ray_cluster.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

// The kinds of the queue. Statuses are those that MCAD v1.40.0 wrote on a real cluster.
namespace codeflare::model {
namespace {

template <typename T>
Result<T> read(std::string_view text) {
  TRY_ASSIGN(const json::Document document, json::parse(text));
  return from_json<T>(document.root);
}

// The object, after checking that what is written again is the same JSON.
template <typename T>
T round_trip(std::string_view text) {
  Result<json::Document> document = json::parse(text);
  Result<T> object = read<T>(text);
  EXPECT_TRUE(document.has_value() && object.has_value())
      << (object ? "not JSON" : object.error().message);
  if (!document || !object) {
    return {};
  }
  json::Arena arena;
  EXPECT_TRUE(json::equal(to_json(arena, *object), document->root)) << to_json_text(*object);
  return *object;
}

AppWrapper with_status(std::string_view status) {
  return round_trip<AppWrapper>(R"({"apiVersion":"workload.codeflare.dev/v1beta1",
    "kind":"AppWrapper","metadata":{"name":"a","namespace":"default"},
    "spec":{"resources":{}},"status":)" +
                                std::string(status) + "}");
}

std::string types(const AppWrapperStatus& status) {
  std::string out;
  for (const AppWrapperCondition& condition : status.conditions) {
    out += (out.empty() ? "" : " ") + condition.type + "/" + condition.reason;
  }
  return out;
}

TEST(AppWrapperCodec, every_field_of_the_spec_keeps_its_name_and_unknown_ones_survive) {
  const AppWrapper wrapper = round_trip<AppWrapper>(R"({
    "apiVersion":"workload.codeflare.dev/v1beta1","kind":"AppWrapper",
    "metadata":{"name":"a","namespace":"ml","labels":{"quota_context":"gold"}},
    "spec":{"priority":7,"priorityslope":0.25,"suspend":false,"service":{"spec":{}},
      "selector":{"matchLabels":{"app":"x"}},"ttlSecondsAfterFinished":60,
      "resources":{"GenericItems":[{"replicas":1,"minavailable":1,"allocated":0,"priority":3,
        "completionstatus":"Complete,Failed",
        "custompodresources":[{"replicas":2,"requests":{"cpu":"1500m","nvidia.com/gpu":"1"},
                               "limits":{"memory":"2G"}}],
        "generictemplate":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},
                           "spec":{"containers":[{"name":"c","x":1.50}]}}}]},
      "schedulingSpec":{"nodeSelector":{"zone":"a"},"minAvailable":2,
        "clusterScheduling":{"clusters":[{"name":"c1"}]},
        "requeuing":{"timeInSeconds":120,"initialTimeInSeconds":120,"maxTimeInSeconds":600,
          "growthType":"linear","numRequeuings":1,"maxNumRequeuings":3,
          "forceDeletionTimeInSeconds":30},
        "dispatchDuration":{"limit":3600,"expected":600,"overrun":true}}}})");
  EXPECT_EQ(wrapper.spec.priority, 7);
  EXPECT_EQ(wrapper.spec.priority_slope, 0.25);
  EXPECT_EQ(wrapper.spec.suspend, false);
  EXPECT_EQ(wrapper.spec.ttl_seconds_after_finished, 60);
  ASSERT_EQ(wrapper.spec.resources.generic_items.size(), 1u);
  const GenericItem& item = wrapper.spec.resources.generic_items[0];
  EXPECT_EQ(item.completion_status, "Complete,Failed");
  EXPECT_TRUE(item.generic_template.text.contains("1.50")) << item.generic_template.text;
  EXPECT_EQ(item.extra.find("minavailable"), "1");
  ASSERT_EQ(item.custom_pod_resources.size(), 1u);
  EXPECT_EQ(item.custom_pod_resources[0].replicas, 2);
  EXPECT_EQ(item.custom_pod_resources[0].requests.get("cpu"), Quantity::milli(1500));
  EXPECT_EQ(item.custom_pod_resources[0].limits.get("memory"), Quantity(2'000'000'000));
  ASSERT_TRUE(wrapper.spec.scheduling_spec && wrapper.spec.scheduling_spec->requeuing);
  EXPECT_EQ(wrapper.spec.scheduling_spec->min_available, 2);
  EXPECT_EQ(wrapper.spec.scheduling_spec->requeuing->time_in_seconds, 120);
  EXPECT_EQ(wrapper.spec.scheduling_spec->requeuing->force_deletion_time_in_seconds, 30);
  EXPECT_EQ(wrapper.spec.scheduling_spec->dispatch_duration->limit, 3600);
  EXPECT_TRUE(wrapper.spec.scheduling_spec->dispatch_duration->overrun);
}

TEST(AppWrapperCodec, amounts_may_be_numbers_as_people_write_them) {
  const Result<AppWrapper> wrapper = read<AppWrapper>(R"({"spec":{"resources":{"GenericItems":[
    {"custompodresources":[{"replicas":1,"requests":{"cpu":1,"nvidia.com/gpu":0}}]}]}}})");
  ASSERT_TRUE(wrapper.has_value()) << wrapper.error().message;
  EXPECT_EQ(wrapper->spec.resources.generic_items[0].custom_pod_resources[0].requests.get("cpu"),
            Quantity(1));
}

TEST(AppWrapperCodec, a_job_that_completed_after_backoff) {
  const AppWrapper wrapper = with_status(R"({"Succeeded":1,"canrun":true,"conditions":[
    {"lastTransitionMicroTime":"2026-11-15T23:10:18.757696Z",
     "lastUpdateMicroTime":"2026-11-15T23:10:18.757696Z","status":"True","type":"Init"},
    {"lastTransitionMicroTime":"2026-11-15T23:10:18.757748Z",
     "lastUpdateMicroTime":"2026-11-15T23:10:18.757748Z","reason":"AwaitingHeadOfLine",
     "status":"True","type":"Queueing"},
    {"lastTransitionMicroTime":"2026-11-15T23:10:18.765039Z",
     "lastUpdateMicroTime":"2026-11-15T23:10:18.765039Z","reason":"FrontOfQueue.",
     "status":"True","type":"HeadOfLine"},
    {"lastTransitionMicroTime":"2026-11-15T23:10:18.877126Z",
     "lastUpdateMicroTime":"2026-11-15T23:10:18.877126Z",
     "message":"Insufficient resources to dispatch AppWrapper.",
     "reason":"AppWrapperNotRunnable.","status":"True","type":"Backoff"},
    {"lastTransitionMicroTime":"2026-11-15T23:12:19.202571Z",
     "lastUpdateMicroTime":"2026-11-15T23:12:19.202571Z","reason":"AppWrapperRunnable",
     "status":"True","type":"Dispatched"},
    {"lastTransitionMicroTime":"2026-11-15T23:12:23.823120Z",
     "lastUpdateMicroTime":"2026-11-15T23:12:23.823120Z","reason":"PodsCompleted",
     "status":"True","type":"Completed"}],
    "controllerfirsttimestamp":"2026-11-15T23:10:18.757696Z","filterignore":true,
    "queuejobstate":"HeadOfLine","sender":"before ScheduleNext - setCanRun",
    "state":"Completed","totalcpu":100,"totalmemory":67108864})");
  EXPECT_EQ(types(wrapper.status),
            "Init/ Queueing/AwaitingHeadOfLine HeadOfLine/FrontOfQueue. "
            "Backoff/AppWrapperNotRunnable. Dispatched/AppWrapperRunnable Completed/PodsCompleted");
  EXPECT_EQ(wrapper.status.succeeded, 1);
  EXPECT_EQ(wrapper.status.total_memory, 67108864);
  EXPECT_TRUE(wrapper.status.can_run);
  EXPECT_TRUE(is_terminal(wrapper.status));
}

TEST(AppWrapperCodec, one_that_was_requeued_and_runs_again) {
  const AppWrapper wrapper = with_status(R"({"canrun":true,"conditions":[
    {"lastTransitionMicroTime":"2026-11-15T23:10:38.887321Z",
     "lastUpdateMicroTime":"2026-11-15T23:10:38.887321Z","status":"True","type":"Init"},
    {"lastTransitionMicroTime":"2026-11-15T23:13:38.900308Z",
     "lastUpdateMicroTime":"2026-11-15T23:13:38.900308Z",
     "message":"Insufficient number of Running and Completed pods, minimum=2, running=1, completed=0.",
     "reason":"MinPodsNotRunning","status":"True","type":"PreemptCandidate"},
    {"lastTransitionMicroTime":"2026-11-15T23:13:38.920953Z",
     "lastUpdateMicroTime":"2026-11-15T23:13:38.920953Z",
     "message":"Insufficient number of Running and Completed pods, minimum=2, running=1, completed=0.",
     "reason":"PreemptionTriggered","status":"True","type":"Backoff"},
    {"lastTransitionMicroTime":"2026-11-15T23:14:39.002525Z",
     "lastUpdateMicroTime":"2026-11-15T23:14:39.002524Z","reason":"PodsRunning",
     "status":"True","type":"Running"}],
    "controllerfirsttimestamp":"2026-11-15T23:10:38.887321Z","filterignore":true,
    "numberOfRequeueings":1,"queuejobstate":"Running","running":1,
    "sender":"before [syncQueueJob] Update pod counts","state":"Running",
    "totalcpu":100,"totalmemory":67108864})");
  EXPECT_EQ(wrapper.status.number_of_requeueings, 1);
  EXPECT_EQ(wrapper.status.queue_job_state, "Running");
  EXPECT_LT(wrapper.status.conditions[3].last_update, wrapper.status.conditions[3].last_transition);
  EXPECT_FALSE(is_terminal(wrapper.status));
}

TEST(AppWrapperCodec, one_that_waits_has_no_canrun) {
  const AppWrapper wrapper = with_status(R"({"conditions":[
    {"lastTransitionMicroTime":"2026-11-15T23:09:17.493138Z",
     "lastUpdateMicroTime":"2026-11-15T23:09:17.493138Z",
     "message":"Insufficient resources to dispatch AppWrapper.",
     "reason":"AppWrapperNotRunnable.","status":"True","type":"Backoff"}],
    "controllerfirsttimestamp":"2026-11-15T23:09:17.472968Z","filterignore":true,
    "queuejobstate":"Backoff","sender":"before [backoff] - Rejoining","state":"Pending"})");
  EXPECT_FALSE(wrapper.status.can_run);
  EXPECT_EQ(wrapper.status.state, app_wrapper_state::kPending);
}

TEST(AppWrapperCodec, our_own_part_of_the_status) {
  const AppWrapper wrapper = with_status(R"({"pending":1,"failed":2,"message":"m",
    "systempriority":5,"controllerfirstdispatchtimestamp":"2026-11-15T23:09:17.000001Z",
    "pendingpodconditions":[{"podname":"p","conditions":[{"type":"PodScheduled"}]}],
    "totalgpu":4,"requeueingTimeInSeconds":60,"isdispatched":true,
    "plan":{"places":[{"podSet":0,"node":"n1","count":1},{"podSet":1,"node":"n2","count":3}],
            "started":"2026-11-15T23:09:17.000000Z"},
    "consumedSeconds":30,"finished":"2026-11-15T23:10:17.000000Z","observedGeneration":2})");
  ASSERT_TRUE(wrapper.status.plan.has_value());
  ASSERT_EQ(wrapper.status.plan->places.size(), 2u);
  EXPECT_EQ(wrapper.status.plan->places[1].node, "n2");
  EXPECT_EQ(wrapper.status.plan->places[1].count, 3);
  EXPECT_EQ(wrapper.status.system_priority, 5.0);
  EXPECT_EQ(wrapper.status.extra.find("isdispatched"), "true");
}

TEST(AppWrapperCodec, a_whole_double_is_written_as_an_integer) {
  AppWrapper wrapper;
  wrapper.status.system_priority = 10;
  wrapper.spec.priority_slope = 0.5;
  const std::string text = to_json_text(wrapper);
  EXPECT_TRUE(text.contains(R"("systempriority":10)")) << text;
  EXPECT_FALSE(text.contains("10.")) << text;
  EXPECT_TRUE(text.contains(R"("priorityslope":0.5)")) << text;
}

TEST(AppWrapperCodec, numbers_beyond_a_double_and_words_are_refused_with_the_path) {
  const auto refused = [](std::string_view slope) {
    const Result<AppWrapper> wrapper =
        read<AppWrapper>(R"({"spec":{"priorityslope":)" + std::string(slope) + "}}");
    return wrapper ? std::string("accepted") : wrapper.error().message;
  };
  EXPECT_TRUE(refused("1e999").starts_with("spec.priorityslope: ")) << refused("1e999");
  EXPECT_TRUE(refused("\"1\"").starts_with("spec.priorityslope: ")) << refused("\"1\"");
  EXPECT_EQ(refused("-1.5e3"), "accepted");
}

TEST(AppWrapperCodec, the_legacy_group_is_the_same_object_under_another_name) {
  constexpr std::string_view kText = R"({"apiVersion":"mcad.ibm.com/v1beta1","kind":"AppWrapper",
    "metadata":{"name":"a"},"spec":{"priority":3,"resources":{}},"status":{"state":"Pending"},
    "later":true})";
  const LegacyAppWrapper legacy = round_trip<LegacyAppWrapper>(kText);
  EXPECT_EQ(legacy.spec.priority, 3);
  EXPECT_EQ(legacy.extra.find("later"), "true");
  EXPECT_FALSE(read<AppWrapper>(kText).has_value());
}

TEST(AppWrapperCodec, only_completed_failed_and_deleted_are_terminal) {
  const auto terminal = [](std::string_view state) {
    AppWrapperStatus status;
    status.state = state;
    return is_terminal(status);
  };
  EXPECT_TRUE(terminal("Completed") && terminal("Failed") && terminal("Deleted"));
  EXPECT_FALSE(terminal("") || terminal("Pending") || terminal("Running") ||
               terminal("RunningHoldCompletion"));
}

TEST(QuotaSubtreeCodec, every_field) {
  const QuotaSubtree subtree = round_trip<QuotaSubtree>(R"({
    "apiVersion":"quota.codeflare.dev/v1alpha1","kind":"QuotaSubtree",
    "metadata":{"name":"s","namespace":"kube-system","labels":{"tree":"quota_context"}},
    "spec":{"parent":"top","parentNamespace":"kube-system","children":[
      {"name":"gold","namespace":"ml","path":"/top/gold",
       "quotas":{"requests":{"cpu":"8","memory":"16Gi"},"hardLimit":true}},
      {"name":"silver","quotas":{"disabled":true}},
      {"name":"default","quotas":{"requests":{"cpu":"0"},"hardLimit":false}}]},
    "status":{"totalAllocation":{"cpu":"3"},"children":[
      {"name":"gold","namespace":"ml","path":"/top/gold","allocated":{"cpu":"3"},
       "problem":"no such parent"}],"observedGeneration":4}})");
  ASSERT_EQ(subtree.spec.children.size(), 3u);
  EXPECT_TRUE(subtree.spec.children[0].quotas.hard_limit);
  EXPECT_EQ(subtree.spec.children[0].ns, "ml");
  EXPECT_TRUE(subtree.spec.children[1].quotas.disabled);
  EXPECT_NE(subtree.spec.children[2].quotas.requests.find("cpu"), nullptr);
  EXPECT_EQ(subtree.status.children[0].allocated.get("cpu"), Quantity(3));
  EXPECT_EQ(subtree.status.observed_generation, 4);
}

TEST(RayClusterCodec, spec_and_status_as_kuberay_writes_them) {
  const RayCluster cluster = round_trip<RayCluster>(R"({
    "apiVersion":"ray.io/v1","kind":"RayCluster","metadata":{"name":"r","namespace":"ml"},
    "spec":{"suspend":false,"managedBy":"ray.io/kuberay-operator","rayVersion":"2.46.0",
      "enableInTreeAutoscaling":true,
      "autoscalerOptions":{"idleTimeoutSeconds":60,"image":"ray:1","imagePullPolicy":"Always",
                           "resources":{"limits":{"cpu":"1"}}},
      "headServiceAnnotations":{"a":"b"},"gcsFaultToleranceOptions":{"redisAddress":"r:1"},
      "headGroupSpec":{"serviceType":"ClusterIP","enableIngress":true,
        "headService":{"metadata":{"name":"h"}},"resources":{"CPU":"0"},"labels":{"l":"1"},
        "rayStartParams":{"dashboard-host":"0.0.0.0"},
        "template":{"spec":{"containers":[{"name":"ray-head","resources":{}}]}}},
      "workerGroupSpecs":[{"groupName":"small","replicas":2,"minReplicas":0,"maxReplicas":10,
        "numOfHosts":2,"suspend":false,"idleTimeoutSeconds":5,"resources":{"GPU":"1"},
        "labels":{"m":"2"},"rayStartParams":{},"scaleStrategy":{"workersToDelete":["w1"]},
        "template":{"metadata":{"labels":{"k":"v"}},"spec":{"containers":[]}}}]},
    "status":{"state":"ready","desiredCPU":"5","desiredMemory":"6G","desiredGPU":"0",
      "desiredTPU":"0","lastUpdateTime":"2026-03-01T10:00:00Z",
      "stateTransitionTimes":{"ready":"2026-03-01T10:00:00Z"},
      "endpoints":{"client":"10001","dashboard":"8265"},
      "head":{"podIP":"10.0.0.1","podName":"r-head-x","serviceIP":"10.0.0.1",
              "serviceName":"r-head-svc"},
      "conditions":[{"type":"HeadPodReady","status":"True","reason":"HeadPodRunningAndReady",
                     "message":"","lastTransitionTime":"2026-03-01T10:00:00Z"}],
      "readyWorkerReplicas":4,"availableWorkerReplicas":4,"desiredWorkerReplicas":4,
      "minWorkerReplicas":0,"maxWorkerReplicas":20,"observedGeneration":1}})");
  ASSERT_EQ(cluster.spec.worker_groups.size(), 1u);
  EXPECT_EQ(desired_pods(cluster.spec.worker_groups[0]), 4);
  EXPECT_EQ(cluster.spec.worker_groups[0].group_name, "small");
  EXPECT_EQ(cluster.spec.worker_groups[0].scale_strategy.workers_to_delete[0], "w1");
  EXPECT_EQ(cluster.spec.autoscaler_options->resources->limits.get("cpu"), Quantity(1));
  EXPECT_EQ(cluster.spec.extra.find("gcsFaultToleranceOptions"), R"({"redisAddress":"r:1"})");
  EXPECT_EQ(cluster.status.head.pod_name, "r-head-x");
  EXPECT_EQ(cluster.status.state_transition_times.size(), 1u);
  EXPECT_EQ(cluster.status.desired_gpu, Quantity(0));
}

}  // namespace
}  // namespace codeflare::model
