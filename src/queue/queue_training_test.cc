#include "queue/queue.h"
#include "queue/testing/training_jobs.h"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace codeflare::queue {
namespace {

using namespace testing;  // NOLINT: builders of this folder's tests
using std::chrono::seconds;

// A queue that binds, with workers that follow the plan as a controller would make them.
struct World {
  Queue queue;
  Time now = kNow;
  std::map<std::string, model::TrainingJob> jobs{};
  std::map<std::string, std::map<int, std::string>> workers{};  // job → index → node

  explicit World(QueueOptions options = {}) : queue(with_binding(std::move(options))) {}

  static QueueOptions with_binding(QueueOptions options) {
    options.binds = Binds::gangs;
    options.user_check = false;
    return options;
  }

  void add(const model::TrainingJob& job) {
    jobs.insert_or_assign(job.metadata.name, job);
    ASSERT_TRUE(queue.upsert(job, now).has_value());
  }

  std::int64_t size(const std::string& name) const {
    const auto size = queue.size("uid-" + name);
    return size ? size->planned - size->coming : -1;
  }

  // Pods that the plan has and that are not there come, those beyond go; until nothing changes.
  void settle() {
    for (int round = 0; round < 20; ++round) {
      bool acted = false;
      for (const Binding& binding : step().bindings) {
        bind(binding);
        acted = true;
      }
      for (auto& [name, job] : jobs) {
        acted = follow(name, job) || acted;
      }
      if (!acted) {
        return;
      }
    }
    FAIL() << "does not come to rest";
  }

  StepOutcome step() {
    now += seconds(1);
    return queue.step(now);
  }

  void bind(const Binding& binding) {
    for (auto& [name, nodes] : workers) {
      for (auto& [index, node] : nodes) {
        if (binding.pod.name == name + "-worker-" + std::to_string(index)) {
          node = binding.node;
          queue.upsert_pod(worker(jobs.at(name), index, node));
        }
      }
    }
  }

  bool follow(const std::string& name, const model::TrainingJob& job) {
    const std::string& uid = job.metadata.uid;
    const Standing standing = queue.standing(uid);
    auto& nodes = workers[name];
    if (standing.kind == Standing::Kind::stopping) {
      for (const auto& [index, node] : std::exchange(nodes, {})) {
        queue.remove_pod(worker(job, index).metadata.key(), worker(job, index).metadata.uid);
      }
      queue.withdrawn(uid, now);
      return true;
    }
    bool acted = queue.plan_written(uid, standing.plan);
    std::int64_t wanted = 0;
    for (const model::PlannedPlace& place : standing.plan) {
      wanted += place.count;
    }
    for (const model::PlannedPlace& gone : standing.leaving) {
      for (std::int64_t i = 0; i < gone.count; ++i) {
        acted = leave(job, gone.node) || acted;
      }
    }
    for (int index = 0; std::cmp_less(nodes.size(), wanted); ++index) {
      if (nodes.emplace(index, "").second) {
        queue.upsert_pod(worker(job, index));
        acted = true;
      }
    }
    return acted;
  }

  bool leave(const model::TrainingJob& job, const std::string& node) {
    auto& nodes = workers[job.metadata.name];
    for (auto at = nodes.rbegin(); at != nodes.rend(); ++at) {
      if (at->second == node) {
        const model::Pod pod = worker(job, at->first);
        queue.remove_pod(pod.metadata.key(), pod.metadata.uid);
        nodes.erase(at->first);
        return true;
      }
    }
    return false;
  }

  std::size_t pods(const std::string& name) { return workers[name].size(); }
};

TEST(QueueTraining, a_job_alone_grows_to_its_maximum_and_its_pods_are_bound) {
  World w;
  w.queue.upsert_node(node("n1", resources("2")));
  w.queue.upsert_node(node("n2", resources("4")));
  w.add(training_job("a", 2, 5));
  w.settle();
  EXPECT_EQ(w.size("a"), 5);
  EXPECT_EQ(w.pods("a"), 5U);
  for (const auto& [index, at] : w.workers["a"]) {
    EXPECT_FALSE(at.empty()) << index;
  }
  EXPECT_EQ(w.queue.growth_sentence("uid-a", w.now), "has its largest size, 5");
}

TEST(QueueTraining, two_jobs_of_two_to_four_share_five_units_as_three_and_two) {
  World w;
  w.queue.upsert_node(node("n1", resources("5")));
  w.add(training_job("a", 2, 4));
  w.settle();
  EXPECT_EQ(w.size("a"), 4);
  w.add(training_job("b", 2, 4, 1));
  w.settle();
  EXPECT_EQ(w.size("a"), 3);
  EXPECT_EQ(w.size("b"), 2);
  EXPECT_EQ(w.pods("a") + w.pods("b"), 5U);
}

TEST(QueueTraining, an_app_wrapper_takes_growth_without_preemption_and_the_job_grows_back) {
  World w;
  w.queue.upsert_node(node("n1", resources("4")));
  w.add(training_job("a", 1, 4));
  w.settle();
  EXPECT_EQ(w.size("a"), 4);
  ASSERT_TRUE(w.queue.upsert(wrapper("fixed", {{2, resources("1")}}, 5), w.now).has_value());
  w.settle();
  EXPECT_EQ(w.queue.kind("uid-fixed"), Standing::Kind::started);
  EXPECT_EQ(w.size("a"), 2);
  EXPECT_EQ(w.pods("a"), 2U);
  w.queue.remove("uid-fixed");
  w.settle();
  EXPECT_EQ(w.size("a"), 4);
  EXPECT_EQ(w.pods("a"), 4U);
}

TEST(QueueTraining, no_pod_is_bound_before_the_plan_is_written) {
  World w;
  w.queue.upsert_node(node("n1", resources("4")));
  const model::TrainingJob job = training_job("a", 1, 3);
  w.add(job);
  w.step();
  for (int index = 0; index < 3; ++index) {
    w.queue.upsert_pod(worker(job, index));
  }
  EXPECT_TRUE(w.step().bindings.empty());
  EXPECT_TRUE(w.queue.plan_written("uid-a", w.queue.standing("uid-a").plan));
  EXPECT_EQ(w.step().bindings.size(), 3U);
}

TEST(QueueTraining, bounds_change_while_it_runs) {
  World w;
  w.queue.upsert_node(node("n1", resources("8")));
  model::TrainingJob job = training_job("a", 2, 3);
  w.add(job);
  w.settle();
  EXPECT_EQ(w.pods("a"), 3U);
  job.spec.max_size = 6;
  w.add(job);
  w.settle();
  EXPECT_EQ(w.pods("a"), 6U);
  job.spec.desired_size = 4;
  w.add(job);
  w.settle();
  EXPECT_EQ(w.pods("a"), 4U);
  job.spec.desired_size = 1;
  w.add(job);
  w.settle();
  EXPECT_EQ(w.pods("a"), 2U) << "never below the minimum";
}

TEST(QueueTraining, a_lost_node_costs_the_job_its_pods_there_alone) {
  World w;
  w.queue.upsert_node(node("n1", resources("2")));
  w.queue.upsert_node(node("n2", resources("2")));
  w.add(training_job("a", 2, 4));
  w.settle();
  EXPECT_EQ(w.pods("a"), 4U);
  w.queue.remove_node("n2");
  std::erase_if(w.workers["a"], [](const auto& each) { return each.second == "n2"; });
  w.settle();
  EXPECT_EQ(w.queue.kind("uid-a"), Standing::Kind::started);
  EXPECT_EQ(w.size("a"), 2);
  w.queue.upsert_node(node("n3", resources("2")));
  w.settle();
  EXPECT_EQ(w.size("a"), 4);
  EXPECT_EQ(w.pods("a"), 4U);
}

TEST(QueueTraining, a_pod_that_ends_by_itself_keeps_its_place_for_a_successor) {
  World w;
  w.queue.upsert_node(node("n1", resources("3")));
  const model::TrainingJob job = training_job("a", 1, 3);
  w.add(job);
  w.settle();
  const model::Pod lost = worker(job, 1);
  w.queue.remove_pod(lost.metadata.key(), lost.metadata.uid);
  w.workers["a"].erase(1);
  w.settle();
  EXPECT_EQ(w.pods("a"), 3U);
  EXPECT_EQ(w.workers["a"][1], "n1");
}

TEST(QueueTraining, a_restart_adopts_the_plan_of_the_status) {
  World w;
  w.queue.upsert_node(node("n1", resources("4")));
  model::TrainingJob job = training_job("a", 1, 4);
  model::TrainingPlan& plan = job.status.plan.emplace();
  for (int index = 0; index < 3; ++index) {
    plan.places.push_back({.index = index, .node = "n1"});
    w.workers["a"][index] = "n1";
  }
  job.spec.max_size = 3;
  w.add(job);
  for (int index = 0; index < 3; ++index) {
    w.queue.upsert_pod(worker(job, index, "n1"));
  }
  EXPECT_EQ(w.queue.kind("uid-a"), Standing::Kind::started);
  w.settle();
  EXPECT_EQ(w.size("a"), 3);
  EXPECT_EQ(w.pods("a"), 3U);
  EXPECT_EQ(free_on(w.queue, "n1"), 1000);
}

TEST(QueueTraining, unit_node_gives_each_worker_a_node_of_the_selected_ones) {
  World w({.training = {.unit = "node", .node_selector = {{"pool", "gpu"}}}});
  for (const char* name : {"n1", "n2", "n3"}) {
    model::Node each = node(name, resources("64"));
    each.metadata.labels["pool"] = std::string(name) == "n3" ? "cpu" : "gpu";
    w.queue.upsert_node(each);
  }
  const auto on_nodes = [](const std::string& name, int age) {
    model::TrainingJob job = training_job(name, 1, 8, age);
    job.spec.replica_specs.pod_template.metadata.labels.emplace(kUnitLabel, kNodeUnit);
    return job;
  };
  w.add(on_nodes("a", 0));
  w.settle();
  EXPECT_EQ(w.size("a"), 2);
  w.add(on_nodes("b", 1));
  w.settle();
  EXPECT_EQ(w.size("a"), 1);
  EXPECT_EQ(w.size("b"), 1);
  w.queue.set_training({.unit = "node", .node_selector = {}});
  w.add(on_nodes("c", 2));
  w.settle();
  EXPECT_EQ(w.workers["c"][0], "n3") << "the file of selectors is another one";
}

TEST(QueueTraining, growth_sentence_says_what_the_next_pod_lacks) {
  World w;
  w.queue.upsert_node(node("n1", resources("3")));
  w.add(training_job("a", 1, 8));
  w.settle();
  const std::string why = w.queue.growth_sentence("uid-a", w.now);
  EXPECT_TRUE(why.starts_with("grows to 4 later: ")) << why;
  EXPECT_NE(why.find("CPU"), std::string::npos) << why;
}

TEST(QueueTraining, a_job_that_waits_is_mended_by_another_template) {
  World w;
  w.queue.upsert_node(node("n1", resources("3")));
  model::TrainingJob job = training_job("a", 1, 2);
  job.spec.replica_specs.pod_template.spec.containers[0].resources.requests = resources("16");
  w.add(job);
  w.settle();
  EXPECT_EQ(w.queue.kind("uid-a"), Standing::Kind::waiting);
  w.add(training_job("a", 1, 2));
  w.settle();
  EXPECT_EQ(w.queue.kind("uid-a"), Standing::Kind::started);
  EXPECT_EQ(w.size("a"), 2);
}

TEST(QueueTraining, a_name_may_be_an_app_wrapper_and_a_training_job) {
  World w;
  w.queue.upsert_node(node("n1", resources("1")));
  w.add(training_job("same", 1, 1));
  model::AppWrapper other = wrapper("same", {{1, resources("1")}}, 1);
  other.metadata.uid = "uid-other";
  ASSERT_TRUE(w.queue.upsert(other, w.now).has_value());
  const model::ObjectKey key{"team-a", "same"};
  EXPECT_EQ(w.queue.find(key)->uid, "uid-other");
  EXPECT_EQ(w.queue.find(key, WorkKind::training_job)->uid, "uid-same");
  EXPECT_EQ(w.queue.find_all(key).size(), 1U);
}

}  // namespace
}  // namespace codeflare::queue
