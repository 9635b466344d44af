#include "apiserver/kinds/testing/printed.h"

#include <gtest/gtest.h>

#include <string>

namespace codeflare::apiserver {
namespace {

using testing::printed;

// A job that was made an hour ago, with more metadata, spec and status.
std::string job(std::string_view spec, std::string_view status, std::string_view metadata = "") {
  return R"({"metadata":{"name":"j","creationTimestamp":"2026-11-16T11:00:00Z")" +
         std::string(metadata) + R"(},"spec":{)" + std::string(spec) + R"(},"status":{)" +
         std::string(status) + "}}";
}

std::string is_true(std::string_view type) {
  return R"("conditions":[{"type":")" + std::string(type) + R"(","status":"True"}])";
}

// Status, Completions and Duration.
std::string state(const std::string& object) {
  std::string cells = printed("batch", "jobs", object);
  constexpr std::string_view kBegin = R"(["j",)";
  EXPECT_TRUE(cells.starts_with(kBegin)) << cells;
  return cells.substr(kBegin.size(), cells.find(R"(,"60m",)") - kBegin.size());
}

TEST(JobPrinter, the_status_follows_the_conditions) {
  EXPECT_EQ(state(job("", "")), R"("Running","0/1","")");
  for (const char* type :
       {"Complete", "Failed", "Suspended", "FailureTarget", "SuccessCriteriaMet"}) {
    EXPECT_EQ(state(job("", is_true(type))), "\"" + std::string(type) + R"(","0/1","")");
  }
  EXPECT_EQ(state(job("", R"("conditions":[{"type":"Failed","status":"False"}])")),
            R"("Running","0/1","")");
}

TEST(JobPrinter, deletion_hides_all_but_the_end) {
  constexpr std::string_view kDeleted = R"(,"deletionTimestamp":"2026-11-16T11:59:00Z")";
  EXPECT_EQ(state(job("", is_true("Suspended"), kDeleted)), R"("Terminating","0/1","")");
  EXPECT_EQ(state(job("", is_true("Complete"), kDeleted)), R"("Complete","0/1","")");
}

TEST(JobPrinter, completions_are_counted_against_what_is_asked_for) {
  EXPECT_EQ(state(job(R"("completions":5,"parallelism":2)", R"("succeeded":3)")),
            R"("Running","3/5","")");
  EXPECT_EQ(state(job(R"("parallelism":4)", R"("succeeded":2)")), R"("Running","2/1 of 4","")");
  EXPECT_EQ(state(job(R"("parallelism":1)", "")), R"("Running","0/1","")");
}

TEST(JobPrinter, the_duration_runs_until_completion) {
  EXPECT_EQ(state(job("", R"("startTime":"2026-11-16T11:54:30Z")")), R"("Running","0/1","5m30s")");
  EXPECT_EQ(state(job("", R"("startTime":"2026-11-16T11:00:00Z",
                             "completionTime":"2026-11-16T11:00:45Z",)" +
                              is_true("Complete"))),
            R"("Complete","0/1","45s")");
}

constexpr std::string_view kTemplate =
    R"("template":{"spec":{"containers":[{"name":"a","image":"i:1"},{"name":"b","image":"j"}]}})";

TEST(JobPrinter, wide_cells_show_what_runs) {
  std::string cells =
      printed("batch", "jobs",
              job(R"("selector":{"matchLabels":{"uid":"7"}},)" + std::string(kTemplate), ""));
  EXPECT_TRUE(cells.ends_with(R"("60m","a,b","i:1,j","uid=7"])")) << cells;
}

TEST(CronJobPrinter, shows_the_schedule_and_its_last_time) {
  EXPECT_EQ(printed("batch", "cronjobs", R"({"metadata":{"name":"c",
      "creationTimestamp":"2026-11-13T09:00:00Z"},"spec":{"schedule":"*/5 * * * *","jobTemplate":
      {"spec":{"template":{"spec":{"containers":[{"name":"a","image":"i"}]}}}}}})"),
            R"(["c","*/5 * * * *","<none>","False",0,"<none>","3d3h","a","i","<none>"])");
  EXPECT_EQ(printed("batch", "cronjobs", R"({"metadata":{"name":"c",
      "creationTimestamp":"2024-11-16T12:00:00Z"},"spec":{"schedule":"@daily","suspend":true,
      "timeZone":"Europe/Berlin"},"status":{"active":[{},{}],
      "lastScheduleTime":"2026-11-16T09:53:00Z"}})"),
            R"(["c","@daily","Europe/Berlin","True",2,"127m","2y","","","<none>"])");
}

// A workload with two containers and a selector.
std::string workload(std::string_view spec, std::string_view status) {
  return R"({"metadata":{"name":"w","creationTimestamp":"2026-11-16T11:59:00Z"},"spec":{)" +
         std::string(spec) + (spec.empty() ? "" : ",") + std::string(kTemplate) +
         R"(},"status":{)" + std::string(status) + "}}";
}

TEST(WorkloadPrinter, deployments_count_ready_updated_and_available) {
  EXPECT_EQ(printed("apps", "deployments",
                    workload(R"("replicas":3,"selector":{"matchLabels":{"b":"2","a":"1"},
        "matchExpressions":[{"key":"t","operator":"In","values":["y","x"]},
        {"key":"z","operator":"DoesNotExist"}]})",
                             R"("readyReplicas":1,"updatedReplicas":3,"availableReplicas":2)")),
            R"(["w","1/3",3,2,"60s","a,b","i:1,j","a=1,b=2,t in (x,y),!z"])");
  EXPECT_EQ(printed("apps", "deployments",
                    workload(R"("replicas":0,"selector":{"matchExpressions":
        [{"key":"t","operator":"Near"}]})",
                             "")),
            R"(["w","0/0",0,0,"60s","a,b","i:1,j","<invalid>"])");
}

TEST(WorkloadPrinter, the_other_sets) {
  EXPECT_EQ(printed("apps", "replicasets",
                    workload(R"("replicas":3,"selector":{"matchLabels":{"a":"1"}})",
                             R"("replicas":2,"readyReplicas":1)")),
            R"(["w",3,2,1,"60s","a,b","i:1,j","a=1"])");
  EXPECT_EQ(printed("", "replicationcontrollers",
                    workload(R"("replicas":3,"selector":{"a":"1"})", R"("replicas":2)")),
            R"(["w",3,2,0,"60s","a,b","i:1,j","a=1"])");
  EXPECT_EQ(printed("apps", "statefulsets", workload(R"("replicas":3)", R"("readyReplicas":2)")),
            R"(["w","2/3","60s","a,b","i:1,j"])");
  EXPECT_EQ(printed("apps", "daemonsets",
                    workload(R"("selector":{"matchLabels":{"a":"1"}})",
                             R"("desiredNumberScheduled":5,"currentNumberScheduled":4,
        "numberReady":3,"updatedNumberScheduled":2,"numberAvailable":1)")),
            R"(["w",5,4,3,2,1,"<none>","60s","a,b","i:1,j","a=1"])");
}

TEST(WorkloadPrinter, revisions_name_their_controller) {
  EXPECT_EQ(printed("apps", "controllerrevisions", R"({"metadata":{"name":"r","ownerReferences":
      [{"apiVersion":"v1","kind":"Pod","name":"p"},{"apiVersion":"apps/v1","kind":"StatefulSet",
      "name":"web","controller":true}]},"revision":4})"),
            R"(["r","statefulset.apps/web",4,"<unknown>"])");
  EXPECT_EQ(printed("apps", "controllerrevisions", R"({"metadata":{"name":"r"},"revision":1})"),
            R"(["r","<none>",1,"<unknown>"])");
}

TEST(WorkloadPrinter, disruption_budgets_take_numbers_and_percentages) {
  EXPECT_EQ(printed("policy", "poddisruptionbudgets",
                    R"({"metadata":{"name":"b"},"spec":{"minAvailable":"50%"},
      "status":{"disruptionsAllowed":2}})"),
            R"(["b","50%","N/A",2,"<unknown>"])");
  EXPECT_EQ(printed("policy", "poddisruptionbudgets",
                    R"({"metadata":{"name":"b"},"spec":{"maxUnavailable":1}})"),
            R"(["b","N/A","1",0,"<unknown>"])");
}

// Reference .. Replicas of an autoscaler.
std::string scaling(std::string_view spec, std::string_view status, std::string_view version = "v2",
                    std::string_view annotations = "{}") {
  return printed("autoscaling", "horizontalpodautoscalers",
                 R"({"apiVersion":"autoscaling/)" + std::string(version) +
                     R"(","metadata":{"name":"h","annotations":)" + std::string(annotations) +
                     R"(},"spec":{"scaleTargetRef":{"kind":"Deployment","name":"web"},)" +
                     std::string(spec) + R"("maxReplicas":9},"status":{)" + std::string(status) +
                     R"("currentReplicas":3}})",
                 version);
}

TEST(AutoscalerPrinter, shows_each_metric_beside_its_target) {
  EXPECT_EQ(scaling("", ""), R"(["h","Deployment/web","cpu: <unknown>/80%","1",9,3,"<unknown>"])");
  EXPECT_EQ(scaling(R"("minReplicas":2,"metrics":[{"type":"Resource","resource":{"name":"cpu",
      "target":{"type":"Utilization","averageUtilization":60}}},{"type":"External","external":
      {"target":{"value":"1000m"}}}],)",
                    R"("currentMetrics":[{"type":"Resource","resource":{"name":"cpu","current":
      {"averageUtilization":12,"averageValue":"30m"}}},{"type":"External","external":{"current":
      {"value":"2"}}}],)"),
            R"(["h","Deployment/web","cpu: 12%/60%, 2/1","2",9,3,"<unknown>"])");
  EXPECT_EQ(
      scaling(R"("metrics":[{"type":"Pods","pods":{"target":{"averageValue":"5"}}},
      {"type":"Object","object":{"target":{"averageValue":"7"}}},{"type":"ContainerResource",
      "containerResource":{"name":"memory","target":{"averageValue":"1Gi"}}},{"type":"New"}],)",
              R"("currentMetrics":[{"type":"Pods","pods":{"current":
      {"averageValue":"1500m"}}}],)"),
      R"(["h","Deployment/web","1500m/5, <unknown>/7 (avg) + 2 more...","1",9,3,"<unknown>"])");
}

TEST(AutoscalerPrinter, v1_shows_its_own_field_and_what_its_annotations_hide) {
  EXPECT_EQ(scaling(R"("targetCPUUtilizationPercentage":50,)",
                    R"("currentCPUUtilizationPercentage":40,)", "v1"),
            R"(["h","Deployment/web","cpu: 40%/50%","1",9,3,"<unknown>"])");
  std::string hidden = scaling(
      "", "", "v1",
      R"({"autoscaling.alpha.kubernetes.io/metrics":"[{\"type\":\"Pods\",\"pods\":{\"target\":{\"averageValue\":\"5\"}}}]"})");
  EXPECT_EQ(hidden, R"(["h","Deployment/web","<unknown>/5","1",9,3,"<unknown>"])");
}

}  // namespace
}  // namespace codeflare::apiserver
