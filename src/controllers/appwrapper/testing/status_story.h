#pragma once

#include "controllers/appwrapper/conditions.h"
#include "controllers/appwrapper/status_machine.h"
#include "queue/marks.h"
#include "queue/status_words.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace codeflare::controllers::testing {

using queue::Reason;
using queue::Standing;

// An AppWrapper whose status is written as the machine says; pods, items and the queue are ours.
struct Story {
  model::AppWrapper wrapper;
  Observed world;
  MachineOptions options;
  std::vector<Act> acts;
  std::vector<Tell> tells;
  std::vector<std::string> notes;

  Story() {
    wrapper.metadata.name = "a";
    wrapper.metadata.ns = "team";
    wrapper.metadata.uid = "u1";
    wrapper.metadata.finalizers = {std::string(queue::kFinalizer)};
    wrapper.spec.scheduling_spec.emplace();
    world.now = WallTime(std::chrono::seconds(1'700'000'000));
    world.items = {{.name = "jobs.batch team/a", .counts = true}};
  }

  Decision look() {
    world.wrapper = &wrapper;
    return decide(world, options);
  }

  // Carries out what the machine wants until it wants nothing more.
  Decision settle() {
    for (int i = 0; i < 10; ++i) {
      Decision decision = look();
      if (decision.act == Act::none) {
        return decision;
      }
      if (decision.act == Act::take_back && !acts.empty() && acts.back() == Act::take_back) {
        return decision;  // waits for the world
      }
      carry_out(decision);
    }
    ADD_FAILURE() << "it does not come to rest";
    return {};
  }

  void carry_out(const Decision& decision) {
    acts.push_back(decision.act);
    if (decision.tell != Tell::nothing) {
      tells.push_back(decision.tell);
    }
    hear(decision.tell);
    for (const Note& note : decision.notes) {
      notes.emplace_back(queue::word(note.reason));
    }
    switch (decision.act) {
      case Act::write:
        EXPECT_NE(decision.status, wrapper.status) << "a write that changes nothing";
        wrapper.status = decision.status;
        world.written = world.now;
        world.creation.reset();
        break;
      case Act::create:
        world.creation = Creation();
        break;
      case Act::add_finalizer:
        wrapper.metadata.finalizers.emplace_back(queue::kFinalizer);
        break;
      case Act::take_back:
        world.asked_since = world.asked_since.value_or(world.now);
        break;
      case Act::none:
      case Act::release:
      case Act::expire:
      case Act::retry:
        break;
    }
  }

  // The queue's reaction.
  void hear(Tell tell) {
    if (tell == Tell::stopping && world.standing.kind == Standing::Kind::started) {
      world.standing.kind = Standing::Kind::stopping;
      world.standing.reason = Reason::stopping;
    } else if (tell == Tell::withdrawn) {
      waits(Reason::evaluating);
    } else if (tell == Tell::forget) {
      world.standing = {};
    }
  }

  Story& pass(Duration time) {
    world.now += time;
    return *this;
  }
  void waits(Reason reason) {
    world.standing = {.kind = Standing::Kind::waiting,
                      .reason = reason,
                      .why = reason == Reason::evaluating ? Reason::none : reason};
    world.sentence = [] { return "cpu: 4 asked, 2 free"; };
  }
  void starts() {
    world.standing = {.kind = Standing::Kind::started,
                      .plan = {{.pod_set = 0, .node = "n1", .count = 2}},
                      .since = world.now};
    world.cleared = false;
  }
  void dispatch() {
    starts();
    settle();
    ASSERT_EQ(wrapper.status.state, "Running");
  }
  // All it held is gone, and the queue has it back.
  void clear() {
    world.pods = {};
    world.cleared = true;
    settle();
    world.cleared = false;
  }

  // "Type status reason message" of MCAD's own entries.
  std::vector<std::string> history() const {
    std::vector<std::string> lines;
    for (const model::AppWrapperCondition& entry : wrapper.status.conditions) {
      if (entry.type != condition::kQueued) {
        lines.push_back(entry.type + " " + entry.status + " [" + entry.reason + "] [" +
                        entry.message + "]");
      }
    }
    return lines;
  }
};

inline const std::string kInit = "Init True [] []";
inline const std::string kQueueing = "Queueing True [AwaitingHeadOfLine] []";
inline const std::string kHead = "HeadOfLine True [FrontOfQueue.] []";
inline const std::string kBackoff =
    "Backoff True [AppWrapperNotRunnable.] [Insufficient resources to dispatch AppWrapper.]";
inline const std::string kDispatched = "Dispatched True [AppWrapperRunnable] []";
inline const std::string kRunning = "Running True [PodsRunning] []";
inline const std::string kCompleted = "Completed True [PodsCompleted] []";
using Lines = std::vector<std::string>;

}  // namespace codeflare::controllers::testing
