#include "elastic/agent_machine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <string>
#include <utility>

namespace codeflare::elastic {
namespace {

using std::chrono::seconds;
using Type = WorkerMessage::Type;

// An agent of a job of two pods, "u0" and "u1".
class AgentMachineTest : public testing::Test {
 protected:
  static AgentMachine machine(std::int32_t index, std::int32_t nproc = 1) {
    const std::string number = std::to_string(index);
    return AgentMachine({.index = index,
                         .pod = "u" + number,
                         .agent = "a" + number,
                         .address = "10.0.0." + number,
                         .nproc = nproc,
                         .grace = seconds(30),
                         .stall_min = seconds(60)});
  }
  static Membership membership(std::int64_t generation, std::vector<std::int32_t> members,
                               std::string_view reason = reason::kGrow) {
    Membership all{.generation = generation, .reason = std::string(reason)};
    for (std::int32_t index : members) {
      all.members.push_back({.index = index, .pod = "u" + std::to_string(index)});
    }
    return all;
  }
  // The actions, one word each: "start 0", "signal 0 15", "send 0 notice", "port 1".
  static std::vector<std::string> words(AgentMachine& machine) {
    std::vector<std::string> all;
    for (const AgentAction& action : machine.take_actions()) {
      if (const auto* start = std::get_if<StartWorker>(&action)) {
        all.push_back("start " + std::to_string(start->local_rank) +
                      (start->round ? " in " + std::to_string(start->round->generation) : ""));
      } else if (const auto* signal = std::get_if<SignalWorker>(&action)) {
        all.push_back("signal " + std::to_string(signal->local_rank) + " " +
                      std::to_string(signal->number));
      } else if (const auto* send = std::get_if<SendWorker>(&action)) {
        const std::string& line = send->line;
        const auto end = line.find('"', 9);
        all.push_back("send " + std::to_string(send->local_rank) + " " + line.substr(9, end - 9));
      } else if (const auto* pick = std::get_if<PickPort>(&action)) {
        all.push_back("port " + std::to_string(pick->generation));
      }
    }
    return all;
  }
  using Words = std::vector<std::string>;

  static Round round(std::int64_t generation, std::vector<std::int32_t> members,
                     bool library = false) {
    Round all{.generation = generation, .address = "10.0.0.0", .port = 4000, .library = library};
    for (std::int32_t index : members) {
      all.ranks.push_back({.index = index,
                           .rank = all.world_size,
                           .agent = "a" + std::to_string(index),
                           .address = "10.0.0." + std::to_string(index)});
      ++all.world_size;
    }
    return all;
  }
  // Alone in generation 1, with a running plain worker.
  AgentMachine running(std::int32_t index = 0) {
    AgentMachine one = machine(index);
    one.on_membership(membership(1, {0, 1}), now_);
    one.on_port(1, 4000, now_);
    one.on_round(round(1, {0, 1}), now_);
    (void)words(one);
    return one;
  }
  // The same with a worker that has the library.
  AgentMachine running_library(std::int32_t index = 0) {
    AgentMachine one = running(index);
    one.on_message(0, {.type = Type::hello}, now_);
    one.on_message(0, {.type = Type::running, .generation = 1, .step = 1}, now_);
    (void)words(one);
    return one;
  }

  Instant now_{seconds(100)};
};

TEST_F(AgentMachineTest, a_member_is_ready_with_a_port_and_starts_by_the_round) {
  AgentMachine one = machine(1);
  EXPECT_EQ(one.document().state, MemberState::registered);
  one.on_membership(membership(1, {0, 1}), now_);
  EXPECT_EQ(words(one), Words({"port 1"}));
  one.on_port(1, 4001, now_);
  EXPECT_EQ(one.document().state, MemberState::ready);
  EXPECT_EQ(one.document().generation, 1);
  EXPECT_FALSE(one.round_to_write());
  one.on_round(round(1, {0, 1}), now_);
  EXPECT_EQ(words(one), Words({"start 0 in 1"}));
  EXPECT_EQ(one.document().state, MemberState::running);
}

TEST_F(AgentMachineTest, the_lowest_member_writes_the_round_when_all_are_ready_for_it) {
  AgentMachine one = machine(0);
  one.on_membership(membership(3, {0, 1}), now_);
  one.on_port(3, 4000, now_);
  EXPECT_EQ(one.watched(), std::set<std::int32_t>({1}));
  Member other{.generation = 2, .state = MemberState::ready, .pod = "u1", .agent = "a1"};
  one.on_member(1, other, now_);
  EXPECT_FALSE(one.round_to_write());
  other.generation = 3;
  other.pod = "another";
  one.on_member(1, other, now_);
  EXPECT_FALSE(one.round_to_write());
  other.pod = "u1";
  other.step = 7;
  other.nproc = 2;
  one.on_member(1, other, now_);
  ASSERT_TRUE(one.round_to_write());
  EXPECT_EQ(one.round_to_write()->world_size, 3);
  EXPECT_EQ(one.round_to_write()->source, 1);
  EXPECT_EQ(one.round_to_write()->port, 4000);
}

TEST_F(AgentMachineTest, ready_is_said_only_when_the_old_process_has_been_waited_for) {
  AgentMachine one = running(1);
  one.on_membership(membership(2, {0, 1}), now_);
  EXPECT_EQ(words(one), Words({"signal 0 15"}));
  EXPECT_EQ(one.document().state, MemberState::stopping);
  one.on_port(2, 4002, now_);
  EXPECT_EQ(one.document().state, MemberState::stopping);
  EXPECT_EQ(one.deadline(), now_ + seconds(30));
  one.on_time(now_ + seconds(30));
  EXPECT_EQ(words(one), Words({"signal 0 9"}));
  EXPECT_EQ(one.document().state, MemberState::stopping);
  one.on_exit(0, {.exit = {.signal = SIGKILL}}, now_ + seconds(31));
  EXPECT_EQ(one.document().state, MemberState::ready);
  EXPECT_EQ(one.document().exit_class, ExitClass::none);
}

TEST_F(AgentMachineTest, a_worker_with_the_library_stays_and_leaves_its_group) {
  AgentMachine one = running_library(1);
  one.on_membership(membership(2, {0, 1}), now_);
  EXPECT_EQ(words(one), Words({"send 0 notice"}));
  one.on_message(0, {.type = Type::ready, .generation = 2, .step = 12}, now_);
  EXPECT_EQ(words(one), Words({"port 2"}));
  one.on_port(2, 4002, now_);
  EXPECT_EQ(one.document().state, MemberState::ready);
  EXPECT_EQ(one.document().step, 12);
  one.on_round(round(2, {0, 1}, true), now_);
  EXPECT_EQ(words(one), Words({"send 0 round"}));
  one.on_message(0, {.type = Type::running, .generation = 2, .step = 13}, now_);
  EXPECT_EQ(one.document().state, MemberState::running);
}

TEST_F(AgentMachineTest, with_the_library_the_store_listens_before_the_round_is_written) {
  AgentMachine one = running_library(0);
  one.on_membership(membership(2, {0}), now_);
  (void)words(one);
  one.on_message(0, {.type = Type::ready, .generation = 2, .step = 5}, now_);
  one.on_port(2, 4002, now_);
  EXPECT_EQ(words(one), Words({"port 2", "send 0 host"}));
  EXPECT_FALSE(one.round_to_write());
  one.on_message(0, {.type = Type::hosting, .generation = 2, .port = 5000}, now_);
  EXPECT_EQ(one.document().state, MemberState::hosting);
  ASSERT_TRUE(one.round_to_write());
  EXPECT_EQ(one.round_to_write()->port, 5000);
  EXPECT_TRUE(one.round_to_write()->library);
}

TEST_F(AgentMachineTest, a_host_that_does_not_answer_is_replaced) {
  AgentMachine one = running_library(0);
  one.on_membership(membership(2, {0}), now_);
  one.on_message(0, {.type = Type::ready, .generation = 2, .step = 5}, now_);
  one.on_port(2, 4002, now_);
  (void)words(one);
  EXPECT_EQ(one.deadline(), now_ + seconds(30));
  one.on_time(now_ + seconds(30));
  EXPECT_EQ(words(one), Words({"signal 0 9"}));
  one.on_exit(0, {.exit = {.signal = SIGKILL}}, now_ + seconds(31));
  EXPECT_EQ(words(one), Words({"start 0"}));
  one.on_message(0, {.type = Type::hello, .step = 5}, now_ + seconds(33));
  EXPECT_EQ(words(one), Words({"send 0 host"}));
  EXPECT_EQ(one.document().step, 5);
}

TEST_F(AgentMachineTest,
       new_members_of_a_group_with_the_library_start_workers_before_they_register) {
  AgentMachine one = machine(1);
  one.on_round(round(1, {0}, true), now_);
  one.on_membership(membership(1, {0}), now_);
  EXPECT_EQ(words(one), Words({"start 0"}));
  EXPECT_EQ(one.document().state, MemberState::starting);
  one.on_message(0, {.type = Type::hello}, now_);
  EXPECT_EQ(one.document().state, MemberState::registered);
  one.on_membership(membership(2, {0, 1}), now_);
  one.on_port(2, 4000, now_);
  EXPECT_EQ(one.document().state, MemberState::ready);
}

TEST_F(AgentMachineTest, a_restarted_agent_tells_the_steps_that_its_worker_found) {
  AgentMachine one = machine(1);
  one.on_round(round(1, {0, 1}, true), now_);
  one.on_membership(membership(2, {0}), now_);
  EXPECT_EQ(words(one), Words({"start 0"}));
  one.on_message(0, {.type = Type::hello, .step = 7}, now_);
  EXPECT_EQ(one.document().step, 7);
}

TEST_F(AgentMachineTest, a_member_that_has_to_leave_ends_its_workers_and_stays_until_the_pod_goes) {
  AgentMachine one = running(1);
  one.on_membership(membership(2, {0}, reason::kShrink), now_);
  EXPECT_EQ(words(one), Words({"signal 0 15"}));
  one.on_exit(0, {.exit = {.signal = SIGTERM}}, now_);
  EXPECT_EQ(one.document().state, MemberState::left);
  EXPECT_FALSE(one.exit_code());
  one.on_terminate(now_);
  EXPECT_EQ(one.exit_code(), kExitLeft);
}

TEST_F(AgentMachineTest, a_member_that_was_dropped_comes_back_when_its_workers_are_up) {
  AgentMachine one = running_library(1);
  one.on_membership(membership(2, {0}, reason::kReplace), now_);
  one.on_exit(0, {.exit = {.signal = SIGKILL}}, now_);
  (void)words(one);
  EXPECT_EQ(one.document().state, MemberState::left);
  EXPECT_EQ(one.deadline(), now_ + seconds(5));
  one.on_time(now_ + seconds(5));
  EXPECT_EQ(words(one), Words({"start 0"}));
  EXPECT_EQ(one.document().state, MemberState::starting) << "nobody waits for it yet";
  one.on_message(0, {.type = Type::hello}, now_ + seconds(9));
  EXPECT_EQ(one.document().state, MemberState::registered);
}

TEST_F(AgentMachineTest, a_worker_that_does_not_come_up_is_replaced) {
  AgentMachine one = machine(1);
  one.on_round(round(1, {0}, true), now_);
  one.on_membership(membership(1, {0}), now_);
  EXPECT_EQ(words(one), Words({"start 0"}));
  EXPECT_EQ(one.deadline(), now_ + seconds(300));
  one.on_time(now_ + seconds(300));
  EXPECT_EQ(words(one), Words({"signal 0 9"}));
  one.on_exit(0, {.exit = {.signal = SIGKILL}}, now_ + seconds(300));
  EXPECT_EQ(words(one), Words({"start 0"}));
  one.on_message(0, {.type = Type::hello}, now_ + seconds(301));
  EXPECT_EQ(one.document().state, MemberState::registered);
  EXPECT_FALSE(one.deadline()) << "a worker between two groups may wait";
}

TEST_F(AgentMachineTest, only_what_outlives_the_pod_counts_as_saved) {
  AgentMachine one = running_library(1);
  one.on_message(0, {.type = Type::saved, .step = 7, .tier = "memory"}, now_);
  EXPECT_EQ(one.document().saved_step, 0);
  one.on_message(0, {.type = Type::saved, .step = 5, .tier = "service"}, now_);
  EXPECT_EQ(one.document().saved_step, 5);
}

TEST_F(AgentMachineTest, a_failed_save_is_reported_until_that_tier_saves_or_another_group_begins) {
  AgentMachine one = running_library(1);
  const WorkerMessage full{
      .type = Type::unsaved, .step = 3, .tier = "service", .message = "9 bytes are free"};
  one.on_message(0, {.type = Type::progress, .step = 8}, now_);
  one.on_message(0, full, now_);
  EXPECT_EQ(one.document().unsaved, "service: 9 bytes are free");
  EXPECT_EQ(one.document().step, 8);
  one.on_message(0, {.type = Type::saved, .step = 9, .tier = "disk"}, now_);
  EXPECT_EQ(one.document().unsaved, "service: 9 bytes are free") << "the disk is lost with the pod";
  one.on_message(0, {.type = Type::saved, .step = 9, .tier = "service"}, now_);
  EXPECT_EQ(one.document().unsaved, "");
  one.on_message(0, full, now_);
  one.on_membership(membership(2, {0, 1}), now_);
  one.on_message(0, {.type = Type::ready, .generation = 2, .step = 9}, now_);
  one.on_port(2, 4001, now_);
  EXPECT_NE(one.document().unsaved, "");
  one.on_round(round(2, {0, 1}, true), now_);
  EXPECT_EQ(one.document().unsaved, "");
  one.on_message(0, {.type = Type::unsaved, .step = 9, .tier = "memory"}, now_);
  EXPECT_EQ(one.document().unsaved, "");
}

TEST_F(AgentMachineTest, a_membership_without_members_is_a_pause) {
  AgentMachine one = running(1);
  one.on_membership(membership(2, {}, reason::kPause), now_);
  one.on_exit(0, {.exit = {.signal = SIGTERM}}, now_);
  EXPECT_EQ(one.document().state, MemberState::registered);
  one.on_membership(membership(3, {0, 1}, reason::kStart), now_);
  one.on_port(3, 4000, now_);
  EXPECT_EQ(one.document().state, MemberState::ready);
}

TEST_F(AgentMachineTest, a_failure_is_reported_once_with_its_class_and_a_new_membership_heals_it) {
  AgentMachine one = running(1);
  one.on_exit(0, {.exit = {.code = 2}, .last_lines = "ValueError: x"}, now_);
  EXPECT_EQ(one.document().state, MemberState::failed);
  EXPECT_EQ(one.document().exit_class, ExitClass::user);
  EXPECT_EQ(one.document().exit_code, 2);
  EXPECT_EQ(one.document().message, "ValueError: x");
  EXPECT_FALSE(one.exit_code());
  one.on_membership(membership(2, {0, 1}, reason::kReplace), now_);
  one.on_port(2, 4000, now_);
  EXPECT_EQ(one.document().state, MemberState::ready);
  EXPECT_EQ(one.document().message, "");
}

TEST_F(AgentMachineTest, one_failed_worker_ends_the_others_of_its_pod) {
  AgentMachine one = machine(0, 2);
  one.on_membership(membership(1, {0}), now_);
  one.on_port(1, 4000, now_);
  one.on_round(round(1, {0}), now_);
  (void)words(one);
  one.on_exit(1, {.exit = {.signal = SIGKILL}}, now_);
  EXPECT_EQ(words(one), Words({"signal 0 15"}));
  EXPECT_EQ(one.document().state, MemberState::failed);
  EXPECT_EQ(one.document().exit_class, ExitClass::infrastructure);
  one.on_exit(0, {.exit = {.code = 1}}, now_);
  EXPECT_EQ(one.document().exit_class, ExitClass::infrastructure);
}

TEST_F(AgentMachineTest, a_lost_peer_is_told_to_the_library_before_the_notice) {
  AgentMachine one = running_library(1);
  one.on_membership(membership(2, {1}, reason::kReplace), now_);
  EXPECT_EQ(words(one), Words({"send 0 lost", "send 0 notice"}));
}

TEST_F(AgentMachineTest, an_agent_that_was_restarted_does_not_join_the_old_round) {
  AgentMachine one = machine(1);
  one.on_membership(membership(1, {0, 1}), now_);
  Round old = round(1, {0, 1});
  old.ranks[1].agent = "an earlier life";
  one.on_round(old, now_);
  EXPECT_EQ(words(one), Words({"port 1"}));
  EXPECT_EQ(one.document().state, MemberState::failed);
  EXPECT_EQ(one.document().exit_class, ExitClass::infrastructure);
}

TEST_F(AgentMachineTest, an_older_membership_or_round_changes_nothing) {
  AgentMachine one = running(1);
  one.on_membership(membership(1, {0}), now_);
  one.on_round(round(0, {0}), now_);
  EXPECT_EQ(words(one), Words({}));
  EXPECT_EQ(one.document().state, MemberState::running);
}

TEST_F(AgentMachineTest, done_waits_for_finish) {
  AgentMachine one = running(1);
  one.on_exit(0, {.exit = {.code = 0}}, now_);
  EXPECT_EQ(one.document().state, MemberState::done);
  EXPECT_FALSE(one.exit_code());
  one.on_membership(membership(2, {}, reason::kFinish), now_);
  EXPECT_EQ(one.exit_code(), kExitSuccess);
}

TEST_F(AgentMachineTest, training_that_completes_under_a_notice_is_done) {
  AgentMachine one = running_library(1);
  one.on_membership(membership(2, {0, 1}), now_);
  one.on_message(0, {.type = Type::done, .step = 100}, now_);
  one.on_exit(0, {.exit = {.code = 0}}, now_);
  EXPECT_EQ(one.document().state, MemberState::done);
  EXPECT_EQ(one.document().generation, 1);
}

TEST_F(AgentMachineTest, sigterm_is_a_notice) {
  AgentMachine one = running(1);
  one.on_terminate(now_);
  EXPECT_EQ(words(one), Words({"signal 0 15"}));
  EXPECT_FALSE(one.exit_code());
  one.on_exit(0, {.exit = {.code = 0}}, now_);
  EXPECT_EQ(one.document().state, MemberState::left);
  EXPECT_EQ(one.exit_code(), kExitLeft);
}

TEST_F(AgentMachineTest, no_step_for_ten_times_the_median_is_a_stall) {
  AgentMachine one = running_library(1);
  one.on_message(0, {.type = Type::progress, .step = 2, .step_seconds = 20}, now_);
  EXPECT_EQ(one.deadline(), now_ + seconds(200));
  one.on_time(now_ + seconds(199));
  EXPECT_EQ(one.document().state, MemberState::running);
  one.on_time(now_ + seconds(200));
  EXPECT_EQ(one.document().state, MemberState::failed);
  EXPECT_EQ(one.document().exit_class, ExitClass::infrastructure);
  EXPECT_EQ(words(one), Words({"send 0 lost"}));
  // The one that is stuck does not answer; it is replaced soon.
  one.on_membership(membership(2, {0, 1}, reason::kReplace), now_ + seconds(201));
  EXPECT_EQ(one.deadline(), now_ + seconds(211));
  one.on_time(now_ + seconds(211));
  (void)words(one);
  one.on_exit(0, {.exit = {.signal = SIGKILL}}, now_ + seconds(211));
  EXPECT_EQ(words(one), Words({"start 0"}));
  EXPECT_EQ(one.document().state, MemberState::starting);
}

TEST_F(AgentMachineTest, a_program_that_cannot_be_started_is_a_failure_of_the_user) {
  AgentMachine one = running(1);
  one.on_start_failed(0, not_found("program 'pyhton' not found"), now_);
  EXPECT_EQ(one.document().state, MemberState::failed);
  EXPECT_EQ(one.document().exit_class, ExitClass::user);
  EXPECT_EQ(one.document().exit_code, 127);
  one.on_terminate(now_);
  EXPECT_EQ(one.exit_code(), 127);
}

}  // namespace
}  // namespace codeflare::elastic
