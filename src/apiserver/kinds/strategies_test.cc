#include "apiserver/kinds/strategies.h"

#include "apiserver/kinds/pod_spec.h"
#include "apiserver/kinds/testing/strategy_trial.h"
#include "apiserver/registry/edit.h"
#include "apiserver/request/user.h"
#include "base/base64.h"
#include "json/parse.h"
#include "json/write.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace codeflare::apiserver {
namespace {

constexpr std::string_view kPod = R"({"metadata":{"name":"a"},"spec":{"containers":[
    {"name":"c","image":"busybox"}]}})";

// A gated pod with this steering, and what the strategy says to another steering of it.
Lines steered(std::string_view from, std::string_view to) {
  const auto pod = [](std::string_view steering) {
    return R"({"metadata":{"name":"a"},"spec":{"schedulingGates":[{"name":"wait"}],"containers":)"
           R"([{"name":"c","image":"busybox"}])" +
           std::string(steering) + "}}";
  };
  Trial old("", "pods", pod(from));
  old.create();
  Trial now("", "pods", pod(to));
  now.create();
  return now.complaints_against(old.document.root);
}

std::string node_terms(std::string_view terms) {
  return R"(,"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":)"
         R"({"nodeSelectorTerms":)" +
         std::string(terms) + "}}}";
}

TEST(PodStrategy, says_since_when_a_gated_pod_waits) {
  Trial pod("", "pods",
            R"({"spec":{"schedulingGates":[{"name":"wait"}],"containers":[{"name":"c"}]}})");
  pod.context.now = WallTime(std::chrono::seconds(60));
  pod.create();
  const std::string conditions = pod.at({"status", "conditions"});
  EXPECT_TRUE(conditions.contains(R"("lastTransitionTime":"1970-01-01T00:01:00Z")")) << conditions;
}

TEST(PodStrategy, lets_a_gated_pod_be_steered_to_fewer_nodes_only) {
  const std::string zone = R"(,"nodeSelector":{"zone":"a"})";
  EXPECT_EQ(steered("", zone), Lines{});
  EXPECT_EQ(steered(zone, R"(,"nodeSelector":{"zone":"a","disk":"ssd"})"), Lines{});
  const Lines kept{
      "spec.nodeSelector: Invalid value: {\"zone\":\"b\"}: only additions to spec.nodeSelector are "
      "allowed (no mutations or deletions)"};
  EXPECT_EQ(steered(zone, R"(,"nodeSelector":{"zone":"b"})"), kept);
  EXPECT_EQ(steered(zone, "").size(), 1u) << "taking it away lets more nodes in";

  const std::string fast = R"([{"matchExpressions":[{"key":"gpu","operator":"Exists"}]}])";
  const std::string faster =
      R"([{"matchExpressions":[{"key":"gpu","operator":"Exists"},{"key":"x","operator":"Exists"}]}])";
  const std::string other = R"([{"matchExpressions":[{"key":"x","operator":"Exists"}]}])";
  EXPECT_EQ(steered("", node_terms(fast)), Lines{});
  EXPECT_EQ(steered(node_terms(fast), node_terms(faster)), Lines{});
  EXPECT_EQ(steered(node_terms(fast), node_terms(other)).size(), 1u);
  EXPECT_EQ(steered(node_terms(faster), node_terms(fast)).size(), 1u);
  EXPECT_EQ(steered(node_terms(fast), "").size(), 1u);
}

TEST(PodStrategy, keeps_the_neighbours_that_a_gated_pod_wanted) {
  const std::string apart =
      R"(,"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":)"
      R"([{"topologyKey":"zone","labelSelector":{"matchLabels":{"a":"b"}}}]}})";
  EXPECT_EQ(steered(apart, apart), Lines{});
  EXPECT_EQ(steered(apart, "").size(), 1u);
  EXPECT_EQ(steered("", apart).size(), 1u);
}

TEST(PodStrategy, fills_in_what_a_pod_leaves_out) {
  Trial pod("", "pods", kPod);
  pod.create();
  EXPECT_EQ(pod.at({"spec", "restartPolicy"}), "\"Always\"");
  EXPECT_EQ(pod.at({"spec", "terminationGracePeriodSeconds"}), "30");
  EXPECT_EQ(pod.at({"spec", "enableServiceLinks"}), "true");
  const json::Value& container =
      items_at(std::as_const(*pod.document.root.find("spec")), "containers")[0];
  EXPECT_EQ(text_at(container, "imagePullPolicy"), "Always");
  EXPECT_EQ(text_at(container, "terminationMessagePolicy"), "File");
  EXPECT_EQ(pod.at({"status"}), R"({"phase":"Pending","qosClass":"BestEffort"})");
  EXPECT_EQ(pod.complaints(), Lines{});
}

TEST(PodStrategy, pulls_always_only_without_a_tag_or_with_latest) {
  const auto policy = [](std::string image) {
    Trial pod("", "pods", R"({"spec":{"containers":[{"name":"c","image":")" + image + R"("}]}})");
    pod.create();
    return std::string(
        text_at(items_at(std::as_const(*pod.document.root.find("spec")), "containers")[0],
                "imagePullPolicy"));
  };
  EXPECT_EQ(policy("ray"), "Always");
  EXPECT_EQ(policy("localhost:5000/ray"), "Always");
  EXPECT_EQ(policy("ray:latest"), "Always");
  EXPECT_EQ(policy("ray:2.9"), "IfNotPresent");
  EXPECT_EQ(policy("localhost:5000/ray:2.9"), "IfNotPresent");
  EXPECT_EQ(policy("ray@sha256:0123"), "IfNotPresent");
}

TEST(PodStrategy, requests_what_it_limits_and_says_its_class) {
  Trial pod("", "pods", R"({"spec":{"containers":[{"name":"c","image":"x:1",
      "resources":{"limits":{"cpu":"2","memory":"1Gi"}}}]}})");
  pod.create();
  EXPECT_EQ(pod.at({"status", "qosClass"}), "\"Guaranteed\"");
  Trial burst("", "pods", R"({"spec":{"containers":[{"name":"c","image":"x:1",
      "resources":{"requests":{"cpu":"1"}}}]}})");
  burst.create();
  EXPECT_EQ(burst.at({"status", "qosClass"}), "\"Burstable\"");
}

TEST(PodStrategy, names_every_field_that_is_wrong) {
  Trial pod("", "pods", R"({"spec":{"restartPolicy":"Sometimes","containers":[
      {"name":"C_1","ports":[{"containerPort":70000}],"env":[{"value":"1"}],
       "volumeMounts":[{"name":"v","mountPath":"/x"}],
       "resources":{"requests":{"cpu":"2"},"limits":{"cpu":"1"}}}]}})");
  pod.create();
  const Lines lines = pod.complaints();
  ASSERT_EQ(lines.size(), 7u);
  EXPECT_TRUE(lines[0].starts_with("spec.containers[0].name: Invalid value: \"C_1\": a lowercase"));
  EXPECT_EQ(lines[1], "spec.containers[0].image: Required value");
  EXPECT_EQ(lines[2],
            "spec.containers[0].ports[0].containerPort: Invalid value: 70000: must be "
            "between 1 and 65535, inclusive");
  EXPECT_EQ(lines[3], "spec.containers[0].env[0].name: Required value");
  EXPECT_EQ(lines[4], "spec.containers[0].volumeMounts[0].name: Not found: \"v\"");
  EXPECT_EQ(lines[5],
            "spec.containers[0].resources.requests: Invalid value: \"2\": must be less "
            "than or equal to cpu limit of 1");
  EXPECT_EQ(lines[6],
            "spec.restartPolicy: Unsupported value: \"Sometimes\": supported values: "
            "\"Always\", \"OnFailure\", \"Never\"");
}

TEST(PodStrategy, wants_limits_for_devices_and_whole_numbers) {
  Trial pod("", "pods", R"({"spec":{"containers":[{"name":"c","image":"x:1",
      "resources":{"requests":{"nvidia.com/gpu":"1500m"}}}]}})");
  pod.create();
  EXPECT_EQ(pod.complaints(),
            (Lines{"spec.containers[0].resources.requests[nvidia.com/gpu]: Invalid value: "
                   "\"1500m\": must be an integer",
                   "spec.containers[0].resources.limits: Required value: Limit must be set for non "
                   "overcommitable resources"}));
}

TEST(PodStrategy, lets_only_a_few_fields_change) {
  Trial old("", "pods", kPod);
  old.create();
  Trial image("", "pods", R"({"metadata":{"name":"a"},"spec":{"containers":[
      {"name":"c","image":"busybox:2","imagePullPolicy":"Always"}],
      "tolerations":[{"operator":"Exists"}]}})");
  EXPECT_EQ(image.complaints_against(old.document.root), Lines{});
  Trial command("", "pods", R"({"metadata":{"name":"a"},"spec":{"containers":[
      {"name":"c","image":"busybox","command":["sh"]}]}})");
  const Lines lines = command.complaints_against(old.document.root);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_TRUE(
      lines[0].starts_with("spec: Forbidden: pod updates may not change fields other than"));
  Trial more("", "pods", R"({"metadata":{"name":"a"},"spec":{"containers":[
      {"name":"c","image":"busybox"},{"name":"d","image":"busybox"}]}})");
  EXPECT_EQ(more.complaints_against(old.document.root),
            Lines{"spec.containers: Forbidden: pod updates may not add or remove containers"});
}

TEST(PodStrategy, gives_grace_only_to_pods_that_run) {
  const auto grace = [](std::string_view text, std::optional<std::int64_t> asked) {
    const json::Document pod = *json::parse(text);
    return builtin_strategy("", "pods")->grace_seconds(pod.root, asked);
  };
  constexpr std::string_view kRunning =
      R"({"spec":{"nodeName":"n","terminationGracePeriodSeconds":30},"status":{"phase":"Running"}})";
  EXPECT_EQ(grace(kRunning, std::nullopt), 30);
  EXPECT_EQ(grace(kRunning, 5), 5);
  EXPECT_EQ(grace(kRunning, -1), 1);
  EXPECT_EQ(grace(R"({"spec":{"terminationGracePeriodSeconds":30}})", std::nullopt), 0);
  EXPECT_EQ(grace(R"({"spec":{"nodeName":"n"},"status":{"phase":"Failed"}})", 30), 0);
}

TEST(PodStrategy, tells_its_address_in_both_ways) {
  const auto addresses = [](std::string status) {
    Trial pod("", "pods", R"({"spec":{},"status":)" + std::move(status) + "}");
    pod.strategy->set_defaults(pod.context, pod.document.root);
    return pod.at({"status", "podIP"}) + " " + pod.at({"status", "podIPs"});
  };
  EXPECT_EQ(addresses(R"({"podIP":"10.0.0.1"})"), R"("10.0.0.1" [{"ip":"10.0.0.1"}])");
  EXPECT_EQ(addresses(R"({"podIPs":[{"ip":"10.0.0.1"},{"ip":"::1"}]})"),
            R"("10.0.0.1" [{"ip":"10.0.0.1"},{"ip":"::1"}])");
  EXPECT_EQ(addresses(R"({"podIP":"10.0.0.2","podIPs":[{"ip":"10.0.0.1"}]})"),
            R"("10.0.0.2" [{"ip":"10.0.0.2"}])");
  EXPECT_EQ(addresses("{}"), "absent absent");
}

TEST(JobStrategy, selects_its_pods_by_its_own_identity) {
  Trial job("batch", "jobs", R"({"metadata":{"name":"j","uid":"u-1"},"spec":{"template":{"spec":{
      "restartPolicy":"Never","containers":[{"name":"c","image":"x:1"}]}}}})");
  job.create();
  EXPECT_EQ(job.at({"spec", "selector"}),
            R"({"matchLabels":{"batch.kubernetes.io/controller-uid":"u-1"}})");
  EXPECT_EQ(job.at({"metadata", "labels"}), job.at({"spec", "template", "metadata", "labels"}));
  EXPECT_EQ(job.at({"metadata", "labels", "job-name"}), "\"j\"");
  EXPECT_EQ(job.at({"spec", "backoffLimit"}), "6");
  EXPECT_EQ(job.at({"spec", "completions"}), "1");
  EXPECT_EQ(job.complaints(), Lines{});
}

TEST(JobStrategy, must_not_restart_always) {
  Trial job("batch", "jobs", R"({"metadata":{"name":"j","uid":"u"},"spec":{"parallelism":-1,
      "template":{"spec":{"containers":[{"name":"c","image":"x:1"}]}}}})");
  job.create();
  EXPECT_EQ(job.complaints(),
            (Lines{"spec.parallelism: Invalid value: -1: must be greater than or equal to 0",
                   "spec.template.spec.restartPolicy: Required value: valid values: \"OnFailure\", "
                   "\"Never\""}));
}

TEST(JobStrategy, keeps_its_template_but_can_be_steered_while_it_waits) {
  const std::string text = R"({"metadata":{"name":"j","uid":"u"},"spec":{"suspend":true,"template":{
      "spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"x:1"}]}}}})";
  Trial old("batch", "jobs", text);
  old.create();
  Trial steered("batch", "jobs", json::to_text(old.document.root));
  make_object(steered.document.arena,
              *steered.document.root.find("spec")->find("template")->find("spec"), "nodeSelector")
      .set(steered.document.arena, "zone", json::Value::string_view_of("b"));
  EXPECT_EQ(steered.complaints_against(old.document.root), Lines{});
  old.document.root.find("spec")->set(old.document.arena, "suspend", json::Value::boolean(false));
  const Lines lines = steered.complaints_against(old.document.root);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_TRUE(lines[0].starts_with("spec.template: Invalid value: "));
  EXPECT_TRUE(lines[0].ends_with(": field is immutable"));
}

// The complaints about a job with these members of its spec.
Lines job_complaints(std::string_view members) {
  Trial job("batch", "jobs",
            R"({"metadata":{"name":"j","uid":"u"},"spec":{"template":{"spec":{
      "restartPolicy":"Never","containers":[{"name":"c","image":"x:1"}]}})" +
                std::string(members) + "}}");
  job.create();
  return job.complaints();
}

std::string failure_rule(std::string_view members) {
  return R"(,"podFailurePolicy":{"rules":[{)" + std::string(members) + "}]}";
}

TEST(JobStrategy, knows_what_to_do_about_failed_pods) {
  const std::string at = "spec.podFailurePolicy.rules[0]";
  EXPECT_EQ(job_complaints(failure_rule(
                R"("action":"Ignore","onPodConditions":[{"type":"DisruptionTarget"}])")),
            Lines{});
  EXPECT_EQ(job_complaints(failure_rule(
                R"("action":"FailJob","onExitCodes":{"operator":"NotIn","values":[0,1]})")),
            Lines{});
  EXPECT_EQ(job_complaints(
                failure_rule(R"("action":"Explode","onExitCodes":{"operator":"In","values":[1]})")),
            Lines{at + ".action: Unsupported value: \"Explode\": supported values: \"Count\", "
                       "\"FailIndex\", \"FailJob\", \"Ignore\""});
  EXPECT_EQ(job_complaints(failure_rule(R"("onExitCodes":{"operator":"In","values":[1]})")),
            Lines{at + ".action: Required value: valid values: [\"Count\" \"FailIndex\" "
                       "\"FailJob\" \"Ignore\"]"});
  EXPECT_EQ(job_complaints(failure_rule(
                R"("action":"Count","onExitCodes":{"operator":"In","values":[2,0,2]})")),
            (Lines{at + ".onExitCodes.values[1]: Invalid value: 0: must not be 0 for the In "
                        "operator",
                   at + ".onExitCodes.values[2]: Duplicate value: 2",
                   at + ".onExitCodes.values: Invalid value: [2,0,2]: must be ordered"}));
  EXPECT_EQ(job_complaints(failure_rule(
                R"("action":"Count","onExitCodes":{"containerName":"d","operator":"At"})")),
            (Lines{at + ".onExitCodes.operator: Unsupported value: \"At\": supported values: "
                        "\"In\", \"NotIn\"",
                   at + ".onExitCodes.containerName: Invalid value: \"d\": must be one of the "
                        "container or initContainer names in the pod template",
                   at + ".onExitCodes.values: Invalid value: null: at least one value is "
                        "required"}));
  EXPECT_EQ(job_complaints(failure_rule(R"("action":"Count")")),
            Lines{at + ": Invalid value: specifying one of OnExitCodes and OnPodConditions is "
                       "required"});
  EXPECT_EQ(job_complaints(failure_rule(
                R"("action":"FailIndex","onExitCodes":{"operator":"In","values":[1]})")),
            Lines{at + ".action: Invalid value: \"FailIndex\": requires the backoffLimitPerIndex "
                       "to be set"});
}

TEST(JobStrategy, counts_only_indexes_that_there_are) {
  const auto complaints = [](std::string_view rule) {
    return job_complaints(R"(,"completionMode":"Indexed","completions":5,"parallelism":1,)"
                          R"("successPolicy":{"rules":[{)" +
                          std::string(rule) + "}]}");
  };
  const std::string at = "spec.successPolicy.rules[0]";
  const std::string parsing = at + ".succeededIndexes: Invalid value: ";
  EXPECT_EQ(complaints(R"("succeededIndexes":"0,2-4","succeededCount":4)"), Lines{});
  EXPECT_EQ(complaints(R"("succeededIndexes":"5")"),
            Lines{parsing + "\"5\": error parsing succeededIndexes: too large index: \"5\""});
  EXPECT_EQ(complaints(R"("succeededIndexes":"2,1")"),
            Lines{parsing + "\"2,1\": error parsing succeededIndexes: non-increasing order, "
                            "previous: 2, current: 1"});
  EXPECT_EQ(complaints(R"("succeededIndexes":"1,")"),
            Lines{parsing + "\"1,\": error parsing succeededIndexes: cannot convert string to "
                            "integer for index: \"\""});
  EXPECT_EQ(complaints(R"("succeededIndexes":"1-2-3")").size(), 1u);
  EXPECT_EQ(complaints(R"("succeededIndexes":"0-1","succeededCount":3)"),
            Lines{at + ".succeededCount: Invalid value: 3: must be less than or equal to 2 (the "
                       "number of indexes in the specified succeededIndexes field)"});
  EXPECT_EQ(complaints(""),
            Lines{at + ": Required value: at least one of succeededCount or succeededIndexes must "
                       "be specified"});
  EXPECT_EQ(job_complaints(R"(,"successPolicy":{"rules":[]})").size(), 1u);
  EXPECT_EQ(job_complaints(R"(,"completionMode":"Indexed","completions":2,"parallelism":1,)"
                           R"("backoffLimitPerIndex":1,"maxFailedIndexes":3)"),
            Lines{"spec.maxFailedIndexes: Invalid value: 3: must be less than or equal to "
                  "completions"});
}

TEST(JobStrategy, replaces_pods_in_one_of_two_ways) {
  EXPECT_EQ(job_complaints(R"(,"podReplacementPolicy":"Failed")"), Lines{});
  EXPECT_EQ(job_complaints(R"(,"podReplacementPolicy":"Never")"),
            Lines{"spec.podReplacementPolicy: Unsupported value: \"Never\": supported values: "
                  "\"Failed\", \"TerminatingOrFailed\""});
}

TEST(JobStrategy, says_when_it_was_complete) {
  const auto complaints = [](std::string_view from, std::string_view to) {
    const Trial old("batch", "jobs", R"({"status":{)" + std::string(from) + "}}");
    Trial now("batch", "jobs", R"({"status":{)" + std::string(to) + "}}", "status");
    FieldErrors errors;
    now.strategy->validate_update(now.context, now.document.root, old.document.root, errors);
    return Trial::lines(errors);
  };
  const std::string complete = R"("conditions":[{"type":"Complete","status":"True"}])";
  const std::string time = R"("completionTime":"2026-01-01T00:00:00Z")";
  EXPECT_EQ(complaints("", complete + "," + time), Lines{});
  EXPECT_EQ(complaints(complete, complete), Lines{}) << "it was so before";
  EXPECT_EQ(complaints("", complete), Lines{"status.completionTime: Required value: completionTime "
                                            "is required for Complete jobs"});
  EXPECT_EQ(complaints("", time),
            Lines{"status.completionTime: Invalid value: \"2026-01-01T00:00:00Z\": cannot set "
                  "completionTime when there is no Complete=True condition"});
  EXPECT_EQ(
      complaints(complete + "," + time, complete + R"(,"completionTime":"2026-01-01T00:00:01Z")"),
      Lines{"status.completionTime: Invalid value: \"2026-01-01T00:00:01Z\": field is "
            "immutable"});
}

TEST(DeploymentStrategy, needs_a_selector_that_matches_its_template) {
  Trial deployment("apps", "deployments", R"({"spec":{"selector":{"matchLabels":{"app":"a"}},
      "template":{"metadata":{"labels":{"app":"b"}},
                  "spec":{"containers":[{"name":"c","image":"x:1"}]}}}})");
  deployment.create();
  EXPECT_EQ(
      deployment.at({"spec", "strategy"}),
      R"({"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":"25%","maxSurge":"25%"}})");
  EXPECT_EQ(deployment.complaints(),
            Lines{"spec.template.metadata.labels: Invalid value: {\"app\":\"b\"}: `selector` does "
                  "not match template `labels`"});
}

TEST(StatefulSetStrategy, lets_pods_mount_what_its_claims_will_provide) {
  Trial set("apps", "statefulsets", R"({"spec":{"serviceName":"s",
      "selector":{"matchLabels":{"app":"a"}},
      "volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{"accessModes":["ReadWriteOnce"]}}],
      "template":{"metadata":{"labels":{"app":"a"}},"spec":{"containers":[{"name":"c","image":"x:1",
        "volumeMounts":[{"name":"data","mountPath":"/d"}]}]}}}})");
  set.create();
  EXPECT_EQ(set.complaints(), Lines{});
  Trial changed("apps", "statefulsets", json::to_text(set.document.root));
  changed.document.root.find("spec")->set(changed.document.arena, "serviceName",
                                          json::Value::string_view_of("t"));
  ASSERT_EQ(changed.complaints_against(set.document.root).size(), 1u);
}

TEST(StatefulSetStrategy, keeps_or_deletes_its_claims) {
  Trial set("apps", "statefulsets", R"({"spec":{"selector":{"matchLabels":{"app":"a"}},
      "persistentVolumeClaimRetentionPolicy":{"whenDeleted":"Delete","whenScaled":"Sell"},
      "template":{"metadata":{"labels":{"app":"a"}},
                  "spec":{"containers":[{"name":"c","image":"x:1"}]}}}})");
  set.create();
  EXPECT_EQ(set.complaints(),
            Lines{"spec.persistentVolumeClaimRetentionPolicy.whenScaled: Unsupported value: "
                  "\"Sell\": supported values: \"Retain\", \"Delete\""});
}

TEST(PriorityClassStrategy, preempts_or_does_not) {
  Trial wrong("scheduling.k8s.io", "priorityclasses",
              R"({"metadata":{"name":"a"},"value":1,"preemptionPolicy":"Sometimes"})");
  wrong.create();
  EXPECT_EQ(wrong.complaints(),
            Lines{"preemptionPolicy: Unsupported value: \"Sometimes\": supported values: "
                  "\"PreemptLowerPriority\", \"Never\""});
}

TEST(NodeStrategy, keeps_the_range_of_its_pods) {
  Trial old("", "nodes", R"({"spec":{"podCIDR":"10.0.0.0/24"}})");
  old.create();
  EXPECT_EQ(old.at({"spec", "podCIDRs"}), R"(["10.0.0.0/24"])");
  const Lines kept{
      "spec.podCIDRs: Forbidden: node updates may not change podCIDR except from \"\" to valid"};
  for (std::string_view spec : {R"({"podCIDR":"10.0.1.0/24","podCIDRs":["10.0.0.0/24"]})",
                                R"({"podCIDR":"10.0.1.0/24"})", R"({})"}) {
    Trial now("", "nodes", R"({"spec":)" + std::string(spec) + "}");
    EXPECT_EQ(now.complaints_against(old.document.root), kept) << spec;
  }
}

TEST(NodeStrategy, has_whole_devices) {
  Trial node("", "nodes", R"({"status":{"allocatable":{"cpu":"500m"},
      "capacity":{"cpu":"1500m","example.com/gpu":"1500m","pods":"110"}}})");
  node.create();
  EXPECT_EQ(node.complaints(), Lines{"status.capacity.example.com/gpu: Invalid value: \"1500m\": "
                                     "must be an integer"});
}

TEST(DaemonSetStrategy, counts_the_changes_of_its_template) {
  constexpr std::string_view kSet = R"({"metadata":{"name":"d","annotations":{
      "deprecated.daemonset.template.generation":"9"}},"spec":{"minReadySeconds":1,"template":{
      "spec":{"containers":[{"name":"c","image":"x:1"}]}}}})";
  Trial set("apps", "daemonsets", kSet);
  set.create();
  const auto count = [](Trial& of) {
    return of.at({"metadata", "annotations", "deprecated.daemonset.template.generation"});
  };
  EXPECT_EQ(count(set), "\"1\"");
  std::string text = json::to_text(set.document.root);
  Trial patient("apps", "daemonsets", text.replace(text.find("onds\":1"), 7, "onds\":2"));
  patient.strategy->prepare_update(patient.context, patient.document.root, set.document.root);
  EXPECT_EQ(count(patient), "\"1\"");
  Trial newer("apps", "daemonsets", text.replace(text.find("x:1"), 3, "x:2"));
  newer.strategy->prepare_update(newer.context, newer.document.root, patient.document.root);
  EXPECT_EQ(count(newer), "\"2\"");
}

TEST(CertificateRequestStrategy, says_who_asked_and_never_changes) {
  Trial request("certificates.k8s.io", "certificatesigningrequests",
                R"({"spec":{"request":"x","username":"somebody","groups":["system:masters"]}})");
  const User user{.name = "jane", .groups = {"devs"}, .extra = {{"scope", {"a", "b"}}}};
  request.context.user = &user;
  request.create();
  EXPECT_EQ(request.at({"spec"}),
            R"({"request":"x","username":"jane","groups":["devs"],"extra":{"scope":["a","b"]}})");
  Trial changed("certificates.k8s.io", "certificatesigningrequests", R"({"spec":{"request":"y"}})");
  changed.strategy->prepare_update(changed.context, changed.document.root, request.document.root);
  EXPECT_EQ(changed.at({"spec", "request"}), "\"x\"");
}

TEST(ServiceStrategy, fills_in_ports_and_policies) {
  Trial service("", "services", R"({"spec":{"ports":[{"port":80}]}})");
  service.create();
  EXPECT_EQ(service.at({"spec"}),
            R"({"ports":[{"port":80,"protocol":"TCP","targetPort":80}],"sessionAffinity":"None",)"
            R"("type":"ClusterIP","internalTrafficPolicy":"Cluster"})");
  EXPECT_EQ(service.complaints(), Lines{});
  EXPECT_FALSE(service.strategy->check_name("1a", false).empty());
  EXPECT_TRUE(service.strategy->check_name("a-", true).empty());
}

TEST(ServiceStrategy, keeps_the_address_that_was_given) {
  Trial old("", "services", R"({"spec":{"ports":[{"port":80}],"clusterIP":"10.96.0.7"}})");
  old.create();
  Trial silent("", "services", R"({"spec":{"ports":[{"port":81}]}})");
  EXPECT_EQ(silent.complaints_against(old.document.root), Lines{});
  EXPECT_EQ(silent.at({"spec", "clusterIP"}), "\"10.96.0.7\"");
  Trial other("", "services", R"({"spec":{"ports":[{"port":81}],"clusterIP":"10.96.0.8"}})");
  EXPECT_EQ(other.complaints_against(old.document.root),
            Lines{"spec.clusterIPs[0]: Invalid value: [\"10.96.0.8\"]: may not change once set"});
}

// A service with this spec, and its spec after a patch of these members.
std::string turned(std::string_view from, std::string_view patch) {
  Trial old("", "services",
            R"({"spec":)" + std::string(from) +
                R"(,"status":{"loadBalancer":{"ingress":[{"ip":"1.2.3.4"}]}}})");
  old.strategy->set_defaults(old.context, old.document.root);
  Trial now("", "services", json::to_text(old.document.root));
  const json::Document changes = *json::parse(patch);
  for (const json::Member& member : changes.root.members()) {
    now.document.root.find("spec")->set(now.document.arena, member.key,
                                        member.value.clone(now.document.arena));
  }
  EXPECT_EQ(now.complaints_against(old.document.root), Lines{});
  return now.at({"spec"}) + now.at({"status"});
}

TEST(ServiceStrategy, gives_up_what_its_new_type_does_not_use) {
  const std::string ports = R"("ports":[{"port":80,"nodePort":30080}],"clusterIP":"10.96.0.7")";
  EXPECT_EQ(turned(R"({"type":"NodePort",)" + ports + "}", R"({"type":"ClusterIP"})"),
            R"({"type":"ClusterIP","ports":[{"port":80,"protocol":"TCP","targetPort":80}],)"
            R"("clusterIP":"10.96.0.7","sessionAffinity":"None",)"
            R"("internalTrafficPolicy":"Cluster"}{"loadBalancer":{}})");
  const std::string balancer = R"({"type":"LoadBalancer","loadBalancerClass":"a/b",)"
                               R"("healthCheckNodePort":30090,"externalTrafficPolicy":"Local",)" +
                               ports + "}";
  EXPECT_EQ(turned(balancer, R"({"type":"NodePort"})"),
            R"({"type":"NodePort","externalTrafficPolicy":"Local",)"
            R"("ports":[{"port":80,"nodePort":30080,"protocol":"TCP","targetPort":80}],)"
            R"("clusterIP":"10.96.0.7","sessionAffinity":"None",)"
            R"("internalTrafficPolicy":"Cluster"}{"loadBalancer":{}})");
  EXPECT_EQ(turned(balancer, R"({"type":"ExternalName","externalName":"a.b"})"),
            R"({"type":"ExternalName","ports":[{"port":80,"protocol":"TCP","targetPort":80}],)"
            R"("sessionAffinity":"None","internalTrafficPolicy":"Cluster",)"
            R"("externalName":"a.b"}{"loadBalancer":{}})");
  EXPECT_TRUE(turned(balancer, R"({"loadBalancerClass":"a/b"})").contains("1.2.3.4"));
}

TEST(ServiceStrategy, refuses_what_its_new_type_may_not_be_given) {
  Trial old("", "services",
            R"({"spec":{"type":"NodePort","ports":[{"port":80,"nodePort":30080}]}})");
  old.create();
  Trial now("", "services",
            R"({"spec":{"type":"ClusterIP","ports":[{"port":80,"nodePort":30081}]}})");
  EXPECT_EQ(now.complaints_against(old.document.root),
            Lines{"spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"});
}

TEST(ServiceStrategy, keeps_node_ports_by_the_name_of_their_port) {
  Trial old("", "services", R"({"spec":{"type":"NodePort","ports":[
      {"name":"a","port":80,"nodePort":30080},{"name":"b","port":81,"nodePort":30081}]}})");
  old.create();
  Trial now("", "services", R"({"spec":{"type":"NodePort","ports":[
      {"name":"a","port":90},{"name":"b","port":91,"nodePort":30080}]}})");
  EXPECT_EQ(now.complaints_against(old.document.root), Lines{});
  const auto ports = items_at(std::as_const(*now.document.root.find("spec")), "ports");
  EXPECT_TRUE(absent(ports[0], "nodePort")) << "the other port took it";
  Trial moved("", "services", R"({"spec":{"type":"NodePort","ports":[{"name":"b","port":99}]}})");
  EXPECT_EQ(moved.complaints_against(old.document.root), Lines{});
  EXPECT_EQ(integer_at(items_at(std::as_const(*moved.document.root.find("spec")), "ports")[0],
                       "nodePort"),
            30081);
}

TEST(ServiceStrategy, is_reached_at_real_addresses_only) {
  const auto complaint = [](std::string_view address) {
    Trial service(
        "", "services",
        R"({"spec":{"ports":[{"port":80}],"externalIPs":[")" + std::string(address) + R"("]}})");
    service.create();
    const Lines lines = service.complaints();
    return lines.empty() ? "" : lines[0];
  };
  EXPECT_EQ(complaint("192.0.2.1"), "");
  EXPECT_EQ(complaint("2001:db8::1"), "");
  EXPECT_EQ(complaint("here"),
            "spec.externalIPs[0]: Invalid value: \"here\": must be a valid IP address, (e.g. "
            "10.9.8.7 or 2001:db8::ffff)");
  EXPECT_EQ(complaint("127.0.0.1"),
            "spec.externalIPs[0]: Invalid value: \"127.0.0.1\": may not be in the loopback range "
            "(127.0.0.0/8, ::1/128)");
  EXPECT_TRUE(complaint("0.0.0.0").contains("may not be unspecified (0.0.0.0)"));
  EXPECT_TRUE(complaint("fe80::1").contains("link-local range"));
  EXPECT_TRUE(complaint("224.0.0.5").contains("link-local multicast range"));
}

TEST(SecretStrategy, turns_plain_text_into_data) {
  Trial secret("", "secrets", R"({"stringData":{"a":"hello"},"data":{"b":"eA=="}})");
  secret.create();
  EXPECT_EQ(secret.at({"stringData"}), "absent");
  EXPECT_EQ(secret.at({"data", "a"}), "\"" + to_base64("hello") + "\"");
  EXPECT_EQ(secret.at({"type"}), "\"Opaque\"");
}

TEST(SecretStrategy, never_shows_what_it_holds) {
  const std::string text =
      R"({"type":"kubernetes.io/dockerconfigjson","data":{".dockerconfigjson":")" +
      to_base64("top secret") + R"("}})";
  Trial secret("", "secrets", text);
  secret.create();
  EXPECT_EQ(secret.complaints(), Lines{"data[.dockerconfigjson]: Invalid value: \"<secret contents "
                                       "redacted>\": must be a JSON object"});
}

TEST(ConfigMapStrategy, stays_as_it_is_once_immutable) {
  Trial old("", "configmaps", R"({"immutable":true,"data":{"a":"1"}})");
  Trial changed("", "configmaps", R"({"immutable":true,"data":{"a":"2"}})");
  EXPECT_EQ(changed.complaints_against(old.document.root),
            Lines{"data: Forbidden: field is immutable when `immutable` is set"});
}

TEST(NamespaceStrategy, is_held_by_its_own_finalizer) {
  Trial ns("", "namespaces", R"({"metadata":{"name":"n"}})");
  ns.create();
  EXPECT_EQ(ns.at({"spec", "finalizers"}), R"(["kubernetes"])");
  EXPECT_EQ(ns.at({"metadata", "labels", "kubernetes.io/metadata.name"}), "\"n\"");
  EXPECT_FALSE(ns.strategy->may_go(ns.document.root));
  ns.strategy->begin_delete(ns.context, ns.document.root);
  EXPECT_EQ(ns.at({"status", "phase"}), "\"Terminating\"");
}

TEST(RoleBindingStrategy, never_changes_its_role) {
  Trial old("rbac.authorization.k8s.io", "rolebindings",
            R"({"roleRef":{"kind":"Role","name":"a"},"subjects":[{"kind":"User","name":"u"}]})");
  old.create();
  EXPECT_EQ(old.complaints(), Lines{});
  Trial changed("rbac.authorization.k8s.io", "rolebindings",
                R"({"roleRef":{"kind":"Role","name":"b"}})");
  changed.strategy->set_defaults(changed.context, changed.document.root);
  EXPECT_EQ(changed.complaints_against(old.document.root),
            Lines{"roleRef: Invalid value: {\"APIGroup\":\"rbac.authorization.k8s.io\",\"Kind\":"
                  "\"Role\",\"Name\":\"b\"}: cannot change roleRef"});
  EXPECT_TRUE(changed.strategy->check_name("system:x", false).empty());
  EXPECT_FALSE(changed.strategy->check_name("a/b", false).empty());
}

TEST(Strategies, some_plain_kinds_must_say_something) {
  Trial storage("storage.k8s.io", "storageclasses", "{}");
  EXPECT_EQ(storage.complaints(), Lines{"provisioner: Required value"});
  Trial scaler("autoscaling", "horizontalpodautoscalers",
               R"({"spec":{"scaleTargetRef":{"name":"d"}}})");
  EXPECT_EQ(scaler.complaints(), Lines{"spec.scaleTargetRef.kind: Required value"});
  Trial status("autoscaling", "horizontalpodautoscalers", "{}", "status");
  EXPECT_EQ(status.complaints(), Lines{});
}

TEST(Strategies, defaults_are_the_same_the_second_time) {
  for (const auto& [group, plural, text] :
       std::initializer_list<std::tuple<std::string_view, std::string_view, std::string_view>>{
           {"", "pods", kPod},
           {"", "services", R"({"spec":{"ports":[{"port":80}],"type":"LoadBalancer"}})"},
           {"batch", "jobs", R"({"spec":{"template":{"spec":{"containers":[{"name":"c"}]}}}})"},
           {"batch", "cronjobs", R"({"spec":{"schedule":"* * * * *"}})"},
           {"apps", "deployments", R"({"spec":{}})"},
           {"apps", "statefulsets", R"({"spec":{}})"},
           {"apps", "daemonsets", R"({"spec":{}})"},
           {"", "limitranges", R"({"spec":{"limits":[{"type":"Container","max":{"cpu":"2"}}]}})"},
           {"networking.k8s.io", "networkpolicies", R"({"spec":{"egress":[{}]}})"},
       }) {
    Trial trial(group, plural, text);
    trial.strategy->set_defaults(trial.context, trial.document.root);
    const std::string once = json::to_text(trial.document.root);
    trial.strategy->set_defaults(trial.context, trial.document.root);
    EXPECT_EQ(json::to_text(trial.document.root), once) << plural;
  }
}

}  // namespace
}  // namespace codeflare::apiserver
