#include "controllers/appwrapper/item_watch.h"
#include "controllers/appwrapper/testing/queue_world.h"
#include "queue/marks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

// Mistakes of users, servers and other controllers, and the work that must go on anyway.
namespace codeflare::controllers::testing {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

const model::ResourceType kSecrets{"", "v1", "Secret", "secrets", true};

net::Response answer(int status, std::string reason) {
  return net::make_response(status, "application/json",
                            Bytes::from(R"({"kind":"Status","apiVersion":"v1","status":"Failure",)"
                                        R"("code":)" +
                                        std::to_string(status) + R"(,"reason":")" + reason +
                                        R"(","message":")" + reason + R"("})"));
}

bool has_event(QueueWorld& c, const std::string& reason) {
  return std::ranges::any_of(c.list(kEvents), [&](const kube::ObjectRef& event) {
    return event->string_at({"reason"}) == reason;
  });
}

std::string event_message(QueueWorld& c, const std::string& reason) {
  for (const kube::ObjectRef& event : c.list(kEvents)) {
    if (event->string_at({"reason"}) == reason) {
      return event->string_at({"message"});
    }
  }
  return "";
}

// AppWrapper a runs on the whole node, and somebody's finalizer keeps its pod.
void run_with_a_kept_pod(QueueWorld& c, int patience_seconds) {
  c.add_node("n1", "4");
  c.start();
  c.create("a", job_item("a", 4),
           R"("schedulingSpec":{"requeuing":{"forceDeletionTimeInSeconds":)" +
               std::to_string(patience_seconds) + "}},");
  c.settle();
  c.run_pod("a", "p0", "n1");
  c.patch(kPods, "p0", R"({"metadata":{"finalizers":["example.com/slow"]}})");
}

std::string secret_item(const std::string& name) {
  return R"({"generictemplate":{"apiVersion":"v1","kind":"Secret","metadata":{"name":")" + name +
         R"("}}})";
}

// --- kinds ---

TEST(AppWrapperTrouble, a_kind_that_cannot_be_listed_stops_nobody) {
  QueueControllersOptions options;
  options.workers = 4;
  QueueWorld c(options);
  c.add_node("n1", "4");
  c.wire.intercept = [](const net::Request& request) -> std::optional<net::Response> {
    if (request.method == "GET" && request.target.contains("/api/v1/secrets")) {
      return answer(405, "MethodNotAllowed");
    }
    return std::nullopt;
  };
  c.start();
  for (int i = 0; i < 9; ++i) {
    const std::string name = "s" + std::to_string(i);
    c.create(name, secret_item(name));
  }
  c.settle(seconds(20));
  c.create("a", job_item("a"));
  c.settle(seconds(2));
  EXPECT_EQ(c.status("a").state, "Running");
  c.run_pod("a", "p0", "n1", "Succeeded");
  c.complete("a");
  c.settle(seconds(2));
  EXPECT_EQ(c.status("a").state, "Completed");
  // They are looked at and deleted by name.
  EXPECT_EQ(c.status("s8").state, "Running");
  c.remove(kSecrets, "s8");
  c.settle(seconds(40));
  EXPECT_EQ(c.status("s8").state, "Failed");
  c.remove(kAppWrappers, "s0");
  c.settle(seconds(5));
  EXPECT_EQ(c.get(kAppWrappers, "s0"), nullptr);
  EXPECT_EQ(c.get(kSecrets, "s0"), nullptr);
}

TEST(AppWrapperTrouble, what_can_only_be_created_is_refused) {
  QueueWorld c;
  c.add_node("n1", "4");
  c.start();
  c.create("a", R"({"generictemplate":{"apiVersion":"authorization.k8s.io/v1",
      "kind":"LocalSubjectAccessReview","metadata":{"name":"x"},"spec":{"user":"u"}}})");
  c.settle(seconds(10));
  EXPECT_EQ(c.status("a").state, "Failed");
  EXPECT_FALSE(c.status("a").plan);
  EXPECT_TRUE(c.message("a", "Failed").contains("cannot be wrapped")) << c.message("a", "Failed");
}

// --- what is not ours ---

TEST(AppWrapperTrouble, a_copy_of_an_item_is_nobodys) {
  QueueWorld c;
  c.add_node("n1", "4");
  c.start();
  c.create("a", R"({"generictemplate":{"apiVersion":"v1","kind":"ConfigMap",
      "metadata":{"name":"m"}}})");
  c.settle();
  const std::string uid = c.wrapper("a").metadata.uid;
  c.create(kConfigMaps, R"({"metadata":{"name":"copy","labels":{")" +
                            std::string(queue::kAppWrapperLabel) + R"(":"a",")" +
                            std::string(queue::kUidLabel) + R"(":")" + uid + R"("}}})");
  c.settle();
  c.remove(kAppWrappers, "a");
  c.settle(seconds(2));
  EXPECT_EQ(c.get(kAppWrappers, "a"), nullptr);
  EXPECT_EQ(c.get(kConfigMaps, "m"), nullptr);
  EXPECT_NE(c.get(kConfigMaps, "copy"), nullptr);
}

TEST(AppWrapperTrouble, only_items_are_remembered_when_they_are_gone) {
  QueueWorld c;
  ItemWatch watch(c.env, c.admin, {});
  watch.set_wanted([](const std::string& uid, const model::ResourceType&,
                      const model::ObjectKey& key) { return uid == "u" && key.name == "item"; });
  TaskGroup group(c.env.loop);
  group.spawn(watch.run());
  ASSERT_TRUE(*run(c.env.loop, watch.informer(kConfigMaps)));
  for (const std::string name : {"item", "other"}) {
    c.create(kConfigMaps, R"({"metadata":{"name":")" + name + R"(","labels":{")" +
                              std::string(queue::kAppWrapperLabel) + R"(":"a",")" +
                              std::string(queue::kUidLabel) + R"(":"u"}}})");
    c.settle();
    c.remove(kConfigMaps, name);
  }
  c.settle();
  EXPECT_NE(watch.departed("u", kConfigMaps, {"default", "item"}), nullptr);
  EXPECT_EQ(watch.departed("u", kConfigMaps, {"default", "other"}), nullptr);
  ASSERT_TRUE(run(c.env.loop, group.close()));
}

TEST(AppWrapperTrouble, an_item_without_our_labels_is_not_lost) {
  QueueWorld c;
  c.add_node("n1", "4");
  c.start();
  c.create("a", job_item("a"));
  c.settle();
  c.run_pod("a", "p0", "n1");
  c.patch(kJobs, "a",
          R"({"metadata":{"labels":{")" + std::string(queue::kAppWrapperLabel) + R"(":null,")" +
              std::string(queue::kUidLabel) + R"(":null}}})");
  c.settle(minutes(1));
  EXPECT_EQ(c.status("a").state, "Running") << c.message("a", "Failed");
  EXPECT_NE(c.get(kJobs, "a"), nullptr);
}

TEST(AppWrapperTrouble, a_finished_item_that_is_tidied_up_is_no_loss) {
  QueueWorld c;
  c.add_node("n1", "4");
  c.start();
  // The other item runs on, so the Job is not awaited.
  std::string item = job_item("a");
  item.erase(item.find(R"("completionstatus":"Complete",)"), 30);
  c.create("a", item + R"(,{"generictemplate":{"apiVersion":"v1","kind":"Pod",
      "metadata":{"name":"stays"},"spec":{"containers":[{"name":"c","image":"i"}]}}})");
  c.settle();
  c.run_pod("a", "p0", "n1", "Succeeded");
  c.complete("a");
  c.settle(seconds(6));
  c.remove(kJobs, "a", {.propagation_policy = "Background"});
  c.settle(minutes(1));
  EXPECT_EQ(c.status("a").state, "Running") << c.message("a", "Failed");
}

// --- caches that are behind ---

TEST(AppWrapperTrouble, a_new_process_does_not_begin_with_an_old_view) {
  QueueWorld c;
  c.add_node("n1", "4");
  c.create("b", job_item("b", 4), R"("priority":10,)");
  c.create("a", job_item("a", 4));
  // The answer of a server that lags behind: both wait.
  auto old = *run(c.env.loop, c.admin.raw({.target = "/apis/workload.codeflare.dev/v1beta1/"
                                                     "appwrappers"}));
  ASSERT_TRUE(old);
  c.remove(kAppWrappers, "b");
  c.start();
  c.settle();
  ASSERT_EQ(c.status("a").state, "Running");
  const std::string job(c.get(kJobs, "a")->uid());
  c.crash();
  bool told = false;
  c.wire.intercept = [&](const net::Request& request) -> std::optional<net::Response> {
    if (request.method != "GET" || !request.target.contains("v1beta1/appwrappers?")) {
      return std::nullopt;
    }
    if (request.target.contains("sendInitialEvents")) {
      return answer(400, "BadRequest");
    }
    if (request.target.contains("resourceVersion=0") && !told) {
      told = true;
      return net::make_response(200, "application/json", Bytes::from(old->body));
    }
    return std::nullopt;
  };
  c.start();
  c.settle(seconds(5));
  EXPECT_TRUE(told);
  EXPECT_EQ(c.status("a").state, "Running");
  EXPECT_EQ(c.history("a"), "Init Queueing HeadOfLine Dispatched") << "it was never withdrawn";
  ASSERT_NE(c.get(kJobs, "a"), nullptr);
  EXPECT_EQ(c.get(kJobs, "a")->uid(), job);
}

TEST(AppWrapperTrouble, places_are_held_for_pods_that_the_cache_does_not_show_yet) {
  QueueWorld c;
  c.add_node("n1", "4");
  c.wire.intercept = [](const net::Request& request) -> std::optional<net::Response> {
    const bool watches = request.method == "GET" && request.target.contains("/api/v1/pods?") &&
                         request.target.contains("watch=");
    if (!watches) {
      return std::nullopt;
    }
    return request.target.contains("sendInitialEvents") ? answer(400, "BadRequest")
                                                        : answer(503, "ServiceUnavailable");
  };
  c.start();
  c.create("a", job_item("a", 4));
  c.settle(seconds(2));
  ASSERT_EQ(c.status("a").state, "Running");
  c.run_pod("a", "p0", "n1");
  c.patch(kAppWrappers, "a", R"({"spec":{"suspend":true}})");
  c.settle(seconds(5));
  EXPECT_EQ(c.get(kJobs, "a"), nullptr);
  EXPECT_TRUE(c.status("a").plan) << "its pod is still there";
  c.remove(kPods, "p0", {.grace_period_seconds = 0});
  c.settle(seconds(40));
  EXPECT_FALSE(c.status("a").plan);
}

TEST(AppWrapperTrouble, what_ran_before_a_crash_does_not_run_again) {
  QueueWorld c;
  c.add_node("n1", "4");
  c.start();
  // The process dies after both items were created, before it could say so.
  c.wire.cut(5, false);
  c.create("a", job_item("first") + "," + job_item("second"));
  c.settle(seconds(2));
  ASSERT_TRUE(c.wire.is_cut());
  ASSERT_NE(c.get(kJobs, "second"), nullptr);
  c.crash();
  // Meanwhile the first one ends, and whoever tidies up removes it.
  c.remove(kJobs, "first", {.propagation_policy = "Background"});
  c.start();
  c.settle(seconds(5));
  EXPECT_EQ(std::ranges::count(c.wire.story(), "POST jobs"), 2) << "by both processes";
  EXPECT_EQ(c.get(kJobs, "first"), nullptr);
}

// --- what does not end ---

TEST(AppWrapperTrouble, an_item_that_keeps_a_finalizer_does_not_keep_the_places) {
  QueueWorld c;
  c.add_node("n1", "4");
  c.start();
  c.create("a", job_item("a", 4),
           R"("schedulingSpec":{"requeuing":{"forceDeletionTimeInSeconds":120}},)");
  c.settle();
  c.patch(kJobs, "a", R"({"metadata":{"finalizers":["example.com/operator-is-down"]}})");
  c.create("b", job_item("b"));
  c.remove(kAppWrappers, "a");
  c.settle(seconds(70));
  EXPECT_EQ(c.status("b").state, "Pending");
  EXPECT_TRUE(c.status("a").message.contains("jobs.batch default/a")) << c.status("a").message;
  c.settle(seconds(60));
  EXPECT_EQ(c.get(kAppWrappers, "a"), nullptr);
  EXPECT_EQ(c.status("b").state, "Running");
  EXPECT_TRUE(has_event(c, "Abandoned"));
}

TEST(AppWrapperTrouble, pods_that_somebodys_finalizer_keeps_are_named_while_they_run_and_after) {
  QueueWorld c;
  run_with_a_kept_pod(c, 120);
  c.create("b", job_item("b"));
  c.remove(kAppWrappers, "a");
  c.settle(seconds(100));
  const std::string stays = "waiting for pod p0 (finalizers example.com/slow) to terminate";
  EXPECT_EQ(c.status("a").message, stays);
  EXPECT_FALSE(has_event(c, "Stuck")) << "it has time";
  c.settle(seconds(60));
  ASSERT_TRUE(has_event(c, "Stuck"));
  const std::uint64_t told = c.wire.events();
  c.settle(minutes(30));
  EXPECT_EQ(c.wire.events(), told) << "it is said once";
  EXPECT_EQ(c.status("b").state, "Pending") << "the pod may still run";
  c.set_phase("p0", "Failed");
  c.settle(seconds(60));
  EXPECT_EQ(c.get(kAppWrappers, "a"), nullptr);
  EXPECT_EQ(c.status("b").state, "Running");
  const std::string abandoned = event_message(c, "Abandoned");
  EXPECT_TRUE(
      abandoned.starts_with("pod p0 (finalizers example.com/slow) did not terminate in time"))
      << abandoned;
}

TEST(AppWrapperTrouble, with_little_patience_what_stays_is_named_all_the_same) {
  QueueWorld c;
  run_with_a_kept_pod(c, 10);
  c.remove(kAppWrappers, "a");
  c.settle(seconds(15));
  EXPECT_EQ(c.status("a").message, "waiting for pod p0 (finalizers example.com/slow) to terminate");
  EXPECT_TRUE(event_message(c, "Stuck").contains("pod p0")) << event_message(c, "Stuck");
  c.set_phase("p0", "Failed");
  c.settle(seconds(40));
  EXPECT_EQ(c.get(kAppWrappers, "a"), nullptr);
  EXPECT_TRUE(event_message(c, "Abandoned").starts_with("pod p0 (finalizers example.com/slow)"))
      << event_message(c, "Abandoned");
}

TEST(AppWrapperTrouble, an_item_that_the_server_cannot_show_keeps_nobody_for_ever) {
  QueueWorld c;
  c.add_node("n1", "4");
  bool broken = false;
  c.wire.intercept = [&](const net::Request& request) -> std::optional<net::Response> {
    const bool secrets = request.method == "GET" && request.target.contains("/secrets");
    return secrets && broken ? std::optional(answer(500, "InternalError")) : std::nullopt;
  };
  c.start();
  c.create("a", secret_item("s") + "," + job_item("a", 4),
           R"("schedulingSpec":{"requeuing":{"forceDeletionTimeInSeconds":60}},)");
  c.settle();
  ASSERT_EQ(c.status("a").state, "Running");
  c.create("b", job_item("b"));
  // Its conversion webhook is down; the process begins with that.
  broken = true;
  c.crash();
  c.start();
  c.remove(kAppWrappers, "a");
  c.settle(seconds(20));
  EXPECT_EQ(c.get(kJobs, "a"), nullptr) << "the others go all the same";
  EXPECT_NE(c.get(kAppWrappers, "a"), nullptr);
  c.settle(minutes(3));
  EXPECT_EQ(c.get(kAppWrappers, "a"), nullptr);
  EXPECT_EQ(c.status("b").state, "Running");
}

TEST(AppWrapperTrouble, a_plan_that_the_server_does_not_take_fails_it) {
  QueueWorld c;
  c.add_node("n1", "4");
  int plans = 0;  // its first status is the intent
  c.wire.intercept = [&](const net::Request& request) -> std::optional<net::Response> {
    const bool plan =
        request.method == "PUT" && request.target.contains("/appwrappers/a/status") && plans++ == 0;
    return plan ? std::optional(answer(413, "RequestEntityTooLarge")) : std::nullopt;
  };
  c.start();
  c.create("a", job_item("a", 4));
  c.create("b", job_item("b", 4));
  c.settle(seconds(5));
  EXPECT_EQ(c.status("a").state, "Failed");
  EXPECT_TRUE(c.message("a", "Failed").contains("too large")) << c.message("a", "Failed");
  EXPECT_EQ(c.status("b").state, "Running");
}

TEST(AppWrapperTrouble, a_webhook_that_is_down_does_not_freeze_the_cluster) {
  QueueWorld c;
  c.add_node("n1", "4");
  c.wire.intercept = [](const net::Request& request) -> std::optional<net::Response> {
    const bool job = request.method == "POST" && request.target.contains("/configmaps");
    return job ? std::optional(answer(500, "InternalError")) : std::nullopt;
  };
  c.start();
  c.create("a", R"({"custompodresources":[{"replicas":4,"requests":{"cpu":"1"}}],
      "generictemplate":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}})",
           R"("schedulingSpec":{"requeuing":{"timeInSeconds":60}},)");
  c.create("b", job_item("b", 4));
  c.settle(seconds(50));
  EXPECT_TRUE(c.status("a").can_run);
  c.settle(seconds(50));
  EXPECT_EQ(c.status("a").state, "Pending");
  EXPECT_EQ(c.status("a").number_of_requeueings, 1);
  EXPECT_EQ(c.status("b").state, "Running");
}

// --- a spec that nothing keeps: neither the webhook nor the admission policy is there ---

std::string items_patch(const std::string& items) {
  return R"({"spec":{"resources":{"GenericItems":[)" + items + "]}}}";
}

TEST(AppWrapperTrouble, work_that_was_changed_while_it_waited_has_the_places_that_it_waited_for) {
  QueueWorld c;
  c.add_node("n1", "4");
  c.start();
  c.create("first", job_item("first", 4));
  c.settle();
  c.create("a", job_item("a", 1));
  c.settle();
  c.patch(kAppWrappers, "a", items_patch(job_item("a", 3)));
  c.complete("first");
  c.settle(seconds(5));
  ASSERT_EQ(c.status("a").state, "Running");
  EXPECT_EQ(c.status("a").plan->places.at(0).count, 1);
  EXPECT_TRUE(c.get(kJobs, "a")->text().contains(R"("parallelism":3)")) << "created as it is now";
  c.run_pod("a", "p0", "n1");
  c.run_pod("a", "p1", "n1");
  c.settle(seconds(10));
  EXPECT_TRUE(c.status("a").message.contains("beyond")) << c.status("a").message;
}

TEST(AppWrapperTrouble, items_that_were_struck_out_of_running_work_go_with_it) {
  QueueWorld c;
  c.add_node("n1", "4");
  c.start();
  c.create("a", job_item("a", 1) + "," + secret_item("s"));
  c.create("b", job_item("b", 1));
  c.settle();
  ASSERT_EQ(c.status("a").state, "Running");
  c.patch(kAppWrappers, "a", items_patch(""));
  c.settle(seconds(10));
  EXPECT_EQ(c.status("a").state, "Running");
  c.remove(kAppWrappers, "a");
  c.settle(seconds(10));
  EXPECT_EQ(c.get(kAppWrappers, "a"), nullptr);
  EXPECT_EQ(c.get(kJobs, "a"), nullptr);
  EXPECT_EQ(c.get(kSecrets, "s"), nullptr);
  EXPECT_EQ(c.status("b").state, "Running");
}

}  // namespace
}  // namespace codeflare::controllers::testing
