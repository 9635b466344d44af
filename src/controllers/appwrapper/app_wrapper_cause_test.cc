#include "controllers/appwrapper/testing/queue_world.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

// Status and Events about pods in trouble, and the end of work whose objects report nothing.
namespace codeflare::controllers::testing {
namespace {

using std::chrono::seconds;

struct Cluster : QueueWorld {
  Cluster() {
    add_node("n1", "4");
    start();
  }

  // The container of the pod is in this state.
  void set_container(const std::string& pod, const std::string& phase, const std::string& state) {
    patch(kPods, pod,
          R"({"status":{"phase":")" + phase +
              R"(","containerStatuses":[{"name":"c","image":"i","imageID":"","ready":false,)"
              R"("restartCount":0,"state":)" +
              state + "}]}}",
          "status");
  }

  void fail_job(const std::string& job, const std::string& reason) {
    const std::string now = to_rfc3339(env.clock.wall());
    patch(kJobs, job,
          R"({"status":{"startTime":")" + now +
              R"(","conditions":[{"type":"FailureTarget","status":"True"},{"type":"Failed",)"
              R"("status":"True","reason":")" +
              reason + R"(","message":"m"}]}})",
          "status");
  }

  std::vector<std::string> event_messages(const std::string& reason) {
    std::vector<std::string> found;
    for (const kube::ObjectRef& event : list(kEvents)) {
      if (event->string_at({"reason"}) == reason) {
        found.push_back(event->string_at({"message"}));
      }
    }
    return found;
  }
};

const std::string kOom = R"({"terminated":{"exitCode":137,"reason":"OOMKilled"}})";
const std::string kNoImage = R"({"waiting":{"reason":"ErrImagePull","message":"no such image"}})";

// A Job that says nothing of its end.
std::string plain_job(const std::string& name) {
  std::string item = job_item(name);
  const std::string words = R"("completionstatus":"Complete",)";
  return item.erase(item.find(words), words.size());
}

TEST(AppWrapperCause, of_a_failed_job_is_the_one_of_its_pod) {
  Cluster c;
  c.create("a", job_item("a"));
  c.settle();
  c.run_pod("a", "p0", "n1");
  c.set_container("p0", "Failed", kOom);
  c.fail_job("a", "BackoffLimitExceeded");
  c.settle();
  const std::string cause =
      "jobs.batch default/a failed: pod p0, container c: OOMKilled (137), without a limit: the "
      "node "
      "ran out of memory";
  EXPECT_EQ(c.status("a").state, "Failed");
  EXPECT_EQ(c.message("a", "Failed"), cause);
  EXPECT_EQ(c.event_messages("Failed"), std::vector{cause});
}

TEST(AppWrapperCause, of_pods_that_are_gone_is_remembered) {
  Cluster c;
  c.create("a", job_item("a"));
  c.settle();
  c.run_pod("a", "p0", "n1");
  c.set_container("p0", "Running",
                  R"({"terminated":{"exitCode":3,"reason":"Error","message":"bye\n"}})");
  c.settle();
  c.remove(kPods, "p0", {.grace_period_seconds = 0});
  c.fail_job("a", "BackoffLimitExceeded");
  c.settle();
  EXPECT_EQ(c.message("a", "Failed"),
            "jobs.batch default/a failed: pod p0, container c: exit code 3: bye");
}

TEST(AppWrapperCause, of_a_drained_node_is_the_eviction) {
  Cluster c;
  c.create("a", job_item("a"));
  c.settle();
  c.run_pod("a", "p0", "n1");
  c.settle();
  c.patch(kPods, "p0",
          R"({"status":{"conditions":[{"type":"DisruptionTarget","status":"True","reason":)"
          R"("EvictionByEvictionAPI","message":"Eviction API: evicting"}]}})",
          "status");
  c.settle();
  c.remove(kPods, "p0", {.grace_period_seconds = 0});
  c.fail_job("a", "BackoffLimitExceeded");
  c.settle();
  EXPECT_EQ(c.message("a", "Failed"),
            "jobs.batch default/a failed: pod p0: evicted on node n1: Eviction API: evicting");
}

TEST(AppWrapperCause, a_deadline_of_the_job_is_not_blamed_on_its_pods) {
  Cluster c;
  c.create("a", job_item("a"));
  c.settle();
  c.run_pod("a", "p0", "n1");
  c.set_container("p0", "Failed", R"({"terminated":{"exitCode":143,"reason":"Error"}})");
  c.fail_job("a", "DeadlineExceeded");
  c.settle();
  EXPECT_EQ(c.message("a", "Failed"), "jobs.batch default/a failed: DeadlineExceeded: m");
}

TEST(AppWrapperCause, running_work_tells_once_of_pods_that_cannot_start) {
  Cluster c;
  c.create("a", job_item("a"));
  c.settle();
  c.run_pod("a", "p0", "n1", "Pending");
  c.set_container("p0", "Pending", kNoImage);
  c.settle(seconds(1));
  const std::string trouble =
      "pod p0, container c: image i is missing (ErrImagePull): no such image";
  EXPECT_EQ(c.status("a").state, "Running");
  EXPECT_EQ(c.status("a").message, trouble);
  EXPECT_EQ(c.event_messages("PodTrouble"), std::vector{trouble});
  c.set_container("p0", "Pending",
                  R"({"waiting":{"reason":"ImagePullBackOff","message":"no such image"}})");
  c.settle(seconds(10));
  EXPECT_TRUE(c.status("a").message.contains("ImagePullBackOff")) << c.status("a").message;
  EXPECT_EQ(c.event_messages("PodTrouble").size(), 1u);
  c.set_container("p0", "Running", R"({"running":{}})");
  c.settle(seconds(10));
  EXPECT_EQ(c.status("a").message, "");
}

TEST(AppWrapperEnd, comes_with_its_items_when_all_of_them_end) {
  Cluster c;
  c.create("a", plain_job("a") + R"(,{"generictemplate":{"apiVersion":"v1","kind":"ConfigMap",)"
                                 R"("metadata":{"name":"settings"}}})");
  c.settle();
  c.run_pod("a", "p0", "n1");
  c.settle(seconds(6));
  EXPECT_EQ(c.status("a").state, "Running");
  c.set_phase("p0", "Succeeded");
  c.complete("a");
  c.settle();
  EXPECT_EQ(c.status("a").state, "Completed");
  EXPECT_FALSE(c.status("a").plan);
}

TEST(AppWrapperEnd, does_not_come_while_another_item_runs_on) {
  Cluster c;
  c.create("a", plain_job("a") + R"(,{"generictemplate":{"apiVersion":"apps/v1",
      "kind":"Deployment","metadata":{"name":"web"},"spec":{"selector":{"matchLabels":{"app":"w"}},
      "template":{"metadata":{"labels":{"app":"w"}},"spec":{"containers":[{"name":"c","image":"i",
      "resources":{"requests":{"cpu":"1"}}}]}}}}})");
  c.settle();
  c.run_pod("a", "p0", "n1");
  c.set_phase("p0", "Succeeded");
  c.complete("a");
  c.settle(seconds(60));
  EXPECT_EQ(c.status("a").state, "Running");
}

}  // namespace
}  // namespace codeflare::controllers::testing
