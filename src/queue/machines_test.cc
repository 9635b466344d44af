#include "queue/machines.h"

#include "queue/market.h"
#include "queue/queue.h"
#include "queue/report.h"
#include "queue/testing/objects.h"
#include "queue/testing/training_jobs.h"

#include <gtest/gtest.h>

#include <string>

namespace codeflare::queue {
namespace {

using namespace testing;  // NOLINT
using Kind = Standing::Kind;

MachineOffer offer(const std::string& type, const std::string& cpu, std::int64_t max) {
  MachineOffer offer{.type = type};
  offer.spec.capacity = resources(cpu, "8Gi");
  offer.spec.max = max;
  return offer;
}

struct World {
  Queue queue;
  MachineMarket market{.offers = {offer("big", "8", 2)}};

  World() { queue.upsert_node(node("n1", resources("2", "4Gi"))); }
  void add(const model::AppWrapper& wrapper) {
    CHECK(queue.upsert(wrapper, kNow).has_value());
    (void)queue.step(kNow);
  }
  MachinePlan plan() {
    MachinePlan plan = queue.plan_machines(market, kNow);
    (void)queue.set_machine_notes(plan.notes);
    return plan;
  }
  // As if this had been asked for.
  void order(const MachineAsk& ask, const std::string& request) {
    for (const auto& [type, count] : ask.machines) {
      for (std::int64_t i = 0; i < count; ++i) {
        market.on_order.push_back({request, type, ask.labels});
        ++market.offers.front().in_use;
      }
    }
    market.requests[request] = machines_text(ask.machines) + " asked for";
  }
};

TEST(Machines, a_gang_that_does_not_fit_asks_once_and_waits_with_scaling_up) {
  World world;
  world.add(wrapper("a", {{2, resources("6")}}));
  const MachinePlan plan = world.plan();
  ASSERT_EQ(plan.asks.size(), 1u);
  EXPECT_EQ(machines_text(plan.asks[0].machines), "2 machines of type big");
  EXPECT_EQ(plan.asks[0].labels.size(), 2u);
  EXPECT_EQ(world.queue.standing("uid-a").reason, Reason::scaling_up);
  world.order(plan.asks[0], "r1");
  EXPECT_TRUE(world.plan().asks.empty());
  EXPECT_TRUE(world.queue.sentence("uid-a", kNow).starts_with("2 machines of type big asked for; "))
      << world.queue.sentence("uid-a", kNow);
}

TEST(Machines, the_usual_time_to_start_is_an_estimate) {
  World world;
  world.add(wrapper("a", {{2, resources("6")}}));
  world.order(world.plan().asks.at(0), "r1");
  (void)world.plan();
  EXPECT_FALSE(explain(world.queue, "uid-a", kNow)->estimated_start);
  const Time ready = kNow + std::chrono::seconds(90);
  world.market.ready_at["r1"] = ready;
  (void)world.plan();
  const Result<Report> report = explain(world.queue, "uid-a", kNow);
  EXPECT_EQ(report->estimated_start, ready);
  EXPECT_EQ(report->estimate_note, "if the machines start as fast as usual (startSeconds)");
  // Late machines promise nothing.
  EXPECT_FALSE(explain(world.queue, "uid-a", ready)->estimated_start);
}

TEST(Market, a_request_is_ready_when_its_slowest_type_is) {
  model::MachineType fast;
  fast.metadata.name = "fast";
  fast.spec.start_seconds = 30;
  model::MachineType slow = fast;
  slow.metadata.name = "slow";
  slow.spec.start_seconds = 90;
  model::MachineType silent;
  silent.metadata.name = "silent";
  const auto request = [](const std::string& name, const std::string& second) {
    model::MachineRequest request;
    request.metadata.name = name;
    request.metadata.creation_timestamp = kNow;
    request.spec.machines.push_back({.type = "fast", .count = 1});
    request.spec.machines.push_back({.type = second, .count = 1});
    return request;
  };
  const MachineMarket market =
      market_of({fast, slow, silent}, {request("r1", "slow"), request("r2", "silent")}, {});
  ASSERT_EQ(market.ready_at.size(), 1u);
  EXPECT_EQ(market.ready_at.at("r1"), kNow + std::chrono::seconds(90));
}

TEST(Machines, a_limit_that_is_known_after_the_reason_is_told_again) {
  World world;
  world.add(wrapper("a", {{3, resources("6")}}));
  EXPECT_TRUE(world.queue.step(kNow).changed.empty());
  EXPECT_EQ(world.queue.standing("uid-a").message, "");
  (void)world.plan();
  EXPECT_EQ(world.queue.step(kNow).changed.size(), 1u);
  EXPECT_TRUE(world.queue.standing("uid-a").message.starts_with("needs 3 machines of type big"));
  (void)world.plan();
  EXPECT_TRUE(world.queue.step(kNow).changed.empty());
}

TEST(Machines, what_max_cannot_hold_is_said_at_once) {
  World world;
  world.add(wrapper("a", {{3, resources("6")}}));
  EXPECT_TRUE(world.plan().asks.empty());
  EXPECT_EQ(world.queue.standing("uid-a").reason, Reason::insufficient_resources);
  EXPECT_TRUE(world.queue.sentence("uid-a", kNow)
                  .ends_with("; needs 3 machines of type big, but MachineType big allows max 2 "
                             "(0 in use)"))
      << world.queue.sentence("uid-a", kNow);
}

TEST(Machines, a_pod_larger_than_every_type_is_told_the_largest) {
  World world;
  world.add(wrapper("a", {{1, resources("9")}}));
  EXPECT_TRUE(world.plan().asks.empty());
  EXPECT_TRUE(
      world.queue.sentence("uid-a", kNow)
          .ends_with("pod set 0 fits no machine type: needs 9 CPUs on one node, the largest "
                     "machine type big has 8"))
      << world.queue.sentence("uid-a", kNow);
}

TEST(Machines, nodes_of_an_incomplete_request_are_nobodys_and_then_everybodys_at_once) {
  World world;
  world.add(wrapper("a", {{2, resources("6")}}));
  world.add(wrapper("small", {{1, resources("4")}}));
  for (const char* name : {"m1", "m2"}) {
    model::Node machine = node(name, resources("8", "8Gi"));
    machine.spec.taints.push_back(
        {.key = std::string(kPendingTaint), .value = "r1", .effect = "NoSchedule"});
    world.queue.upsert_node(machine);
    (void)world.queue.step(kNow);
    EXPECT_EQ(world.queue.standing("uid-small").kind, Kind::waiting);
  }
  EXPECT_TRUE(world.queue.set_arrived({"r1"}));
  EXPECT_FALSE(world.queue.set_arrived({"r1"}));
  (void)world.queue.step(kNow);
  EXPECT_EQ(world.queue.standing("uid-a").kind, Kind::started);
  EXPECT_EQ(world.queue.standing("uid-small").kind, Kind::waiting);
  EXPECT_TRUE(world.queue.node_use("m1").planned);
}

TEST(Machines, types_that_rest_are_not_asked_for_and_say_why) {
  World world;
  world.market.offers.front().resting = "rests until noon: no capacity";
  world.add(wrapper("a", {{1, resources("6")}}));
  EXPECT_TRUE(world.plan().asks.empty());
  EXPECT_TRUE(world.queue.sentence("uid-a", kNow).ends_with("rests until noon: no capacity"))
      << world.queue.sentence("uid-a", kNow);
}

TEST(Machines, ordered_instances_name_the_types_of_the_pod_sets) {
  World world;
  world.market.offers.push_back(offer("m5.xlarge", "8", 4));
  model::AppWrapper owner = wrapper("a", {{1, resources("4")}, {2, resources("6")}});
  owner.metadata.labels["orderedinstance"] = "m5.xlarge_big";
  world.add(owner);
  const MachinePlan plan = world.plan();
  ASSERT_EQ(plan.asks.size(), 1u);
  EXPECT_EQ(machines_text(plan.asks[0].machines),
            "2 machines of type big, 1 machine of type m5.xlarge");
  std::string pods;
  for (const model::MachinePods& each : plan.asks[0].pods) {
    pods += each.type + " " + std::to_string(each.count) + " of " +
            each.requests.get("cpu").to_string() + "; ";
  }
  EXPECT_EQ(pods, "big 2 of 6; m5.xlarge 1 of 4; ");
  // More than the first one leaves free on its machines.
  model::AppWrapper other = wrapper("b", {{1, resources("5")}});
  other.metadata.labels["orderedinstance"] = "none";
  world.add(other);
  (void)world.plan();
  EXPECT_TRUE(world.queue.sentence("uid-b", kNow)
                  .ends_with("label orderedinstance names none, but there is no such MachineType"))
      << world.queue.sentence("uid-b", kNow);
}

TEST(Machines, placeholders_do_not_request_the_unit_of_the_queue) {
  World world;
  world.queue.set_training({.unit = std::string(kNodeUnit), .node_selector = {}});
  model::TrainingJob job = training_job("a", 1, 2);
  auto& container = job.spec.replica_specs.pod_template.spec.containers.front();
  container.resources.requests = container.resources.limits = resources("6");
  ASSERT_TRUE(world.queue.upsert(job, kNow).has_value());
  (void)world.queue.step(kNow);
  const MachinePlan plan = world.plan();
  ASSERT_EQ(plan.asks.size(), 1u);
  ASSERT_EQ(plan.asks[0].pods.size(), 1u);
  EXPECT_EQ(plan.asks[0].pods.front().requests, resources("6"));
}

TEST(Machines, the_unit_of_the_queue_is_not_what_a_type_lacks) {
  World world;
  world.queue.set_training({.unit = std::string(kNodeUnit), .node_selector = {{"pool", "gpu"}}});
  ASSERT_TRUE(world.queue.upsert(training_job("a", 1, 2), kNow).has_value());
  (void)world.queue.step(kNow);
  EXPECT_TRUE(world.plan().asks.empty());
  EXPECT_TRUE(world.queue.sentence("uid-a", kNow)
                  .ends_with("pod set 0 fits no machine type: labels, taints or the sum of its "
                             "requests exclude them"))
      << world.queue.sentence("uid-a", kNow);
}

TEST(Machines, the_number_of_machines_and_budgets_are_told_by_their_names) {
  World world;
  world.market.machines_left = 1;
  world.market.machines_limit = "--max-scaleout 1";
  world.add(wrapper("a", {{2, resources("6")}}));
  EXPECT_TRUE(world.plan().asks.empty());
  EXPECT_TRUE(world.queue.sentence("uid-a", kNow)
                  .ends_with("needs 2 machines of type big, but --max-scaleout 1 leaves 1"))
      << world.queue.sentence("uid-a", kNow);
}

// The hub has a node of 2 CPUs, each worker one of 4 and a type of machine with 8.
struct Hub {
  Queue queue;
  MachineMarket market;

  Hub() {
    queue.upsert_node(node("n1", resources("2", "4Gi")));
    queue.upsert_node(node("east/n", resources("4", "4Gi")));
    queue.upsert_node(node("west/n", resources("4", "4Gi")));
    queue.set_clusters({{.name = "local"}, {.name = "east"}, {.name = "west"}});
    add("east", 2);
    add("west", 1);
  }
  void add(const std::string& cluster, double cost) {
    model::MachineType type;
    type.metadata.name = "big";
    type.spec.capacity = resources("8", "8Gi");
    type.spec.max = 2;
    type.spec.cost_per_hour = cost;
    add_cluster({.cluster = cluster, .types = {type}}, market);
  }
  MachinePlan ask(const model::AppWrapper& wrapper) {
    CHECK(queue.upsert(wrapper, kNow).has_value());
    (void)queue.step(kNow);
    return queue.plan_machines(market, kNow);
  }
  std::string plan(const std::string& uid) {
    std::string text;
    for (const model::PlannedPlace& place : queue.standing(uid).plan) {
      text += std::to_string(place.pod_set) + " " + place.node + "*" + std::to_string(place.count) +
              "; ";
    }
    return text;
  }
};

TEST(ClusterMachines, let_work_start_in_the_cluster_where_they_cost_least) {
  Hub hub;
  const model::AppWrapper work = wrapper("a", {{2, resources("3")}, {1, resources("3")}});
  const MachinePlan plan = hub.ask(work);
  ASSERT_EQ(plan.asks.size(), 1u);
  EXPECT_EQ(plan.asks[0].cluster, "west");
  EXPECT_EQ(machines_text(plan.asks[0].machines), "1 machine of type west/big");
  ASSERT_TRUE(hub.queue.start_on_machines(plan.asks[0], kNow));
  EXPECT_FALSE(hub.queue.start_on_machines(plan.asks[0], kNow));
  EXPECT_EQ(hub.queue.step(kNow).changed.size(), 1u);
  const Standing standing = hub.queue.standing("uid-a");
  EXPECT_EQ(standing.kind, Kind::started);
  EXPECT_EQ(standing.reason, Reason::none);  // no place is lost
  EXPECT_EQ(standing.pods_lost, 0);
  EXPECT_EQ(hub.plan("uid-a"), "0 west/n*1; 0 west/new:big*1; 1 west/new:big*1; ");
  EXPECT_EQ(hub.queue.held_in("west"), std::vector<std::string>{"uid-a"});
  EXPECT_TRUE(hub.queue.plan_machines(hub.market, kNow).asks.empty());
}

TEST(ClusterMachines, are_not_asked_for_while_the_queue_is_paused) {
  Hub hub;
  const MachinePlan before = hub.ask(wrapper("a", {{3, resources("3")}}));
  ASSERT_EQ(before.asks.size(), 1u);
  hub.queue.set_paused(true);
  EXPECT_FALSE(hub.queue.start_on_machines(before.asks[0], kNow));
  EXPECT_TRUE(hub.queue.plan_machines(hub.market, kNow).asks.empty());
  (void)hub.queue.step(kNow);
  EXPECT_TRUE(hub.queue.plan_machines(hub.market, kNow).asks.empty());
  hub.queue.set_paused(false);
  (void)hub.queue.step(kNow);
  const MachinePlan after = hub.queue.plan_machines(hub.market, kNow);
  ASSERT_EQ(after.asks.size(), 1u);
  EXPECT_TRUE(hub.queue.start_on_machines(after.asks[0], kNow));
}

// Work that starts on machines takes free nodes too, also those that are reserved.
TEST(ClusterMachines, do_not_let_work_start_before_the_work_that_holds_the_reservation) {
  Hub hub;
  sched::Options core;
  core.holding_time = std::chrono::minutes(10);
  hub.queue = Queue(QueueOptions{.core = core});
  hub.queue.upsert_node(node("west/n", resources("4", "4Gi")));
  hub.queue.set_clusters({{.name = "local"}, {.name = "west"}});
  ASSERT_TRUE(hub.queue.upsert(wrapper("busy", {{1, resources("2")}}), kNow));
  (void)hub.queue.step(kNow);
  model::AppWrapper head = wrapper("head", {{1, resources("4")}});
  head.spec.priority = 5;
  ASSERT_TRUE(hub.queue.upsert(head, kNow));
  hub.queue.set_cluster_notes("uid-head", {.no_machines = {"west", "east"}});
  (void)hub.queue.step(kNow);
  const model::AppWrapper behind = wrapper("behind", {{1, resources("2")}, {1, resources("6")}});
  MachinePlan plan = hub.ask(behind);
  EXPECT_TRUE(plan.asks.empty());
  EXPECT_FALSE(plan.notes.contains("uid-behind"));
  hub.queue.remove("uid-head");
  (void)hub.queue.step(kNow);
  plan = hub.queue.plan_machines(hub.market, kNow);
  ASSERT_EQ(plan.asks.size(), 1u);
  EXPECT_EQ(plan.asks[0].work.uid, "uid-behind");
}

TEST(ClusterMachines, are_places_until_pods_have_nodes) {
  Hub hub;
  hub.queue = Queue(QueueOptions{.binds = Binds::all});
  hub.queue.upsert_node(node("west/n", resources("4", "4Gi")));
  hub.queue.set_clusters({{.name = "local"}, {.name = "west"}});
  const model::AppWrapper work = wrapper("a", {{2, resources("4")}});
  ASSERT_TRUE(hub.queue.start_on_machines(hub.ask(work).asks.at(0), kNow));
  (void)hub.queue.step(kNow);
  EXPECT_EQ(hub.plan("uid-a"), "0 west/n*1; 0 west/new:big*1; ");
  hub.queue.upsert_node(node("west/m", resources("8", "8Gi")));
  for (const char* at : {"n", "m"}) {
    model::Pod pod =
        pod_of(work, 0, std::string("west/p-") + at, resources("4"), std::string("west/") + at);
    pod.status.phase = "Running";
    hub.queue.upsert_pod(pod);
  }
  (void)hub.queue.step(kNow);
  EXPECT_EQ(hub.plan("uid-a"), "0 west/m*1; 0 west/n*1; ");
}

TEST(ClusterMachines, count_against_no_limit_of_this_cluster) {
  Hub hub;
  hub.market.machines_left = 0;
  hub.market.budget_left = 0;
  hub.market.namespace_budget = 0;
  const MachinePlan plan = hub.ask(wrapper("a", {{3, resources("3")}}));
  ASSERT_EQ(plan.asks.size(), 1u);
  EXPECT_EQ(plan.asks[0].cluster, "west");
}

TEST(ClusterMachines, are_not_asked_for_where_they_were_of_no_use) {
  Hub hub;
  ASSERT_TRUE(hub.queue.upsert(wrapper("a", {{3, resources("3")}}), kNow));
  hub.queue.set_cluster_notes("uid-a", {.last = {"west"}, .no_machines = {"west"}});
  (void)hub.queue.step(kNow);
  const MachinePlan plan = hub.queue.plan_machines(hub.market, kNow);
  ASSERT_EQ(plan.asks.size(), 1u);
  EXPECT_EQ(plan.asks[0].cluster, "east");
  hub.queue.set_cluster_notes("uid-a", {.no_machines = {"east", "west"}});
  (void)hub.queue.step(kNow);
  (void)hub.queue.set_machine_notes(hub.queue.plan_machines(hub.market, kNow).notes);
  EXPECT_TRUE(hub.queue.sentence("uid-a", kNow)
                  .contains("cluster east did not start it in time; its machines are tried again"))
      << hub.queue.sentence("uid-a", kNow);
}

TEST(ClusterMachines, have_the_names_that_ordered_instances_mean) {
  Hub hub;
  hub.market.offers.push_back(offer("small", "8", 2));  // of this cluster
  model::AppWrapper work = wrapper("a", {{1, resources("6")}});
  work.metadata.labels["orderedinstance"] = "big";
  const MachinePlan plan = hub.ask(work);
  ASSERT_EQ(plan.asks.size(), 1u);
  EXPECT_EQ(machines_text(plan.asks[0].machines), "1 machine of type west/big");
}

TEST(ClusterMachines, are_for_work_that_may_go_there) {
  Hub hub;
  model::AppWrapper bound = wrapper("a", {{3, resources("3")}});
  bound.metadata.annotations["dispatch.codeflare.dev/clusters"] = "east";
  EXPECT_EQ(hub.ask(bound).asks.at(0).cluster, "east");
  model::TrainingJob job = training_job("t", 1, 2);
  auto& container = job.spec.replica_specs.pod_template.spec.containers.front();
  container.resources.requests = container.resources.limits = resources("6");
  ASSERT_TRUE(hub.queue.upsert(job, kNow).has_value());
  (void)hub.queue.step(kNow);
  EXPECT_EQ(hub.queue.plan_machines(hub.market, kNow).asks.size(), 1u);
}

}  // namespace
}  // namespace codeflare::queue
