#include "controllers/trainingjob/checkpoint_service.h"
#include "controllers/trainingjob/training_decision.h"
#include "controllers/trainingjob/worker_pod.h"
#include "model/condition.h"

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
  s.word("u1").remaining_samples = 900;
  s.step();
  EXPECT_FALSE(s.observed.job.status.progress);
  s.observed.agents->progress_due = true;
  s.step();
  ASSERT_TRUE(s.observed.job.status.progress);
  EXPECT_EQ(s.observed.job.status.progress->step, 5);
  EXPECT_EQ(s.observed.job.status.progress->samples_per_second, 64);
  EXPECT_EQ(s.observed.job.status.progress->remaining_samples, 900);
  EXPECT_EQ(s.observed.job.status.progress->saved_step, 3);
}

TEST(TrainingAgents, a_job_that_cannot_save_trains_on_and_tells_since_when) {
  Scene s;
  const model::TrainingJobStatus& status = s.observed.job.status;
  const auto at = [&s](seconds after) {
    Desired desired = decide(s.observed, kNow + after);
    if (desired.status) {
      s.observed.job.status = *desired.status;
    }
    return desired;
  };
  const auto events = [](const Desired& desired) {
    std::string all;
    for (const runtime::EventNote& note : desired.events) {
      all += note.reason + " ";
    }
    return all;
  };
  const std::string since = "not saved since " + to_rfc3339(kNow + seconds(1)) + ": worker 0: ";
  s.observed.agents->progress_due = true;
  s.word("u0").step = 30;
  s.word("u0").saved_step = 20;
  EXPECT_EQ(events(at(seconds(0))), "");
  s.word("u0").unsaved = "service: 9 MB are free";
  EXPECT_EQ(events(at(seconds(1))), "Unsaved ");
  s.word("u0").unsaved = "service: 8 MB are free";
  EXPECT_EQ(events(at(seconds(2))), "");
  EXPECT_EQ(status.stage, "Running");
  EXPECT_EQ(status.progress->saved_step, 20);
  EXPECT_TRUE(status.message.ends_with(since + "service: 8 MB are free")) << status.message;
  // A new group: nobody has tried yet.
  s.word("u0").unsaved = "";
  EXPECT_EQ(events(at(seconds(60))), "");
  EXPECT_TRUE(status.message.contains(since)) << status.message;
  s.word("u1").step = 40;
  s.word("u1").saved_step = 40;
  EXPECT_EQ(events(at(seconds(70))), "Saved ");
  EXPECT_FALSE(status.message.contains("saved")) << status.message;
  EXPECT_FALSE(model::is_condition_true(status.conditions, "Unsaved"));
}

TEST(TrainingAgents, a_worker_whose_node_is_not_ready_for_30_s_is_lost) {
  Scene s;
  s.observed.pods[1].stranded = seconds(29);
  Desired desired = s.step();
  EXPECT_TRUE(desired.abandon.empty());
  EXPECT_EQ(desired.look_again, std::optional<Duration>(seconds(1)));
  s.observed.pods[1].stranded = seconds(30);
  desired = s.step();
  ASSERT_EQ(desired.abandon.size(), 1U);
  EXPECT_EQ(desired.abandon[0].uid, "u1");
  const model::TrainingJobStatus& status = s.observed.job.status;
  ASSERT_EQ(status.membership->members.size(), 1U);
  EXPECT_EQ(status.membership->reason, "Replace");
  EXPECT_EQ(status.restart_counts.infra, 1);
  EXPECT_EQ(status.restart_counts.user, 0);
  s.step();
  EXPECT_EQ(status.restart_counts.infra, 1) << "counted once";
}

TEST(TrainingAgents, a_group_that_is_lost_as_a_whole_is_replaced_only_if_it_cannot_save) {
  Scene s;
  s.observed.job.spec.min_size = 2;
  elastic::Round round;
  round.generation = 1;
  for (int index = 0; index < 2; ++index) {
    s.observed.pods[static_cast<std::size_t>(index)].stranded = seconds(60);
    round.ranks.push_back({.index = index,
                           .rank = index,
                           .agent = "agent of u" + std::to_string(index),
                           .address = {},
                           .extra = {}});
  }
  s.observed.agents->round = round;
  // Two more pods have registered elsewhere.
  s.observed.job.spec.max_size = 4;
  s.plan(4);
  for (std::int64_t index = 2; index < 4; ++index) {
    const std::string uid = "u" + std::to_string(index);
    s.observed.pods.push_back({.name = Scene::worker_name(index),
                               .uid = uid,
                               .index = index,
                               .node = "a",
                               .phase = Phase::running,
                               .ready = true,
                               .created = kNow});
    s.observed.agents->leases.insert(index);
    s.observed.agents->members.emplace(uid, member(MemberState::registered, 1, uid));
  }
  EXPECT_TRUE(s.step().abandon.empty());
  EXPECT_EQ(s.observed.job.status.membership->generation, 1);
  s.observed.fenced = true;
  EXPECT_EQ(s.step().abandon.size(), 2U);
  const auto& members = s.observed.job.status.membership->members;
  ASSERT_EQ(members.size(), 2U);
  EXPECT_EQ(members[0].index, 2);
}

TEST(TrainingAgents, growth_that_cannot_start_falls_back_to_the_size_that_trains) {
  Scene s;
  s.observed.job.spec.max_size = 3;
  s.plan(3);
  s.step();
  s.observed.agents->leases.insert(2);
  s.observed.pods.push_back({.name = "bert-worker-2",
                             .uid = "u2",
                             .index = 2,
                             .node = "a",
                             .created = kNow - seconds(10),
                             .reason = "ImagePullBackOff"});
  EXPECT_TRUE(s.step().remove.empty()) << "images may come";
  s.observed.pods.back().created = kNow - seconds(60);
  Desired desired = s.step();
  ASSERT_EQ(desired.remove.size(), 1U);
  EXPECT_EQ(desired.remove[0].uid, "u2");
  ASSERT_FALSE(desired.events.empty());
  EXPECT_TRUE(desired.events.back().message.starts_with("worker 2 cannot start: ImagePullBackOff"));
  EXPECT_EQ(s.observed.job.status.membership->generation, 1) << "those that train are left alone";
  s.observed.pods.pop_back();
  desired = s.step();
  EXPECT_TRUE(desired.create.empty()) << "not at once";
  ASSERT_TRUE(desired.look_again);
  for (model::Condition& condition : s.observed.job.status.conditions) {
    condition.last_transition_time = kNow - std::chrono::minutes(5);
  }
  EXPECT_EQ(s.step().create, (std::vector<std::int64_t>{2}));
}

TEST(TrainingAgents, a_job_below_its_minimum_for_five_minutes_is_requeued_after_a_growing_pause) {
  Scene s;
  s.observed.agents.reset();
  s.observed.job.spec.min_size = 2;
  for (WorkerPod& pod : s.observed.pods) {
    pod.ready = false;
    pod.reason = "ImagePullBackOff";
  }
  s.step();
  EXPECT_EQ(s.observed.job.status.stage, "Running");
  s.observed.job.status.not_ready_since = kNow - std::chrono::minutes(5);
  s.observed.job.status.requeues = 2;
  Desired desired = s.step();
  EXPECT_EQ(desired.remove.size(), 2U);
  EXPECT_EQ(s.observed.job.status.cooldown_time, std::optional<WallTime>(kNow + seconds(120)));
  s.observed.pods.clear();
  s.observed.standing.kind = queue::Standing::Kind::stopping;  // as the queue decided
  desired = s.step();
  EXPECT_TRUE(desired.withdrawn);
  EXPECT_EQ(s.observed.job.status.stage, "RequeueCooldown");
  EXPECT_NE(s.observed.job.status.message.find("ImagePullBackOff"), std::string::npos);
}

std::string variable_of(const model::Pod& pod, std::string_view name) {
  const auto& all = pod.spec.containers[0].env;
  const auto at = std::ranges::find(all, name, &model::EnvVar::name);
  return at == all.end() ? std::string("absent") : at->value;
}

TEST(TrainingAgents, words_of_a_job_that_is_gone_are_forgotten) {
  const Scene s;
  const runtime::Store leases;
  AgentWords words(leases);
  model::TrainingJob job = s.observed.job;
  words.of(job, s.observed.pods, Instant{});
  words.progress_written(job, Instant{});
  EXPECT_FALSE(words.of(job, s.observed.pods, Instant{}).progress_due);
  job.metadata.uid = "another of the same name";
  EXPECT_TRUE(words.of(job, s.observed.pods, Instant{}).progress_due);
  EXPECT_EQ(words.size(), 1U);
  words.forget(job.metadata.key());
  EXPECT_EQ(words.size(), 0U);
}

TEST(TrainingAgents, pods_get_the_token_of_their_job_as_a_file) {
  const Scene s;
  WorkerOptions options{.agent_image = "codeflare:1"};
  EXPECT_EQ(variable_of(worker_pod(s.observed.job, 0, options), "LATTICE_CHECKPOINT_TOKEN_FILE"),
            "absent");
  options.lattice.checkpoint_key_file = "/key";
  model::TrainingJob job = s.observed.job;
  job.spec.checkpoint.keep = 3;
  job.status.progress.emplace().saved_step = 40;
  const model::Pod pod = worker_pod(job, 0, options);
  EXPECT_EQ(variable_of(pod, "LATTICE_CHECKPOINT_TOKEN_FILE"), "/lattice-checkpoint/token");
  EXPECT_EQ(variable_of(pod, "LATTICE_CHECKPOINT_KEEP"), "3");
  EXPECT_EQ(variable_of(pod, "LATTICE_SAVED_STEP"), "40");
  EXPECT_EQ(variable_of(pod, "LATTICE_CHECKPOINT_CONFIG"),
            "job_id=job,namespace=default,ckpt_service_endpoint=lattice-checkpoint-svc.lattice,"
            "ckpt_service_port=5555");
  const auto volume =
      std::ranges::find(pod.spec.volumes, "lattice-checkpoint", &model::Volume::name);
  ASSERT_NE(volume, pod.spec.volumes.end());
  EXPECT_EQ(volume->secret->secret_name, token_secret_name(job));
  job.spec.checkpoint.type = "none";
  EXPECT_EQ(variable_of(worker_pod(job, 0, options), "LATTICE_CHECKPOINT_TOKEN_FILE"), "absent");
}

TEST(TrainingAgents, start_as_many_processes_as_the_pod_requests_gpus) {
  struct Case {
    std::optional<model::IntOrString> given;
    const char* resource;
    const char* amount;
    const char* processes;
  };
  using Given = model::IntOrString;
  for (const Case& each :
       {Case{{}, "nvidia.com/gpu", "4", "4"}, Case{Given::of("auto"), "amd.com/gpu", "2", "2"},
        Case{Given::of("gpu"), "nvidia.com/gpu", "8", "8"},
        Case{Given::of("auto"), "cpu", "6", "1"}, Case{Given::of("cpu"), "cpu", "1500m", "2"},
        Case{Given::of("cpu"), "memory", "1Gi", "1"},
        Case{Given::of("3"), "nvidia.com/gpu", "4", "3"}, Case{Given::of(2), "cpu", "6", "2"}}) {
    Scene s;
    model::TrainingJob& job = s.observed.job;
    job.spec.nproc_per_node = each.given;
    job.spec.replica_specs.pod_template.spec.containers[0].resources.limits.set(
        each.resource, *model::Quantity::parse(each.amount));
    const model::Pod injected = worker_pod(job, 0, {.agent_image = "codeflare:1"});
    EXPECT_EQ(variable_of(injected, "LATTICE_NPROC_PER_NODE"), each.processes) << each.amount;
    job.spec.inject_lattice = false;
    job.spec.elastic.rdzv_backend = "c10d";
    EXPECT_EQ(variable_of(worker_pod(job, 0, {}), "PET_NPROC_PER_NODE"), each.processes)
        << each.amount;
  }
}

// kubectl scale may raise the ceiling again, and torchrun reads its bounds once.
TEST(TrainingAgents, torchrun_gets_the_bounds_of_the_job_whatever_its_ceiling_is) {
  Scene s;
  s.observed.job.spec.max_size = 8;
  s.observed.job.spec.desired_size = 2;
  s.observed.job.spec.inject_lattice = false;
  s.observed.job.spec.elastic.rdzv_backend = "c10d";
  EXPECT_EQ(variable_of(worker_pod(s.observed.job, 0, {}), "PET_NNODES"), "1:8");
}

TEST(TrainingAgents, what_was_saved_before_stays_saved_for_members_that_know_nothing_of_it) {
  Scene s;
  s.observed.agents->progress_due = true;
  s.observed.job.status.progress.emplace().saved_step = 7;
  s.word("u0").step = 9;
  s.step();
  EXPECT_EQ(s.observed.job.status.progress->step, 9);
  EXPECT_EQ(s.observed.job.status.progress->saved_step, 7);
}

TEST(TrainingAgents, pods_get_the_agent_by_an_init_container_and_an_account_of_the_job) {
  const Scene s;
  const model::Pod pod = worker_pod(s.observed.job, 1, {.agent_image = "codeflare:1"});
  ASSERT_EQ(pod.spec.init_containers.size(), 1U);
  EXPECT_EQ(pod.spec.init_containers[0].image, "codeflare:1");
  EXPECT_EQ(pod.spec.containers[0].command,
            (std::vector<std::string>{"/lattice/codeflare-agent", "--", "train"}));
  EXPECT_EQ(pod.spec.service_account_name, "bert-agent");
  const WorkerOptions torchrun{.lattice = {.rdzv_backend = "c10d"}, .agent_image = "codeflare:1"};
  const model::Pod still = worker_pod(s.observed.job, 1, torchrun);
  EXPECT_EQ(still.spec.init_containers.size(), 1U) << "c10d is for jobs without agents";
  EXPECT_EQ(variable_of(still, "LATTICE_RDZV_BACKEND"), "kubernetes");
  EXPECT_EQ(variable_of(still, "PET_RDZV_BACKEND"), "absent");
  model::TrainingJob etcd = s.observed.job;
  etcd.spec.elastic.rdzv_backend = "etcd";
  EXPECT_TRUE(worker_pod(etcd, 1, {.agent_image = "codeflare:1"}).spec.init_containers.empty())
      << "nobody would follow its agents";
  EXPECT_EQ(variable_of(worker_pod(etcd, 1, {}), "LATTICE_RDZV_CONF"), "absent");
  const WorkerOptions tls{.lattice = {.rdzv_conf = {{"protocol", "https"}, {"cacert", "/ca"}}}};
  EXPECT_EQ(variable_of(worker_pod(etcd, 1, tls), "LATTICE_RDZV_CONF"), "protocol=https")
      << "files of the controller are none of the pods'";
}

TEST(TrainingAgents, checkpoints_of_the_type_s3_go_to_the_service_with_a_token) {
  Scene s;
  model::TrainingJob& job = s.observed.job;
  job.spec.checkpoint.type = "s3";
  const LatticeSettings lattice{.checkpoint_key_file = "key"};
  EXPECT_TRUE(saves_remotely(job, lattice));
  const model::Pod pod = worker_pod(job, 0, {.lattice = lattice});
  EXPECT_EQ(variable_of(pod, "LATTICE_CHECKPOINT_TYPE"), "s3");
  EXPECT_TRUE(variable_of(pod, "LATTICE_CHECKPOINT_CONFIG").contains("ckpt_service_endpoint="));
  EXPECT_NE(variable_of(pod, "LATTICE_CHECKPOINT_TOKEN_FILE"), "absent");
}

}  // namespace
}  // namespace codeflare::controllers::trainingjob
