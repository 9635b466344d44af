#include "controllers/appwrapper/testing/queue_world.h"
#include "net/sim_link.h"
#include "queue/marks.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

namespace codeflare::controllers::testing {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr int kCpus = 4;
constexpr int kWrappers = 10;

// A cluster with a bad network to its controller, which crashes now and then, and users who change
// their mind. Jobs and pods are looked after as their controllers would, over a good network.
class Trouble {
 public:
  explicit Trouble(std::uint64_t seed)
      : world_({}, seed),
        link_(world_.service(), world_.env.random,
              {.refused = 0.03,
               .lost_request = 0.02,
               .lost_reply = 0.04,
               .conflict = 0.03,
               .throttled = 0.02,
               .internal = 0.03,
               .unavailable = 0.02,
               .cut_stream = 0.3,
               .loss_noticed_after = seconds(2),
               .pieces_before_fault_max = 30}) {
    world_.wire.set_target(link_);
    for (const char* node : {"n1", "n2"}) {
      world_.add_node(node, std::to_string(kCpus));
    }
  }

  void live() {
    world_.start();
    for (int i = 0; i < kWrappers; ++i) {
      const std::string name = "w" + std::to_string(i);
      world_.create(name, job_item(name, 1 + static_cast<int>(pick(5))));
      tick();
      tick();
    }
    for (int i = 0; i < 40; ++i) {
      disturb();
      tick();
    }
    link_.heal();
    for (int i = 0; i < kWrappers; ++i) {
      const std::string name = "w" + std::to_string(i);
      if (world_.get(kAppWrappers, name) != nullptr) {
        world_.patch(kAppWrappers, name, R"({"spec":{"suspend":false}})");
      }
    }
    for (int i = 0; i < 60; ++i) {
      tick();
    }
  }

  // Everything that is left has run, once, and nobody writes any more.
  void check_rest() {
    for (const kube::ObjectRef& object : world_.list(kAppWrappers)) {
      EXPECT_EQ(object->string_at({"status", "state"}), "Completed") << object->text();
      EXPECT_FALSE(object->deleting()) << object->name();
    }
    const std::uint64_t writes = world_.wire.writes();
    world_.settle(minutes(20));
    EXPECT_EQ(world_.wire.writes(), writes) << world_.wire.story().back();
    EXPECT_GT(link_.counts().faults, 10u) << "the network was meant to be bad";
  }

 private:
  std::uint64_t pick(std::uint64_t bound) { return world_.env.random.below(bound); }

  void disturb() {
    const std::string name = "w" + std::to_string(pick(kWrappers));
    switch (pick(8)) {
      case 0:
        world_.crash();
        world_.settle(seconds(pick(4)));
        world_.start();
        break;
      case 1:
        suspend(name, "true");
        break;
      case 2:
      case 3:
        suspend(name, "false");
        break;
      case 4:
        if (pick(3) == 0 && world_.get(kAppWrappers, name) != nullptr) {
          world_.remove(kAppWrappers, name);
        }
        break;
      default:
        break;
    }
  }

  void suspend(const std::string& name, const std::string& value) {
    const kube::ObjectRef object = world_.get(kAppWrappers, name);
    if (object != nullptr && !object->deleting()) {
      world_.patch(kAppWrappers, name, R"({"spec":{"suspend":)" + value + "}}");
    }
  }

  // Two seconds of the cluster's life.
  void tick() {
    world_.settle(seconds(2));
    check_safety();
    for (const kube::ObjectRef& pod : world_.list(kPods)) {
      if (pod->deleting()) {  // as a kubelet confirms it
        world_.remove(kPods, std::string(pod->name()), {.grace_period_seconds = 0});
      }
    }
    for (const kube::ObjectRef& job : world_.list(kJobs)) {
      look_after(*job);
    }
  }

  void look_after(const kube::Object& job) {
    const std::string name(job.name());
    int& age = ages_[std::string(job.uid())];
    age += 1;
    if (job.deleting() || age > 5 || world_.get(kAppWrappers, name) == nullptr) {
      return;
    }
    if (age == 1) {
      for (const std::string& node : places(name)) {
        pods_ += 1;
        world_.run_pod(name, name + "-" + std::to_string(pods_), node);
        own_[std::string(job.uid())].push_back(name + "-" + std::to_string(pods_));
      }
    } else if (age == 5) {
      ended_.insert(name);
      for (const std::string& pod : own_[std::string(job.uid())]) {
        if (world_.get(kPods, pod) != nullptr) {
          world_.set_phase(pod, "Succeeded");
        }
      }
      world_.complete(name);
    }
  }

  // A node for each pod, as the plan has it.
  std::vector<std::string> places(const std::string& name) {
    std::vector<std::string> nodes;
    const model::AppWrapperStatus status = world_.status(name);
    for (const model::PlannedPlace& place :
         status.plan ? status.plan->places : model::List<model::PlannedPlace>()) {
      nodes.insert(nodes.end(), static_cast<std::size_t>(place.count), place.node);
    }
    return nodes;
  }

  void check_safety() {
    std::map<std::string, std::int64_t> planned;
    std::map<std::string, model::AppWrapper> wrappers;
    for (const kube::ObjectRef& object : world_.list(kAppWrappers)) {
      model::AppWrapper wrapper = world_.wrapper(std::string(object->name()));
      for (const model::PlannedPlace& place :
           wrapper.status.plan ? wrapper.status.plan->places : model::List<model::PlannedPlace>()) {
        // Pods that have ended make room before the status says so.
        planned[place.node] += ended_.contains(wrapper.metadata.name) ? 0 : place.count;
      }
      if (wrapper.status.state == "Completed") {
        completed_.insert(wrapper.metadata.uid);
      } else {
        EXPECT_FALSE(completed_.contains(wrapper.metadata.uid))
            << wrapper.metadata.name << " was Completed before";
      }
      std::string uid = wrapper.metadata.uid;
      wrappers.emplace(std::move(uid), std::move(wrapper));
    }
    for (const auto& [node, count] : planned) {
      EXPECT_LE(count, kCpus) << "more is planned on " << node << " than fits";
    }
    for (const kube::ObjectRef& job : world_.list(kJobs)) {
      const std::string owner = job->string_at({"metadata", "labels", queue::kUidLabel});
      auto wrapper = wrappers.find(owner);
      if (wrapper != wrappers.end() && !wrapper->second.metadata.deleting() && !job->deleting()) {
        EXPECT_TRUE(wrapper->second.status.plan || wrapper->second.status.state == "Completed")
            << job->name() << " exists, and nobody holds its places";
      }
    }
  }

  QueueWorld world_;
  net::SimLink link_;
  int pods_ = 0;
  std::map<std::string, int> ages_;  // of Jobs, in ticks
  std::map<std::string, std::vector<std::string>> own_;
  std::set<std::string> completed_;
  std::set<std::string> ended_;  // by name: names are not used twice here
};

class AppWrapperFaults : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(AppWrapperFaults, in_the_end_all_have_run_and_no_place_was_given_twice) {
  Trouble trouble(GetParam());
  trouble.live();
  trouble.check_rest();
}

INSTANTIATE_TEST_SUITE_P(Seeds, AppWrapperFaults, ::testing::Range<std::uint64_t>(1, 9));

}  // namespace
}  // namespace codeflare::controllers::testing
