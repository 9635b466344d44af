#include "controllers/appwrapper/app_wrapper_controller.h"

#include "controllers/appwrapper/testing/queue_world.h"
#include "controllers/crds/ensure_crds.h"
#include "json/write.h"
#include "model/codec/pod.h"
#include "queue/marks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace codeflare::controllers::testing {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

const std::string kDispatchedHistory = "Init Queueing HeadOfLine Dispatched";

struct Cluster : QueueWorld {
  explicit Cluster(QueueControllersOptions options = {}) : QueueWorld(std::move(options)) {
    add_node("n1", "4");
    start();
  }
};

// The reasons of Events, sorted.
std::string reasons(const std::vector<kube::ObjectRef>& events) {
  std::vector<std::string> words;
  for (const kube::ObjectRef& event : events) {
    words.emplace_back(event->string_at({"reason"}));
  }
  std::ranges::sort(words);
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : " ") + word;
  }
  return text;
}

TEST(AppWrapperController, creates_the_items_of_one_that_fits_and_says_so) {
  Cluster c;
  c.create("a", job_item("a"));
  c.settle();
  EXPECT_EQ(c.history("a"), kDispatchedHistory) << c.message("a", "Queued");
  const model::AppWrapper wrapper = c.wrapper("a");
  EXPECT_EQ(wrapper.status.state, "Running");
  EXPECT_TRUE(wrapper.status.can_run);
  ASSERT_TRUE(wrapper.status.plan);
  ASSERT_EQ(wrapper.status.plan->places.size(), 1u);
  EXPECT_EQ(wrapper.status.plan->places[0].node, "n1");
  EXPECT_EQ(std::ranges::count(wrapper.metadata.finalizers, queue::kFinalizer), 1);
  kube::ObjectRef job = c.get(kJobs, "a");
  ASSERT_NE(job, nullptr);
  EXPECT_TRUE(is_owned_by(*job, wrapper.metadata.uid));
  EXPECT_EQ(label_of(*job, queue::kUidLabel), wrapper.metadata.uid);
  // The order of writes is that of the decision record: intent before the first object.
  EXPECT_EQ(c.wire.story(),
            (std::vector<std::string>{"PATCH appwrappers/a", "PUT appwrappers/a/status",
                                      "POST jobs", "PUT appwrappers/a/status"}));
}

TEST(AppWrapperController, writes_nothing_when_nothing_is_to_be_done) {
  Cluster c;
  c.create("a", job_item("a"));
  c.create("b", job_item("b", 9));
  c.settle();
  c.run_pod("a", "p0", "n1");
  c.settle(minutes(1));
  const std::uint64_t before = c.wire.writes();
  c.settle(std::chrono::hours(1));
  EXPECT_EQ(c.wire.writes(), before);
  // Nor does another process that begins with the same state.
  c.crash();
  c.start();
  c.settle(minutes(1));
  EXPECT_EQ(c.wire.writes(), 0u);
}

TEST(AppWrapperController, one_that_does_not_fit_waits_without_pods_and_says_why) {
  Cluster c;
  c.create("a", job_item("a", 3));
  c.settle();
  c.create("b", job_item("b", 2));
  c.settle();
  EXPECT_EQ(c.history("b"), "Init Queueing HeadOfLine Backoff");
  EXPECT_EQ(c.status("b").state, "Pending");
  EXPECT_EQ(c.status("b").queue_job_state, "Backoff");
  EXPECT_EQ(c.get(kJobs, "b"), nullptr);
  EXPECT_FALSE(c.message("b", "Queued").empty());
  c.remove(kAppWrappers, "a");
  c.settle();
  EXPECT_EQ(c.get(kAppWrappers, "a"), nullptr);
  EXPECT_EQ(c.history("b"), "Init Queueing HeadOfLine Backoff Dispatched");
  EXPECT_NE(c.get(kJobs, "b"), nullptr);
}

TEST(AppWrapperController, the_reason_follows_what_is_free_and_is_written_when_it_changes) {
  QueueWorld c;
  for (const std::string node : {"n1", "n2"}) {
    c.add_node(node, "2");
    for (const std::string pod : {"-a", "-b"}) {
      c.create(kPods, R"({"metadata":{"name":")" + node + pod + R"("},"spec":{"nodeName":")" +
                          node + R"(","containers":[{"name":"c","image":"i",
                          "resources":{"requests":{"cpu":"1"}}}]}})");
    }
  }
  c.start();
  const auto reason = [&](const std::string& name) {
    const model::AppWrapperCondition last = c.status(name).conditions.back();
    return last.type == "Queued" ? last.reason : "no Queued";
  };
  const auto end_pod = [&](const std::string& name) {
    c.remove(kPods, name, {.grace_period_seconds = 0});
    c.settle(seconds(10));
  };
  c.create("big", job_item("big", 1, "2"));
  c.settle(seconds(10));
  EXPECT_EQ(reason("big"), "InsufficientResources");
  end_pod("n1-a");
  EXPECT_EQ(reason("big"), "InsufficientResources");
  // Two CPUs are free, on two nodes.
  const std::uint64_t before = c.wire.writes();
  end_pod("n2-a");
  EXPECT_EQ(reason("big"), "Fragmented");
  EXPECT_TRUE(c.message("big", "Queued").contains("0 of 1 pods fit"));
  EXPECT_EQ(c.wire.writes(), before + 1);
  c.create("like-big", job_item("like-big", 1, "2"));
  c.settle(seconds(10));
  EXPECT_EQ(reason("like-big"), "Fragmented");
  c.create("small", job_item("small"));
  c.settle(seconds(10));
  EXPECT_EQ(reason("big"), "InsufficientResources");
  c.run_pod("small", "p0", c.status("small").plan.value().places.at(0).node);
  c.settle(minutes(1));
  const std::uint64_t told = c.wire.writes();
  c.settle(minutes(10));
  EXPECT_EQ(c.wire.writes(), told) << "nothing changed";
}

TEST(AppWrapperController, a_small_one_passes_a_large_one) {
  Cluster c;
  c.create("large", job_item("large", 9));
  c.create("small", job_item("small"));
  c.settle();
  EXPECT_EQ(c.status("large").state, "Pending");
  EXPECT_EQ(c.status("small").state, "Running");
}

TEST(AppWrapperController, completes_when_the_items_say_so_and_gives_its_places_back) {
  Cluster c;
  c.create("a", job_item("a", 4));
  c.settle();
  for (const char* pod : {"p0", "p1", "p2", "p3"}) {
    c.run_pod("a", pod, "n1");
  }
  c.settle(seconds(6));
  EXPECT_EQ(c.status("a").running, 4);
  EXPECT_EQ(c.status("a").total_cpu, 4000);
  EXPECT_EQ(c.history("a"), kDispatchedHistory + " Running");
  c.create("b", job_item("b"));
  for (const char* pod : {"p0", "p1", "p2", "p3"}) {
    c.set_phase(pod, "Succeeded");
  }
  c.complete("a");
  c.settle();
  EXPECT_EQ(c.status("a").state, "Completed");
  EXPECT_EQ(c.status("a").succeeded, 4);
  EXPECT_FALSE(c.status("a").plan);
  EXPECT_NE(c.get(kJobs, "a"), nullptr) << "its objects stay to be looked at";
  EXPECT_EQ(c.status("b").state, "Running");
  c.remove(kAppWrappers, "a");
  c.settle();
  EXPECT_EQ(c.get(kAppWrappers, "a"), nullptr);
  EXPECT_EQ(c.get(kJobs, "a"), nullptr);
}

TEST(AppWrapperController, a_job_that_fails_fails_its_wrapper) {
  Cluster c;
  c.create("a", job_item("a"));
  c.settle();
  c.run_pod("a", "p0", "n1", "Failed");
  const std::string now = to_rfc3339(c.env.clock.wall());
  c.patch(kJobs, "a",
          R"({"status":{"startTime":")" + now +
              R"(","conditions":[{"type":"FailureTarget","status":"True"},{"type":"Failed",)"
              R"("status":"True","reason":"BackoffLimitExceeded","message":"too often"}]}})",
          "status");
  c.settle();
  EXPECT_EQ(c.status("a").state, "Failed");
  EXPECT_TRUE(c.message("a", "Failed").contains("BackoffLimitExceeded: too often"))
      << c.message("a", "Failed");
}

TEST(AppWrapperController, an_unknown_kind_fails_with_the_reason_and_the_queue_goes_on) {
  Cluster c;
  c.create("a", R"({"custompodresources":[{"replicas":1,"requests":{"cpu":"1"}}],"generictemplate":
      {"apiVersion":"nowhere.example.com/v1","kind":"Nothing","metadata":{"name":"x"}}})");
  c.create("b", job_item("b", 4));
  c.settle();
  EXPECT_EQ(c.status("a").state, "Failed");
  EXPECT_FALSE(c.status("a").plan);
  EXPECT_TRUE(
      c.message("a", "Failed").starts_with("default/a creation failure: the server does not serve"))
      << c.message("a", "Failed");
  EXPECT_EQ(c.status("b").state, "Running");
}

TEST(AppWrapperController, one_that_cannot_be_understood_fails_with_the_field) {
  Cluster c;
  c.create("a", R"({"generictemplate":{"apiVersion":"v1","kind":"ConfigMap",
      "metadata":{"name":"x","namespace":"kube-system"}}})");
  c.create("b", R"({"generictemplate":{"apiVersion":"batch/v1","kind":"Job",
      "metadata":{"name":"x"},"spec":{"parallelism":-1}}})");
  c.create("empty", "");
  c.settle();
  EXPECT_EQ(c.status("a").state, "Failed");
  EXPECT_TRUE(c.message("a", "Failed").contains("GenericItems[0].generictemplate"))
      << c.message("a", "Failed");
  EXPECT_EQ(c.status("b").state, "Failed");
  EXPECT_TRUE(c.message("b", "Failed").contains("parallelism")) << c.message("b", "Failed");
  EXPECT_EQ(c.status("empty").state, "Failed");
  EXPECT_TRUE(c.message("empty", "Failed").contains("spec.resources.GenericItems: required"))
      << c.message("empty", "Failed");
  c.remove(kAppWrappers, "a");
  c.settle();
  EXPECT_EQ(c.get(kAppWrappers, "a"), nullptr);
}

TEST(AppWrapperController, one_that_cannot_even_be_read_fails_with_the_field_and_can_be_deleted) {
  Cluster c;
  // As a cluster with another definition of AppWrappers would store it.
  const model::ResourceType definitions{"apiextensions.k8s.io", "v1", "CustomResourceDefinition",
                                        "customresourcedefinitions", false};
  c.patch(definitions, "appwrappers.workload.codeflare.dev",
          R"({"spec":{"versions":[{"name":"v1beta1","served":true,"storage":true,
              "subresources":{"status":{}},"schema":{"openAPIV3Schema":{"type":"object",
              "x-kubernetes-preserve-unknown-fields":true}}}]}})");
  c.settle();
  c.create(kAppWrappers,
           R"({"apiVersion":"workload.codeflare.dev/v1beta1","kind":"AppWrapper",
      "metadata":{"name":"a","finalizers":["workload.codeflare.dev/finalizer"]},
      "spec":{"priority":"high"}})");
  c.create("b", job_item("b"));
  c.settle();
  const kube::ObjectRef failed = c.get(kAppWrappers, "a");
  ASSERT_NE(failed, nullptr);
  EXPECT_EQ(failed->string_at({"status", "state"}), "Failed");
  EXPECT_TRUE(failed->text().contains("default/a creation failure: spec.priority"))
      << failed->text();
  EXPECT_EQ(c.status("b").state, "Running");
  const std::size_t writes = c.wire.writes();
  c.patch(kAppWrappers, "a", R"({"metadata":{"labels":{"x":"y"}}})");
  c.settle();
  EXPECT_EQ(c.wire.writes(), writes) << "it was said once";
  c.remove(kAppWrappers, "a");
  c.settle();
  EXPECT_EQ(c.get(kAppWrappers, "a"), nullptr);
}

TEST(AppWrapperController, says_why_it_does_not_begin) {
  QueueWorld c;
  bool forbidden = true;
  c.wire.intercept = [&](const net::Request& request) -> std::optional<net::Response> {
    if (!forbidden || !request.target.contains("/configmaps")) {
      return std::nullopt;
    }
    return net::make_response(
        403, "application/json",
        Bytes::from(std::string(R"({"kind":"Status","status":"Failure","reason":"Forbidden",)"
                                R"("message":"configmaps is forbidden","code":403})")));
  };
  c.add_node("n1", "4");
  c.start();
  c.create("a", job_item("a"));
  c.settle(seconds(60));
  EXPECT_TRUE(c.status("a").state.empty());
  EXPECT_TRUE(c.why_not_ready().contains("configmaps is forbidden")) << c.why_not_ready();
  EXPECT_TRUE(c.log.has("configmaps default/codeflare-queue"));
  forbidden = false;
  c.settle(minutes(2));
  EXPECT_EQ(c.why_not_ready(), "");
  EXPECT_EQ(c.status("a").state, "Running");
}

TEST(AppWrapperController, an_item_the_server_refuses_takes_the_others_with_it) {
  Cluster c;
  c.create("a",
           R"({"generictemplate":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m"}}},
      {"generictemplate":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"n"},
       "data":{"bad key!":"x"}}})");
  c.settle();
  EXPECT_EQ(c.status("a").state, "Failed");
  EXPECT_EQ(c.get(kConfigMaps, "m"), nullptr) << "all or none";
  EXPECT_FALSE(c.status("a").plan);
}

TEST(AppWrapperController, two_that_claim_one_object_do_not_share_it) {
  Cluster c;
  c.create("a", job_item("same"));
  c.settle();
  c.create("b", job_item("same"));
  c.settle();
  EXPECT_EQ(c.status("a").state, "Running");
  EXPECT_EQ(c.status("b").state, "Failed");
  EXPECT_TRUE(c.message("b", "Failed").contains("claimed by AppWrapper a"))
      << c.message("b", "Failed");
  EXPECT_NE(c.get(kJobs, "same"), nullptr);
  c.remove(kAppWrappers, "b");
  c.settle();
  EXPECT_NE(c.get(kJobs, "same"), nullptr) << "it is not b's to delete";
}

TEST(AppWrapperController, one_without_enough_pods_is_withdrawn_and_its_wait_grows) {
  Cluster c;
  c.create("a", job_item("a"),
           R"("schedulingSpec":{"minAvailable":1,"requeuing":{"timeInSeconds":60}},)");
  c.settle();
  ASSERT_EQ(c.status("a").state, "Running");
  const std::string first(c.get(kJobs, "a")->uid());
  c.settle(seconds(62));
  EXPECT_EQ(c.history("a"), kDispatchedHistory + " PreemptCandidate Backoff");
  EXPECT_EQ(c.status("a").number_of_requeueings, 1);
  EXPECT_EQ(c.status("a").requeueing_time_in_seconds, 120);
  EXPECT_EQ(c.status("a").state, "Running") << "its place is free, so it starts again";
  const std::string second(c.get(kJobs, "a")->uid());
  EXPECT_NE(first, second);
  c.settle(seconds(60));
  EXPECT_EQ(c.get(kJobs, "a")->uid(), second);
  c.settle(seconds(62));
  EXPECT_EQ(c.status("a").number_of_requeueings, 2);
}

TEST(AppWrapperController, deletion_waits_for_the_pods_and_only_then_frees_the_places) {
  Cluster c;
  c.create("a", job_item("a", 4));
  c.settle();
  c.run_pod("a", "p0", "n1");
  c.patch(kPods, "p0", R"({"metadata":{"finalizers":["example.com/slow"]}})");
  c.create("b", job_item("b"));
  c.settle();
  c.remove(kAppWrappers, "a");
  c.settle(minutes(2));
  EXPECT_EQ(c.get(kJobs, "a"), nullptr);
  ASSERT_NE(c.get(kAppWrappers, "a"), nullptr);
  EXPECT_EQ(c.status("b").state, "Pending");
  c.patch(kPods, "p0", R"({"metadata":{"finalizers":null}})");
  c.remove(kPods, "p0", {.grace_period_seconds = 0});
  c.settle();
  EXPECT_EQ(c.get(kAppWrappers, "a"), nullptr);
  EXPECT_EQ(c.status("b").state, "Running");
}

TEST(AppWrapperController, pods_that_do_not_go_are_deleted_without_grace_after_a_while) {
  Cluster c;
  c.create("a", job_item("a"),
           R"("schedulingSpec":{"requeuing":{"forceDeletionTimeInSeconds":100}},)");
  c.settle();
  c.run_pod("a", "p0", "n1");  // no kubelet ever confirms its end
  c.remove(kAppWrappers, "a");
  c.settle(seconds(95));
  EXPECT_NE(c.get(kPods, "p0"), nullptr);
  c.settle(seconds(40));
  EXPECT_EQ(c.get(kPods, "p0"), nullptr);
  EXPECT_EQ(c.get(kAppWrappers, "a"), nullptr);
}

TEST(AppWrapperController, suspending_takes_it_back_and_resuming_starts_it_again) {
  Cluster c;
  c.create("a", job_item("a"));
  c.settle();
  c.patch(kAppWrappers, "a", R"({"spec":{"suspend":true}})");
  c.settle(seconds(2));
  EXPECT_EQ(c.get(kJobs, "a"), nullptr);
  EXPECT_EQ(c.status("a").state, "Pending");
  EXPECT_FALSE(c.status("a").plan);
  EXPECT_EQ(c.status("a").number_of_requeueings, 0);
  c.settle(minutes(1));
  EXPECT_EQ(c.get(kJobs, "a"), nullptr);
  c.patch(kAppWrappers, "a", R"({"spec":{"suspend":false}})");
  c.settle(seconds(2));
  EXPECT_NE(c.get(kJobs, "a"), nullptr);
  EXPECT_EQ(c.status("a").state, "Running");
}

TEST(AppWrapperController, nothing_starts_while_the_queue_is_paused) {
  Cluster c;
  c.create(kConfigMaps, R"({"metadata":{"name":"codeflare-queue"},"data":{"paused":"true"}})");
  c.settle();
  c.create("a", job_item("a"));
  c.settle(minutes(1));
  EXPECT_EQ(c.status("a").state, "Pending");
  EXPECT_EQ(c.get(kJobs, "a"), nullptr);
  c.patch(kConfigMaps, "codeflare-queue", R"({"data":{"paused":"false"}})");
  c.settle();
  EXPECT_EQ(c.status("a").state, "Running");
}

TEST(AppWrapperController, a_finished_one_expires_when_it_says_so) {
  Cluster c;
  c.create("a", job_item("a"), R"("ttlSecondsAfterFinished":60,)");
  c.settle();
  c.run_pod("a", "p0", "n1", "Succeeded");
  c.complete("a");
  c.settle(seconds(50));
  EXPECT_EQ(c.status("a").state, "Completed");
  c.settle(seconds(20));
  EXPECT_EQ(c.get(kAppWrappers, "a"), nullptr);
  EXPECT_EQ(c.get(kJobs, "a"), nullptr);
}

TEST(AppWrapperController, a_server_that_stumbles_delays_a_dispatch_and_does_not_fail_it) {
  Cluster c;
  int refusals = 3;
  c.wire.intercept = [&](const net::Request& request) -> std::optional<net::Response> {
    if (request.method == "POST" && request.target.contains("/jobs") && refusals-- > 0) {
      return net::make_response(500, "text/plain", Bytes::from(std::string("no")));
    }
    return std::nullopt;
  };
  c.create("a", job_item("a"));
  c.settle(seconds(5));
  EXPECT_EQ(c.status("a").state, "Running");
  EXPECT_EQ(c.history("a"), kDispatchedHistory);
}

TEST(AppWrapperController, an_item_deleted_by_somebody_else_fails_it) {
  Cluster c;
  c.create("a", job_item("a"));
  c.settle();
  c.remove(kJobs, "a", {.propagation_policy = "Background"});
  c.settle();
  EXPECT_EQ(c.status("a").state, "Failed");
  EXPECT_TRUE(c.message("a", "Failed").contains("deleted by another client"));
}

TEST(AppWrapperController, pods_are_bound_as_planned_when_asked_for) {
  QueueControllersOptions options;
  options.queue.binds = queue::Binds::gangs;
  Cluster c(options);
  c.create("a", job_item("a"));
  c.settle();
  EXPECT_EQ(c.get(kJobs, "a")->string_at({"spec", "template", "spec", "schedulerName"}),
            "codeflare");
  c.run_pod("a", "p0", "", "Pending");
  c.settle();
  EXPECT_EQ(c.get(kPods, "p0")->string_at({"spec", "nodeName"}), "n1");
}

TEST(AppWrapperController, a_pod_beyond_the_plan_is_told_before_it_has_a_node) {
  for (const queue::Binds binds : {queue::Binds::nothing, queue::Binds::gangs}) {
    QueueControllersOptions options;
    options.queue.binds = binds;
    Cluster c(options);
    c.create("a", job_item("a", 1, "4"));
    c.settle();
    c.run_pod("a", "p0", "n1");
    c.run_pod("a", "p1", "", "Pending");
    c.settle(std::chrono::seconds(10));
    EXPECT_EQ(c.status("a").message, "1 pod beyond the plan: p1 without a node");
    const model::Pod pod = c.get(kPods, "p1")->as<model::Pod>().value();
    const model::Condition* told = model::find_condition(pod.status.conditions, "PodScheduled");
    EXPECT_EQ(told != nullptr, binds == queue::Binds::gangs) << "whoever binds says why not";
    c.settle(minutes(30));
    EXPECT_EQ(c.status("a").state, "Running") << "it is no reason to withdraw the others";
  }
}

TEST(AppWrapperController, a_pod_of_nobody_that_fits_nowhere_says_why) {
  QueueControllersOptions options;
  options.queue.binds = queue::Binds::all;
  Cluster c(options);
  const auto create = [&](const std::string& name, const std::string& cpus) {
    c.create(kPods, R"({"metadata":{"name":")" + name +
                        R"("},"spec":{"containers":[{"name":"c",
        "image":"i","resources":{"requests":{"cpu":")" +
                        cpus + R"("}}}]}})");
  };
  const auto scheduled = [&](const std::string& name) {
    const model::Pod pod = c.get(kPods, name)->as<model::Pod>().value();
    const model::Condition* found = model::find_condition(pod.status.conditions, "PodScheduled");
    return found == nullptr ? "" : found->status + " " + found->reason + ": " + found->message;
  };
  create("huge", "64");
  create("first", "3");
  c.settle();
  create("second", "2");
  c.settle();
  EXPECT_EQ(
      scheduled("huge"),
      "False Unschedulable: 0/1 nodes are available: needs 64 CPUs, at most 4 free on one node");
  EXPECT_EQ(
      scheduled("second"),
      "False Unschedulable: 0/1 nodes are available: needs 2 CPUs, at most 1 free on one node");
  const std::vector<kube::ObjectRef> events = c.list(kEvents);
  EXPECT_EQ(std::ranges::count_if(events,
                                  [](const kube::ObjectRef& event) {
                                    return event->string_at({"reason"}) == "FailedScheduling" &&
                                           event->string_at({"involvedObject", "kind"}) == "Pod";
                                  }),
            2);
  const std::uint64_t before = c.wire.writes();
  c.settle(minutes(10));
  EXPECT_EQ(c.wire.writes(), before) << "it is said once";
  c.remove(kPods, "first", {.grace_period_seconds = 0});
  c.settle();
  EXPECT_EQ(c.get(kPods, "second")->string_at({"spec", "nodeName"}), "n1");
  EXPECT_TRUE(scheduled("second").starts_with("True")) << scheduled("second");
}

TEST(AppWrapperController, what_mcad_dispatched_is_adopted) {
  QueueWorld c;
  c.add_node("n1", "4");
  c.create("a", job_item("a"));
  const std::string uid(c.get(kAppWrappers, "a")->uid());
  c.create(kJobs, R"({"metadata":{"name":"a","labels":{"appwrapper.mcad.ibm.com":"a"},
      "ownerReferences":[{"apiVersion":"workload.codeflare.dev/v1beta1","kind":"AppWrapper",
      "name":"a","uid":")" +
                      uid + R"(","controller":true}]},
      "spec":{"template":{"metadata":{"labels":{"appwrapper.mcad.ibm.com":"a"}},
      "spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i",
      "resources":{"requests":{"cpu":"1"}}}]}}}})");
  c.patch(kAppWrappers, "a",
          R"({"status":{"state":"Running","canrun":true,"queuejobstate":"Dispatched",
          "conditions":[{"type":"Init","status":"True"}]}})",
          "status");
  const std::string job(c.get(kJobs, "a")->uid());
  c.run_pod("a", "p0", "n1");
  c.start();
  c.settle(seconds(6));
  EXPECT_EQ(c.status("a").state, "Running");
  EXPECT_TRUE(c.status("a").plan);
  EXPECT_EQ(c.status("a").running, 1);
  EXPECT_EQ(c.get(kJobs, "a")->uid(), job);
  c.set_phase("p0", "Succeeded");
  c.complete("a");
  c.settle();
  EXPECT_EQ(c.status("a").state, "Completed");
}

TEST(AppWrapperController, one_that_is_scaled_down_lets_others_have_its_places) {
  Cluster c;
  c.create("a", job_item("a", 3));
  c.settle();
  for (const char* pod : {"p0", "p1", "p2"}) {
    c.run_pod("a", pod, "n1");
  }
  c.create("b", job_item("b", 3));
  c.settle();
  EXPECT_FALSE(c.status("b").can_run);
  c.patch(kJobs, "a", R"({"spec":{"parallelism":1}})");
  c.remove(kPods, "p1", {.grace_period_seconds = 0});
  c.remove(kPods, "p2", {.grace_period_seconds = 0});
  c.settle();
  EXPECT_TRUE(c.status("b").can_run) << c.message("b", "Queued");
  EXPECT_EQ(c.status("a").state, "Running");
}

// KubeRay makes these pods, and the AppWrappers of MCAD's own examples put no label into them.
TEST(AppWrapperController, pods_of_an_adopted_ray_cluster_need_no_label) {
  const model::ResourceType kRayClusters{"ray.io", "v1", "RayCluster", "rayclusters", true};
  QueueWorld c;
  ASSERT_TRUE(*run(c.env.loop, ensure_crds(c.admin, {.ray_cluster = true})));
  c.add_node("n1", "4");
  const std::string pods = R"("template":{"spec":{"containers":[{"name":"c","image":"i",
      "resources":{"requests":{"cpu":"1"}}}]}}})";
  const std::string spec = R"("spec":{"headGroupSpec":{"rayStartParams":{},)" + pods +
                           R"(,"workerGroupSpecs":[{"groupName":"w","replicas":1,"minReplicas":1,
      "maxReplicas":1,"rayStartParams":{},)" +
                           pods + "]}";
  c.create("a",
           R"({"custompodresources":[{"replicas":1,"requests":{"cpu":"1"}},
      {"replicas":1,"requests":{"cpu":"1"}}],"generictemplate":{"apiVersion":"ray.io/v1",
      "kind":"RayCluster","metadata":{"name":"ray"},)" +
               spec + "}}",
           R"("schedulingSpec":{"minAvailable":2,"requeuing":{"timeInSeconds":60}},)");
  const std::string uid(c.get(kAppWrappers, "a")->uid());
  c.create(kRayClusters, R"({"apiVersion":"ray.io/v1","kind":"RayCluster","metadata":{"name":"ray",
      "labels":{"appwrapper.mcad.ibm.com":"a"},"ownerReferences":[{
      "apiVersion":"workload.codeflare.dev/v1beta1","kind":"AppWrapper","name":"a","uid":")" +
                             uid + R"(","controller":true}]},)" + spec + "}");
  const std::string owner(c.get(kRayClusters, "ray")->uid());
  for (const char* name : {"head", "worker"}) {
    c.create(kPods, R"({"metadata":{"name":")" + std::string(name) + R"(","ownerReferences":[{
        "apiVersion":"ray.io/v1","kind":"RayCluster","name":"ray","uid":")" +
                        owner + R"(","controller":true}]},"spec":{"nodeName":"n1","containers":[
        {"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]}})");
    c.set_phase(name, "Running");
  }
  c.patch(kAppWrappers, "a",
          R"({"status":{"state":"Running","canrun":true,"queuejobstate":"Dispatched",
          "conditions":[{"type":"Init","status":"True"}]}})",
          "status");
  c.start();
  c.settle(seconds(6));
  EXPECT_EQ(c.status("a").running, 2);
  c.settle(minutes(5));
  EXPECT_EQ(c.status("a").state, "Running") << "enough of its pods run";
  EXPECT_EQ(c.get(kRayClusters, "ray")->uid(), owner);
  c.remove(kAppWrappers, "a");
  c.settle(seconds(5));
  EXPECT_EQ(c.list(kAppWrappers).size(), 1U) << "its pods are still there";
  for (const char* name : {"head", "worker"}) {
    c.remove(kPods, name, {.grace_period_seconds = 0});
  }
  c.settle(seconds(10));
  EXPECT_TRUE(c.list(kAppWrappers).empty());
}

TEST(AppWrapperController, tells_what_happened_with_events_and_metrics) {
  QueueControllersOptions options;
  MetricsRegistry metrics;
  options.metrics = &metrics;
  Cluster c(options);
  c.create("a", job_item("a"));
  c.create("b", job_item("b", 9));
  c.settle(seconds(2));
  const std::string text = metrics.expose();
  EXPECT_TRUE(text.contains("codeflare_queue_waiting 1")) << text;
  EXPECT_TRUE(text.contains("codeflare_appwrapper_transitions_total{what=\"Dispatched\"} 1"));
  EXPECT_TRUE(text.contains("codeflare_appwrappers{state=\"Pending\"} 1"));
  EXPECT_TRUE(text.contains("codeflare_appwrappers{state=\"Running\"} 1"));
  EXPECT_TRUE(text.contains("codeflare_queue_wait_seconds_count 1"));
  EXPECT_EQ(reasons(c.list(kEvents)), "Dispatched");
  c.remove(kJobs, "a", {.propagation_policy = "Background"});
  c.settle(seconds(2));
  EXPECT_EQ(reasons(c.list(kEvents)), "Dispatched Failed");
}

TEST(AppWrapperController, many_that_go_well_write_few_events) {
  Cluster c;
  c.add_node("large", "100");
  for (int i = 0; i < 60; ++i) {
    const std::string name = "w" + std::to_string(i);
    c.create(name, job_item(name));
  }
  c.settle(seconds(2));
  ASSERT_EQ(c.status("w59").state, "Running");
  EXPECT_LE(c.list(kEvents).size(), 30u);
}

TEST(AppWrapperController, a_life_without_trouble_takes_six_writes_and_two_events) {
  Cluster c;
  c.create("first", job_item("first", 4));
  c.settle();
  const std::uint64_t before = c.wire.writes();
  const std::uint64_t events_before = c.wire.events();
  // Its creation is the first; admission brings the finalizer along.
  c.create(kAppWrappers,
           R"({"apiVersion":"workload.codeflare.dev/v1beta1","kind":"AppWrapper",
           "metadata":{"name":"a","finalizers":["workload.codeflare.dev/finalizer"]},
           "spec":{"resources":{"GenericItems":[)" +
               job_item("a") + "]}}}");
  c.settle();
  ASSERT_EQ(c.history("a"), "Init Queueing HeadOfLine Backoff");
  c.remove(kAppWrappers, "first");
  c.settle();
  const std::uint64_t others = 2;  // the end of the first one: its Job, and letting go of it
  ASSERT_EQ(c.status("a").state, "Running");
  c.run_pod("a", "p0", "n1");
  c.settle();
  c.set_phase("p0", "Succeeded");
  c.complete("a");
  c.settle();
  ASSERT_EQ(c.status("a").state, "Completed");
  c.settle(minutes(1));
  EXPECT_LE(1 + c.wire.writes() - before - others, 6u);
  EXPECT_EQ(c.wire.events() - events_before, 2u) << reasons(c.list(kEvents));
}

// --- crashes ---

constexpr std::uint64_t kNever = 1'000'000;

// One life: waits, runs, completes, is deleted; the process ends at write number `at` of it.
std::string live(QueueWorld& c, std::uint64_t at, bool lost_reply) {
  c.add_node("n1", "4");
  c.start();
  int crashes = 0;
  const auto revive = [&] {
    c.settle(seconds(3));
    if (c.wire.is_cut()) {
      crashes += 1;
      c.crash();
      c.settle(seconds(1));
      c.start();
      c.settle(seconds(3));
    }
  };
  c.wire.cut(at, lost_reply);
  c.create("first", job_item("first", 4));
  revive();
  EXPECT_EQ(c.status("first").state, "Running");
  kube::ObjectRef job = c.get(kJobs, "first");
  if (job == nullptr) {
    return "the first Job is missing";
  }
  c.create("a", job_item("a", 2));
  revive();
  EXPECT_EQ(c.status("a").state, "Pending");
  c.patch(kAppWrappers, "first", R"({"spec":{"suspend":true}})");
  revive();
  EXPECT_EQ(c.status("first").state, "Pending");
  EXPECT_EQ(c.get(kJobs, "first"), nullptr);
  EXPECT_EQ(c.status("a").state, "Running");
  const kube::ObjectRef second = c.get(kJobs, "a");
  if (second == nullptr) {
    return "the second Job is missing";
  }
  c.run_pod("a", "p0", "n1");
  revive();
  c.set_phase("p0", "Succeeded");
  c.complete("a");
  revive();
  EXPECT_EQ(c.status("a").state, "Completed");
  EXPECT_EQ(c.get(kJobs, "a")->uid(), second->uid()) << "created once";
  c.remove(kAppWrappers, "a");
  revive();
  EXPECT_EQ(c.get(kAppWrappers, "a"), nullptr);
  EXPECT_EQ(c.get(kJobs, "a"), nullptr);
  EXPECT_EQ(crashes, at < kNever ? 1 : 0);
  return c.history("first");
}

TEST(AppWrapperController, a_crash_at_any_write_changes_nothing_in_the_end) {
  std::uint64_t writes = 0;
  std::string expected;
  {
    QueueWorld c;
    expected = live(c, kNever, false);
    writes = c.wire.writes();
  }
  ASSERT_GT(writes, 10u);
  for (std::uint64_t at = 1; at <= writes; ++at) {
    for (const bool lost_reply : {false, true}) {
      SCOPED_TRACE("write " + std::to_string(at) + (lost_reply ? ", reply lost" : ", not sent"));
      QueueWorld c;
      EXPECT_EQ(live(c, at, lost_reply), expected);
    }
  }
}

// --- quota ---

TEST(QuotaController, fills_the_status_of_quota_subtrees) {
  Cluster c;
  c.create(kQuotaSubtrees, R"({"apiVersion":"quota.codeflare.dev/v1alpha1","kind":"QuotaSubtree",
      "metadata":{"name":"q","labels":{"tree":"team"}},
      "spec":{"children":[{"name":"default","quotas":{"requests":{"cpu":"3"}}}]}})");
  c.create("a", job_item("a", 2));
  c.settle(seconds(3));
  ASSERT_EQ(c.status("a").state, "Running");
  kube::ObjectRef quota = c.get(kQuotaSubtrees, "q");
  json::Document document = *quota->parse();
  const json::Value* children = document.root.get({"status", "children"});
  ASSERT_NE(children, nullptr) << json::to_text(document.root);
  ASSERT_EQ(children->size(), 1u);
  EXPECT_EQ(children->items()[0].get({"allocated", "cpu"})->as_string(), "2");
  c.create("b", job_item("b", 2));
  c.settle(seconds(3));
  EXPECT_EQ(c.status("b").state, "Pending");
  EXPECT_EQ(c.message("b", "Backoff"),
            "Insufficient quota and/or resources to dispatch AppWrapper.");
  const std::uint64_t before = c.wire.writes();
  c.settle(minutes(4));
  EXPECT_EQ(c.wire.writes(), before);
}

}  // namespace
}  // namespace codeflare::controllers::testing
