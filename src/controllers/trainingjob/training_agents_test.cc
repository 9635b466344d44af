#include "controllers/trainingjob/training_decision.h"
#include "controllers/trainingjob/worker_pod.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>

namespace codeflare::controllers::trainingjob {
namespace {

using elastic::MemberState;
using std::chrono::seconds;

constexpr WallTime kNow{seconds(1'000'000)};

elastic::Member member(MemberState state, std::int64_t generation, std::string pod) {
  elastic::Member made;
  made.generation = generation;
  made.state = state;
  made.agent = "agent of " + pod;
  made.pod = std::move(pod);
  return made;
}

// A job of two workers on one node whose agents train in generation 1.
struct Scene {
  Observed observed;

  Scene() {
    model::TrainingJob& job = observed.job;
    job.metadata.name = "bert";
    job.metadata.ns = "default";
    job.metadata.uid = "job";
    job.spec.min_size = 1;
    job.spec.max_size = 2;
    job.spec.inject_lattice = true;
    job.spec.elastic.grace_period_seconds = 5;
    job.spec.replica_specs.pod_template.spec.containers.push_back({.name = "trainingjob"});
    job.spec.replica_specs.pod_template.spec.containers[0].command = {"train"};
    job.status.stage = "Running";
    job.status.start_time = kNow;
    job.status.current_size = 2;
    observed.standing.kind = queue::Standing::Kind::started;
    observed.agents.emplace();
    observed.agents->has_round_lease = true;
    model::TrainingMembership membership;
    membership.generation = 1;
    membership.reason = "Start";
    for (std::int64_t index = 0; index < 2; ++index) {
      const std::string uid = "u" + std::to_string(index);
      observed.pods.push_back({.name = worker_name(index),
                               .uid = uid,
                               .index = index,
                               .node = "a",
                               .phase = Phase::running,
                               .ready = true,
                               .created = kNow});
      observed.agents->leases.insert(index);
      observed.agents->members.emplace(uid, member(MemberState::running, 1, uid));
      membership.members.push_back({.index = index, .pod = uid, .extra = {}});
    }
    job.status.membership = membership;
    plan(2);
    job.status.plan = decide(observed, kNow).status->plan;
  }

  static std::string worker_name(std::int64_t index) {
    return "bert-worker-" + std::to_string(index);
  }
  void plan(std::int64_t size) {
    observed.standing.plan = {{.pod_set = 0, .node = "a", .count = size}};
  }
  elastic::Member& word(const std::string& uid) { return observed.agents->members.at(uid); }
  // Decides, and has the status written.
  Desired step() {
    Desired desired = decide(observed, kNow);
    if (desired.status) {
      observed.job.status = *desired.status;
    }
    return desired;
  }
};

TEST(TrainingAgents, succeed_when_every_member_is_done) {
  Scene s;
  s.word("u0").state = MemberState::done;
  s.step();
  EXPECT_EQ(s.observed.job.status.stage, "Running");
  s.word("u1").state = MemberState::done;
  s.step();
  EXPECT_EQ(s.observed.job.status.stage, "Completed");
  EXPECT_EQ(s.observed.job.status.reason, "Succeeded");
  EXPECT_EQ(s.observed.job.status.membership->reason, "Finish");
}

TEST(TrainingAgents, a_shrink_changes_the_membership_and_then_removes_the_pod) {
  Scene s;
  s.plan(1);
  const Desired desired = s.step();
  const model::TrainingJobStatus& status = s.observed.job.status;
  ASSERT_EQ(status.membership->members.size(), 1U);
  EXPECT_EQ(status.membership->reason, "Shrink");
  ASSERT_EQ(desired.remove.size(), 1U) << "after the status";
  EXPECT_NE(desired.remove[0].uid, status.membership->members[0].pod);
  EXPECT_EQ(status.restart_counts.infra, 0);
}

TEST(TrainingAgents, a_member_that_has_to_stay_for_proof_keeps_its_pod) {
  Scene s;
  elastic::Round round;
  round.generation = 1;
  round.ranks.push_back(
      {.index = 1, .rank = 0, .agent = "agent of u1", .address = {}, .extra = {}});
  s.observed.agents->round = round;
  // Only worker 1 trained; it leaves, and does not say so.
  s.observed.pods[1].ready = false;
  s.plan(1);
  EXPECT_TRUE(s.step().remove.empty());
  EXPECT_EQ(s.observed.job.status.membership->generation, 1);
  s.observed.agents->lost.insert("u1");
  EXPECT_EQ(s.step().remove.size(), 1U) << "nobody answers there any more";
}

TEST(TrainingAgents, failures_are_counted_by_class_once_and_up_to_the_limit) {
  Scene s;
  s.observed.job.spec.run_policy.backoff_limit = 0;
  s.word("u1").state = MemberState::failed;
  s.word("u1").exit_class = elastic::ExitClass::infrastructure;
  s.step();
  s.step();
  EXPECT_EQ(s.observed.job.status.restart_counts.infra, 1);
  EXPECT_EQ(s.observed.job.status.membership->reason, "Replace");
  EXPECT_EQ(s.observed.job.status.membership->members.size(), 2U);
  s.word("u0").generation = s.word("u1").generation = 2;
  s.word("u1").exit_class = elastic::ExitClass::user;
  s.word("u1").exit_code = 7;
  s.word("u1").message = "no such file";
  s.step();
  const model::TrainingJobStatus& status = s.observed.job.status;
  EXPECT_EQ(status.restart_counts.user, 1);
  EXPECT_EQ(status.reason, "BackoffLimitExceeded");
  EXPECT_NE(status.message.find("worker 1 failed: exit code 7: no such file"), std::string::npos)
      << status.message;
}

TEST(TrainingAgents, a_failed_pod_of_a_member_is_counted_by_the_membership_alone) {
  Scene s;
  s.observed.pods[1].phase = Phase::failed;
  s.observed.pods[1].exit_code = 137;
  const Desired desired = s.step();
  EXPECT_EQ(s.observed.job.status.restart_counts.infra, 1);
  EXPECT_EQ(s.observed.job.status.restart_counts.user, 0);
  EXPECT_EQ(desired.remove.size(), 1U);
  s.step();
  EXPECT_EQ(s.observed.job.status.restart_counts.infra, 1);
}

TEST(TrainingAgents, growth_makes_leases_and_waits_until_new_members_have_registered) {
  Scene s;
  s.observed.job.spec.max_size = 3;
  s.plan(3);
  Desired desired = s.step();
  EXPECT_EQ(desired.create, (std::vector<std::int64_t>{2}));
  EXPECT_EQ(desired.create_leases, (std::vector<std::int64_t>{2}));
  s.observed.agents->leases.insert(2);
  s.observed.pods.push_back({.name = "bert-worker-2",
                             .uid = "u2",
                             .index = 2,
                             .node = "a",
                             .phase = Phase::running,
                             .ready = true,
                             .created = kNow});
  s.step();
  EXPECT_EQ(s.observed.job.status.membership->generation, 1);
  EXPECT_EQ(s.observed.job.status.ready_size, 2);
  s.observed.agents->members.emplace("u2", member(MemberState::registered, 1, "u2"));
  s.step();
  EXPECT_EQ(s.observed.job.status.membership->reason, "Grow");
  EXPECT_EQ(s.observed.job.status.membership->members.size(), 3U);
  EXPECT_EQ(s.observed.job.status.ready_size, 3);
}

TEST(TrainingAgents, progress_is_that_of_the_member_furthest_ahead_and_only_when_due) {
  Scene s;
  s.word("u0").step = 4;
  s.word("u0").saved_step = 3;
  s.word("u1").step = 5;
  s.word("u1").samples_per_second = 64;
  s.step();
  EXPECT_FALSE(s.observed.job.status.progress);
  s.observed.agents->progress_due = true;
  s.step();
  ASSERT_TRUE(s.observed.job.status.progress);
  EXPECT_EQ(s.observed.job.status.progress->step, 5);
  EXPECT_EQ(s.observed.job.status.progress->samples_per_second, 64);
  EXPECT_EQ(s.observed.job.status.progress->saved_step, 3);
}

TEST(TrainingAgents, pods_get_the_agent_by_an_init_container_and_an_account_of_the_job) {
  const Scene s;
  const model::Pod pod = worker_pod(s.observed.job, 1, {.agent_image = "codeflare:1"});
  ASSERT_EQ(pod.spec.init_containers.size(), 1U);
  EXPECT_EQ(pod.spec.init_containers[0].image, "codeflare:1");
  EXPECT_EQ(pod.spec.containers[0].command,
            (std::vector<std::string>{"/lattice/codeflare-agent", "--", "train"}));
  EXPECT_EQ(pod.spec.service_account_name, "bert-agent");
  model::TrainingJob etcd = s.observed.job;
  etcd.spec.elastic.rdzv_backend = "etcd";
  EXPECT_TRUE(worker_pod(etcd, 1, {.agent_image = "codeflare:1"}).spec.init_containers.empty());
}

}  // namespace
}  // namespace codeflare::controllers::trainingjob
