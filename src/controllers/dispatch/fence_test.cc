#include "controllers/dispatch/fence.h"

#include "controllers/dispatch/marks.h"
#include "controllers/dispatch/testing/dispatch_world.h"
#include "model/codec/managed_cluster.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace codeflare::controllers::dispatch {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::DispatchWorld;
using testing::kAppWrappers;
using testing::kManagedClusters;

Instant at(int time) {
  return Instant(seconds(time));
}

model::ManagedCluster managed(DispatchWorld& world, const std::string& name) {
  return *world.hub->get(kManagedClusters, name)->as<model::ManagedCluster>();
}

std::string annotation(DispatchWorld& world, const std::string& cluster, const std::string& name,
                       std::string_view key) {
  const auto copy = world.worker(cluster).wrapper(name);
  return copy ? std::string(model::find_or_empty(copy->metadata.annotations, key)) : "no copy";
}

// Two clusters behind a hub without nodes, the first one with fences of a minute; work `a` runs
// there.
struct Fenced {
  DispatchWorld world{{"east", "west"}, {.hub_nodes = 0}};
  explicit Fenced(const std::string& east = R"({"onLost":"Redispatch","lostAfter":"1m"})") {
    world.manage("east", east);
    world.manage("west", R"({"cost":9})");
    world.settle(seconds(20));
    world.hub->submit("a", 3, 36'000);
    world.settle(seconds(10));
    EXPECT_EQ(world.where("a"), "east");
  }
  // Every place where `a` had its Job, in order; never two at a time.
  std::string story(Duration time) {
    std::string told;
    std::string last = "?";
    for (Duration spent{}; spent < time; spent += seconds(2)) {
      world.settle(seconds(2));
      const std::string now = world.where("a");
      EXPECT_FALSE(now.contains(' ')) << "two clusters at a time: " << now;
      if (now != last) {
        told += (told.empty() ? "" : ",") + (now.empty() ? "nowhere" : now);
        last = now;
      }
    }
    return told;
  }
};

TEST(Renewals, count_from_the_last_look_that_did_not_find_the_renewal) {
  Renewals renewals(at(0));
  renewals.seen(at(0), "a");
  EXPECT_FALSE(renewals.expired(at(14), minutes(1)));
  EXPECT_TRUE(renewals.expired(at(15), minutes(1))) << "nobody knows how old the first one is";
  renewals.seen(at(10), "b");
  EXPECT_FALSE(renewals.expired(at(59), minutes(1)));
  EXPECT_TRUE(renewals.expired(at(60), minutes(1)));
  // Stopped for an hour: the renewal may be as old as the look before.
  renewals.seen(at(20), "c");
  renewals.seen(at(3620), "d");
  EXPECT_TRUE(renewals.expired(at(3620), minutes(1)));
  renewals.seen(at(3625), "e");
  EXPECT_FALSE(renewals.expired(at(3625), minutes(1)));
  // A Lease that is gone renews nothing.
  renewals.seen(at(3640), "");
  EXPECT_TRUE(renewals.expired(at(3680), minutes(1)));
}

// A TrainingJob's pods with an injected agent may take 130 s.
TEST(Fences, leave_pods_the_time_to_end) {
  EXPECT_GE(fence_margin(minutes(1)) - fence_grace(minutes(1)), seconds(130));
}

TEST(Fences, are_read_as_they_are_written) {
  const Fence fence{hub_lease_name("east"), minutes(15)};
  EXPECT_EQ(to_text(fence), "codeflare-hub-east 15m0s");
  model::ObjectMeta copy;
  EXPECT_FALSE(fence_of(copy).has_value());
  copy.annotations.insert_or_assign(std::string(kFenceAnnotation), to_text(fence));
  EXPECT_EQ(fence_of(copy), fence);
  for (const char* bad : {"", "east", " 15m", "east 0s", "east -1m", "east soon"}) {
    copy.annotations.insert_or_assign(std::string(kFenceAnnotation), bad);
    EXPECT_FALSE(fence_of(copy).has_value()) << bad;
  }
}

TEST(Fences, a_silent_worker_stops_its_copy_before_the_work_starts_elsewhere) {
  Fenced fenced;
  DispatchWorld& world = fenced.world;
  EXPECT_EQ(managed(world, "east").status.fence, "1m0s");
  EXPECT_EQ(annotation(world, "east", "a", kFenceAnnotation), "codeflare-hub-east 1m0s");
  world.road("east").partition();
  EXPECT_EQ(fenced.story(minutes(5)), "east,nowhere,west");
  EXPECT_EQ(world.hub->state("a"), "Running");
  EXPECT_FALSE(annotation(world, "east", "a", kFencedAnnotation).empty());
  world.road("east").heal();
  EXPECT_EQ(fenced.story(minutes(3)), "west");
  EXPECT_EQ(world.worker("east").state("a"), "none");
}

TEST(Fences, a_short_silence_stops_nothing) {
  Fenced fenced;
  fenced.world.road("east").partition();
  fenced.world.settle(seconds(35));
  fenced.world.road("east").heal();
  EXPECT_EQ(fenced.story(minutes(3)), "east");
}

TEST(Fences, a_hub_that_was_away_too_long_queues_its_work_again) {
  Fenced fenced;
  fenced.world.hub->kill();
  EXPECT_EQ(fenced.story(minutes(2)), "east,nowhere");
  fenced.world.hub->start();
  fenced.world.settle(minutes(1));
  EXPECT_EQ(fenced.world.hub->state("a"), "Running");
  EXPECT_FALSE(fenced.world.where("a").empty());
}

TEST(Fences, a_hub_that_was_away_stops_nothing_under_wait) {
  Fenced fenced("{}");
  fenced.world.hub->kill();
  fenced.world.settle(std::chrono::hours(3));
  EXPECT_EQ(fenced.world.where("a"), "east");
  EXPECT_EQ(annotation(fenced.world, "east", "a", kFenceAnnotation), "");
}

TEST(Fences, a_worker_that_restarts_while_the_hub_is_silent_stops_its_copy_in_time) {
  Fenced fenced;
  DispatchWorld& world = fenced.world;
  world.road("east").partition();
  world.settle(seconds(40));
  world.worker("east").kill();
  world.settle(seconds(5));
  world.worker("east").start();
  EXPECT_EQ(fenced.story(minutes(5)), "east,nowhere,west");
}

TEST(Fences, a_worker_that_restarts_while_the_hub_lives_keeps_its_copy) {
  Fenced fenced;
  fenced.world.worker("east").kill();
  fenced.world.settle(seconds(5));
  fenced.world.worker("east").start();
  EXPECT_EQ(fenced.story(minutes(2)), "east");
}

TEST(Fences, follow_the_policy_of_the_cluster) {
  Fenced fenced("{}");
  DispatchWorld& world = fenced.world;
  const auto policy = [&](const std::string& spec) {
    world.hub->patch(kManagedClusters, "east", R"({"spec":)" + spec + "}");
  };
  policy(R"({"onLost":"Redispatch","lostAfter":"10m"})");
  world.settle(seconds(20));
  EXPECT_EQ(annotation(world, "east", "a", kFenceAnnotation), "codeflare-hub-east 10m0s");
  EXPECT_EQ(managed(world, "east").status.fence, "") << "a release may still be on its way";
  world.settle(minutes(2));
  EXPECT_EQ(managed(world, "east").status.fence, "10m0s");
  policy(R"({"lostAfter":"20m"})");
  world.settle(seconds(20));
  EXPECT_EQ(managed(world, "east").status.fence, "20m0s");
  EXPECT_EQ(annotation(world, "east", "a", kFenceAnnotation), "codeflare-hub-east 20m0s");
  policy(R"({"lostAfter":"5m"})");
  world.settle(seconds(20));
  EXPECT_EQ(annotation(world, "east", "a", kFenceAnnotation), "codeflare-hub-east 5m0s");
  EXPECT_EQ(managed(world, "east").status.fence, "20m0s");
  policy(R"({"onLost":"Wait"})");
  world.settle(seconds(20));
  EXPECT_EQ(managed(world, "east").status.fence, "");
  EXPECT_EQ(annotation(world, "east", "a", kFenceAnnotation), "");
  world.road("east").partition();
  world.settle(minutes(40));
  EXPECT_EQ(world.where("a"), "east");
}

TEST(Fences, work_from_before_the_policy_waits_for_its_cluster) {
  Fenced fenced("{}");
  DispatchWorld& world = fenced.world;
  world.road("east").partition();
  world.settle(seconds(40));
  world.hub->patch(kManagedClusters, "east",
                   R"({"spec":{"onLost":"Redispatch","lostAfter":"1m"}})");
  EXPECT_EQ(fenced.story(minutes(10)), "east") << "its copy has no fence";
}

TEST(Fences, come_after_the_lease_so_that_a_policy_without_one_stops_nothing) {
  Fenced fenced("{}");
  DispatchWorld& world = fenced.world;
  const model::ResourceType namespaces{"", "v1", "Namespace", "namespaces", false};
  const model::ResourceType leases{"coordination.k8s.io", "v1", "Lease", "leases", true};
  testing::Site& east = world.worker("east");
  if (east.get(namespaces, "codeflare-system") == nullptr) {
    east.create(namespaces, R"({"metadata":{"name":"codeflare-system"}})");
  }
  east.create(leases,
              R"({"metadata":{"name":"codeflare-hub-east"},"spec":{"holderIdentity":"other"}})",
              "codeflare-system");
  world.hub->patch(kManagedClusters, "east",
                   R"({"spec":{"onLost":"Redispatch","lostAfter":"1m"}})");
  EXPECT_EQ(fenced.story(minutes(3)), "east");
  EXPECT_EQ(annotation(world, "east", "a", kFenceAnnotation), "");
  EXPECT_EQ(managed(world, "east").status.fence, "");
}

TEST(Fences, of_a_silent_worker_do_not_hold_up_other_clusters) {
  Fenced fenced(R"({"onLost":"Redispatch","lostAfter":"4m"})");
  DispatchWorld& world = fenced.world;
  world.hub->remove(kManagedClusters, "west");
  world.settle(seconds(20));
  world.road("east").partition();
  // Its copies get another fence, and no probe has failed yet.
  world.hub->patch(kManagedClusters, "east", R"({"spec":{"lostAfter":"2m"}})");
  world.settle(seconds(1));
  world.hub->create(kManagedClusters,
                    R"({"metadata":{"name":"west"},"spec":{"kubeconfigSecret":"cluster-west"}})");
  world.settle(seconds(3));
  EXPECT_EQ(managed(world, "west").status.nodes, 1) << "it is looked at meanwhile";
}

TEST(Drain, with_evict_work_moves_to_another_cluster) {
  Fenced fenced("{}");
  DispatchWorld& world = fenced.world;
  world.hub->patch(kManagedClusters, "east", R"({"spec":{"paused":true}})");
  EXPECT_EQ(fenced.story(seconds(20)), "east");
  world.hub->patch(kManagedClusters, "east", R"({"spec":{"evict":true}})");
  EXPECT_TRUE(fenced.story(minutes(1)).ends_with("west"));
  EXPECT_EQ(world.hub->state("a"), "Running");
  EXPECT_EQ(managed(world, "east").status.dispatched, 0);
}

}  // namespace
}  // namespace codeflare::controllers::dispatch
