#include "queue/queue.h"
#include "queue/report.h"
#include "queue/settings.h"
#include "queue/testing/training_jobs.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
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

TEST(QueueTraining, nothing_grows_or_shrinks_while_starts_are_forbidden) {
  World w;
  w.queue.upsert_node(node("n1", resources("2")));
  w.add(training_job("a", 1, 4));
  w.settle();
  EXPECT_EQ(w.size("a"), 2);
  w.queue.block(Reason::unlicensed, "no licence");
  w.queue.upsert_node(node("n2", resources("2")));
  w.add(training_job("b", 1, 1, 1));
  w.settle();
  EXPECT_EQ(w.size("a"), 2) << "running work is not touched";
  EXPECT_EQ(w.queue.kind("uid-b"), Standing::Kind::waiting);
  w.queue.block(Reason::unlicensed, "");
  w.settle();
  EXPECT_EQ(w.queue.kind("uid-b"), Standing::Kind::started);
  EXPECT_EQ(w.size("a"), 3);
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

TEST(QueueTraining, a_pod_that_tolerates_a_cordon_keeps_its_place) {
  World w;
  model::Node cordoned = node("n1", resources("2"));
  cordoned.spec.unschedulable = true;
  w.queue.upsert_node(cordoned);
  model::TrainingJob job = training_job("a", 1, 1);
  job.spec.replica_specs.pod_template.spec.tolerations.push_back({.op = "Exists"});
  w.add(job);
  w.settle();
  EXPECT_EQ(w.size("a"), 1);
  EXPECT_EQ(w.pods("a"), 1U);
}

void loses_a_pod(bool cordoned) {
  World w;
  w.queue.upsert_node(node("n1", resources("2")));
  w.queue.upsert_node(node("n2", resources("1")));
  const model::TrainingJob job = training_job("a", 1, 2);
  w.add(job);
  w.settle();
  ASSERT_EQ(w.pods("a"), 2U);
  const auto [index, at] = *w.workers["a"].begin();
  model::Node unready = node(at, resources("2"));
  unready.status.conditions.front().status = cordoned ? "True" : "Unknown";
  unready.spec.unschedulable = cordoned;
  w.queue.upsert_node(unready);
  w.settle();
  EXPECT_EQ(w.pods("a"), 2U) << "pods that run there stay";
  const std::string node_lost = at;
  for (auto each = w.workers["a"].begin(); each != w.workers["a"].end();) {
    if (each->second != node_lost) {
      ++each;
      continue;
    }
    const model::Pod pod = worker(job, each->first);
    w.queue.remove_pod(pod.metadata.key(), pod.metadata.uid);
    each = w.workers["a"].erase(each);
  }
  w.queue.upsert_node(node("n3", resources("4")));
  w.settle();
  EXPECT_EQ(w.pods("a"), 2U);
  for (const auto& [worker_index, where] : w.workers["a"]) {
    EXPECT_NE(where, node_lost) << worker_index;
  }
}

TEST(QueueTraining, a_pod_that_is_gone_from_a_node_that_is_not_ready_gets_another_place) {
  loses_a_pod(false);
}

TEST(QueueTraining, a_pod_that_is_gone_from_a_cordoned_node_gets_another_place) {
  loses_a_pod(true);
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

TEST(QueueTraining, a_held_job_names_its_suspend_field_and_the_whole_command) {
  World w;
  w.queue.upsert_node(node("n1", resources("3")));
  model::TrainingJob job = training_job("a", 1, 2);
  job.spec.run_policy.suspend = true;
  w.add(job);
  w.settle();
  const std::string release =
      "run 'codeflare release tj a', or set spec.runPolicy.suspend to false";
  EXPECT_EQ(w.queue.sentence("uid-a", w.now), "spec.runPolicy.suspend is true; " + release);
  EXPECT_EQ(explain(w.queue, "uid-a", w.now)->advice, std::vector<std::string>{release});
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

TEST(QueueTraining, who_would_have_to_shrink_is_told_to_work_that_waits) {
  World w;
  w.queue.upsert_node(node("n1", resources("4")));
  model::TrainingJob high = training_job("high", 1, 4);
  high.spec.priority = 5;
  w.add(high);
  w.settle();
  EXPECT_EQ(w.size("high"), 4);
  w.add(training_job("low", 2, 2, 1));
  w.settle();
  const Result<Report> report = explain(w.queue, "uid-low", w.now);
  ASSERT_TRUE(report.has_value());
  ASSERT_EQ(report->holders.size(), 1U);
  EXPECT_EQ(report->holders[0], "TrainingJob team-a/high holds 4 CPUs, 3 pods above its minimum");
  ASSERT_EQ(report->advice.size(), 1U);
  EXPECT_EQ(report->advice[0],
            "starts if this work shrinks: TrainingJob team-a/high by 2 pods (2 CPUs)");
}

TEST(QueueTraining, a_sentence_counts_the_pods_that_are_awaited) {
  World w;
  w.queue.upsert_node(node("n1", resources("4")));
  w.add(training_job("a", 1, 4));
  w.settle();
  w.add(training_job("b", 2, 2, 1));
  w.step();
  EXPECT_EQ(w.queue.sentence("uid-b", w.now),
            "starts when evicted work has ended: 2 pods of TrainingJob team-a/a (2 CPUs)");
}

// --- measured speed ---

enum class Reported : std::uint8_t { nothing, settled, once, not_whole };

// The status as the controller writes it while the job trains.
void train_at(model::TrainingJob& job, std::int64_t size, double rate, Reported how,
              const std::function<void()>& tell) {
  model::TrainingJobStatus& status = job.status;
  model::TrainingMembership& group =
      status.membership ? *status.membership : status.membership.emplace();
  ++group.generation;
  group.members.clear();
  for (std::int64_t index = 0; index < size; ++index) {
    group.members.push_back({.index = index, .pod = "p" + std::to_string(index)});
  }
  status.current_size = size;
  status.ready_size = how == Reported::not_whole ? size - 1 : size;
  model::TrainingProgress& progress =
      status.progress ? *status.progress : status.progress.emplace();
  progress.samples_per_second = rate;
  const int reports = how == Reported::once ? 2 : 6;
  for (int i = 0; i < reports; ++i) {
    progress.step += 10;
    tell();
  }
}

// Of two jobs on six places, `a` is hardly faster with a third pod, and gave that to `b`. Its size
// when it may have three again.
std::int64_t size_again(Reported how) {
  World w;
  w.queue.upsert_node(node("n1", resources("6")));
  model::TrainingJob a = training_job("a", 1, 4);
  w.add(a);
  w.add(training_job("b", 1, 4));
  w.settle();
  EXPECT_EQ(w.size("a"), 3);
  const auto tell = [&] { w.add(a); };
  const auto run_at = [&](std::int64_t size, double rate) {
    if (how != Reported::nothing) {
      train_at(a, size, rate, how, tell);
    }
  };
  run_at(3, 100);
  a.spec.desired_size = 2;
  w.add(a);
  w.settle();
  EXPECT_EQ(w.size("b"), 4);
  run_at(2, 96);
  a.spec.desired_size.reset();
  w.add(a);
  w.settle();
  EXPECT_EQ(w.size("a") + w.size("b"), 6);
  return w.size("a");
}

TEST(QueueTraining, measured_rates_decide_where_a_pod_adds_most) {
  EXPECT_EQ(size_again(Reported::nothing), 3);
  EXPECT_EQ(size_again(Reported::settled), 2);
}

TEST(QueueTraining, rates_count_when_the_whole_group_trains_and_has_settled) {
  EXPECT_EQ(size_again(Reported::once), 3);
  EXPECT_EQ(size_again(Reported::not_whole), 3);
}

// Of two equally fast jobs on six places, when `a` may grow again and each has so many samples
// left.
std::int64_t size_with(std::int64_t left_of_a, std::int64_t left_of_b) {
  World w;
  w.queue.upsert_node(node("n1", resources("6")));
  model::TrainingJob a = training_job("a", 1, 4);
  model::TrainingJob b = training_job("b", 1, 4);
  a.spec.desired_size = 2;
  w.add(a);
  w.add(b);
  w.settle();
  EXPECT_EQ(w.size("a"), 2);
  EXPECT_EQ(w.size("b"), 4);
  a.status.progress.emplace().remaining_samples = left_of_a;
  b.status.progress.emplace().remaining_samples = left_of_b;
  train_at(a, 2, 100, Reported::settled, [&] { w.add(a); });
  train_at(b, 4, 174, Reported::settled, [&] { w.add(b); });
  a.spec.desired_size.reset();
  w.add(a);
  w.settle();
  EXPECT_EQ(w.size("a") + w.size("b"), 6);
  return w.size("a");
}

TEST(QueueTraining, pods_go_to_the_job_that_has_less_left_to_do) {
  constexpr std::int64_t kSecond = 100;
  constexpr std::int64_t kDay = 100 * 86'400;
  EXPECT_EQ(size_with(kDay, kSecond), 2);
  EXPECT_GT(size_with(kSecond, kDay), 2);
}

TEST(QueueTraining, a_job_that_is_slower_with_more_pods_still_takes_what_is_idle) {
  World w({.core = {.resize_cost = kResizeCost}});
  w.queue.upsert_node(node("n1", resources("4")));
  model::TrainingJob a = training_job("a", 1, 3);
  w.add(a);
  w.settle();
  EXPECT_EQ(w.size("a"), 3);
  const auto tell = [&] { w.add(a); };
  train_at(a, 3, 50, Reported::settled, tell);
  a.spec.desired_size = 1;
  w.add(a);
  w.settle();
  train_at(a, 1, 100, Reported::settled, tell);
  a.spec.desired_size.reset();
  w.add(a);
  w.settle();
  EXPECT_EQ(w.size("a"), 3);
}

// --- inside an AppWrapper ---

// An AppWrapper `name` around the TrainingJob `name`-job.
model::AppWrapper wrapping(const std::string& name, std::int64_t min, std::int64_t max,
                           int age = 0) {
  model::AppWrapper outer = wrapper(name, {}, age);
  outer.spec.resources.generic_items.front().generic_template.text =
      R"({"apiVersion":"breezeml.ai/v1","kind":"TrainingJob","metadata":{"name":")" + name +
      R"(-job"},"spec":{"minSize":)" + std::to_string(min) + R"(,"maxSize":)" +
      std::to_string(max) + R"(,"priority":9,"replicaSpecs":{"template":{"spec":{"containers":[)" +
      R"({"name":"trainingjob","image":"i","resources":{"requests":{"cpu":"1"}}}]}}}}})";
  return outer;
}

// The wrapped job as the API has it once the AppWrapper is dispatched.
model::TrainingJob wrapped_job(const std::string& name, std::int64_t min, std::int64_t max) {
  model::TrainingJob job = training_job(name + "-job", min, max);
  job.metadata.owner_references.push_back({.api_version = "workload.codeflare.dev/v1beta1",
                                           .kind = "AppWrapper",
                                           .name = name,
                                           .uid = "uid-" + name,
                                           .controller = true});
  return job;
}

// Its workers carry the AppWrapper's UID.
void add_wrapper(World& w, const model::AppWrapper& outer) {
  ASSERT_TRUE(w.queue.upsert(outer, w.now).has_value());
  w.jobs.insert_or_assign(outer.metadata.name, training_job(outer.metadata.name, 1, 1));
}

TEST(QueueTraining, a_wrapped_job_is_the_gang_of_its_app_wrapper) {
  World w;
  w.queue.upsert_node(node("n1", resources("5")));
  add_wrapper(w, wrapping("aw", 2, 8));
  ASSERT_TRUE(w.queue.upsert(wrapped_job("aw", 2, 8), w.now).has_value());
  w.settle();
  EXPECT_EQ(w.size("aw"), 5);
  EXPECT_EQ(w.pods("aw"), 5U);
  EXPECT_EQ(w.queue.running(), 1U);
  EXPECT_EQ(w.queue.kind("uid-aw-job"), Standing::Kind::unknown) << "no gang of its own";
  EXPECT_TRUE(w.queue.outside().empty()) << "every pod is the gang's";
  const Standing seen = standing_in_wrapper(w.queue, wrapped_job("aw", 2, 8));
  EXPECT_EQ(seen.kind, Standing::Kind::started);
  EXPECT_EQ(seen.plan, (std::vector<model::PlannedPlace>{{.node = "n1", .count = 5}}));
}

TEST(QueueTraining, a_wrapped_job_that_requests_no_unit_is_told_before_it_starts) {
  World w({.training = {.unit = "nvidia.com/gpu"}});
  w.queue.upsert_node(node("n1", resources("5")));
  const Result<void> taken = w.queue.upsert(wrapping("aw", 1, 2), w.now);
  ASSERT_FALSE(taken.has_value());
  EXPECT_TRUE(taken.error().message.starts_with(
      "spec.resources.GenericItems[0].generictemplate.spec.replicaSpecs.template.spec.containers: "
      "no container requests nvidia.com/gpu"))
      << taken.error().message;
}

TEST(QueueTraining, another_job_that_names_the_app_wrapper_gets_nothing_of_it) {
  World w;
  w.queue.upsert_node(node("n1", resources("5")));
  add_wrapper(w, wrapping("aw", 1, 2));
  model::TrainingJob forged = wrapped_job("aw", 1, 8);
  forged.metadata.name = "forged";
  ASSERT_TRUE(w.queue.upsert(forged, w.now).has_value());
  w.settle();
  EXPECT_EQ(w.size("aw"), 2);
  EXPECT_EQ(standing_in_wrapper(w.queue, forged).kind, Standing::Kind::unknown);
}

TEST(QueueTraining, a_wrapped_job_gives_growth_back_and_is_not_paused) {
  World w;
  w.queue.upsert_node(node("n1", resources("4")));
  add_wrapper(w, wrapping("aw", 2, 4));
  w.settle();
  EXPECT_EQ(w.size("aw"), 4);
  model::TrainingJob high = training_job("high", 2, 2, 1);
  high.spec.priority = 7;
  w.add(high);
  w.settle();
  EXPECT_EQ(w.size("aw"), 2) << "the priority of the item does not count";
  EXPECT_EQ(w.size("high"), 2);
  model::TrainingJob second = training_job("second", 2, 2, 2);
  second.spec.priority = 5;
  w.add(second);
  w.settle();
  EXPECT_EQ(w.queue.kind("uid-second"), Standing::Kind::waiting);
  EXPECT_EQ(w.size("aw"), 2) << "AppWrappers are evicted under preemption alone";
}

TEST(QueueTraining, bounds_of_the_living_wrapped_job_count_until_it_starts_again) {
  World w;
  w.queue.upsert_node(node("n1", resources("6")));
  add_wrapper(w, wrapping("aw", 1, 2));
  w.settle();
  EXPECT_EQ(w.size("aw"), 2);
  ASSERT_TRUE(w.queue.upsert(wrapped_job("aw", 3, 5), w.now).has_value());
  w.settle();
  EXPECT_EQ(w.size("aw"), 5);
  w.queue.stopping("uid-aw");
  w.settle();
  EXPECT_EQ(w.size("aw"), 2) << "another TrainingJob is made of the item";
}

TEST(QueueTraining, rates_of_a_wrapped_job_are_those_of_the_gang_of_its_app_wrapper) {
  World w;
  w.queue.upsert_node(node("n1", resources("6")));
  add_wrapper(w, wrapping("aw", 1, 4));
  w.add(training_job("b", 1, 4));
  w.settle();
  EXPECT_EQ(w.size("aw"), 3);
  model::TrainingJob inner = wrapped_job("aw", 1, 4);
  const auto tell = [&] { ASSERT_TRUE(w.queue.upsert(inner, w.now).has_value()); };
  train_at(inner, 3, 100, Reported::settled, tell);
  inner.spec.desired_size = 2;
  tell();
  w.settle();
  EXPECT_EQ(w.size("b"), 4);
  train_at(inner, 2, 96, Reported::settled, tell);
  inner.spec.desired_size.reset();
  tell();
  w.settle();
  EXPECT_EQ(w.size("aw"), 2);
}

TEST(QueueTraining, a_restart_adopts_all_places_of_a_wrapped_job) {
  World w;
  w.queue.upsert_node(node("n1", resources("6")));
  model::AppWrapper outer = wrapping("aw", 1, 2);
  outer.status.can_run = true;
  outer.status.plan.emplace().places.push_back({.node = "n1", .count = 5});
  add_wrapper(w, outer);
  ASSERT_TRUE(w.queue.upsert(wrapped_job("aw", 1, 5), w.now).has_value());
  const model::TrainingJob as_wrapper = training_job("aw", 1, 1);
  for (int index = 0; index < 5; ++index) {
    w.workers["aw"].emplace(index, "n1");
    w.queue.upsert_pod(worker(as_wrapper, index, "n1"));
  }
  w.settle();
  EXPECT_EQ(w.size("aw"), 5);
  EXPECT_EQ(w.pods("aw"), 5U) << "no pod has to go";
  EXPECT_TRUE(w.queue.unplanned("uid-aw").empty());
}

}  // namespace
}  // namespace codeflare::queue
