#include "apiserver/store/change_listener.h"
#include "apiserver/store/store.h"
#include "apiserver/store/testing/store_world.h"
#include "base/async/sleep.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace codeflare::apiserver {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

std::string show(const Event* event) {
  if (event == nullptr) {
    return "nothing";
  }
  const char* op = event->op == Write::Op::create   ? "+"
                   : event->op == Write::Op::update ? "~"
                                                    : "-";
  return op + std::string(event->object->name()) + "@" + std::to_string(event->revision);
}

std::string show(const Result<const Event*>& event) {
  return event ? show(*event) : std::string(to_string(event.error().code));
}

std::unique_ptr<WatchCursor> watch(StoreWorld& world, std::string_view resource, Revision from) {
  return world.store().watch(world.id(resource), from).value();
}

TEST(Watch, gives_the_events_after_its_position_in_order) {
  StoreWorld world;
  ObjectPtr a = world.create("pods", "a");
  world.create("nodes", "x");
  ASSERT_TRUE(world.commit(world.removal(world.commit(world.update(a, "2")).value())));
  auto from_start = watch(world, "pods", 1);
  EXPECT_EQ(show(world.wait(from_start->next())), "+a@2");
  EXPECT_EQ(from_start->position(), 2u);
  EXPECT_EQ(show(world.wait(from_start->next())), "~a@4");
  const Event* removal = from_start->ready();
  EXPECT_EQ(show(removal), "-a@5");
  EXPECT_EQ(removal->object->revision(), 5u);
  EXPECT_EQ(removal->before->revision(), 4u);
  EXPECT_EQ(from_start->ready(), nullptr);
  auto later = watch(world, "pods", 4);
  EXPECT_EQ(show(later->ready()), "-a@5");
}

TEST(Watch, waits_for_what_is_to_come) {
  StoreWorld world;
  auto cursor = watch(world, "pods", 1);
  auto next = world.begin(cursor->next());
  world.create("nodes", "x");
  EXPECT_FALSE(next->has_value());
  EXPECT_EQ(cursor->position(), 2u);  // nothing of pods up to here
  world.create("pods", "a");
  world.settle_loop();
  ASSERT_TRUE(next->has_value());
  EXPECT_EQ(show(**next), "+a@3");
}

struct Ear final : ChangeListener {
  void on_change() override { ++heard; }
  int heard = 0;
};

TEST(Watch, listeners_hear_of_their_collection_until_their_cursor_goes) {
  StoreWorld world;
  std::vector<Ear> ears(3);
  std::vector<std::unique_ptr<ListenedCursor>> cursors;
  for (Ear& ear : ears) {
    cursors.push_back(listened(watch(world, "pods", 1)));
    cursors.back()->listen(ear);
  }
  world.create("pods", "a");
  world.create("nodes", "x");
  cursors.erase(cursors.begin());
  world.create("pods", "b");
  cursors.pop_back();
  world.create("pods", "c");
  EXPECT_EQ(ears[0].heard, 1);
  EXPECT_EQ(ears[1].heard, 3);
  EXPECT_EQ(ears[2].heard, 2);
}

TEST(Watch, a_listener_learns_that_nothing_more_comes) {
  StoreWorld world;
  Ear ear;
  auto cursor = listened(watch(world, "pods", 1));
  cursor->listen(ear);
  EXPECT_EQ(cursor->state(), ListenedCursor::State::open);
  world.create("pods", "a");
  auto late = listened(watch(world, "pods", 1));
  EXPECT_EQ(show(cursor->ready()), "+a@2");
  world.store().forget(2);
  EXPECT_EQ(cursor->state(), ListenedCursor::State::open) << "it has seen all of it";
  EXPECT_EQ(late->ready(), nullptr);
  EXPECT_EQ(late->state(), ListenedCursor::State::expired);
  ear.heard = 0;
  world.wait(world.store().close());
  EXPECT_EQ(ear.heard, 1);
  EXPECT_EQ(cursor->state(), ListenedCursor::State::closed);
}

TEST(Watch, is_not_woken_by_other_collections) {
  StoreWorld world;
  std::vector<std::unique_ptr<WatchCursor>> cursors;
  std::vector<std::shared_ptr<std::optional<Result<const Event*>>>> waits;
  for (int i = 0; i < 1000; ++i) {
    cursors.push_back(watch(world, "pods", 1));
    waits.push_back(std::make_shared<std::optional<Result<const Event*>>>());
  }
  for (int i = 0; i < 1000; ++i) {
    waits[static_cast<std::size_t>(i)] = world.begin(cursors[static_cast<std::size_t>(i)]->next());
  }
  std::uint64_t before = world.sim.steps();
  world.create("nodes", "x");
  EXPECT_LT(world.sim.steps() - before, 50u);
  world.create("pods", "a");
  world.settle_loop();
  for (const auto& wait : waits) {
    ASSERT_TRUE(wait->has_value());
    EXPECT_EQ(show(**wait), "+a@3");
  }
}

TEST(Watch, from_a_position_still_to_come_skips_what_is_before_it) {
  StoreWorld world;
  auto cursor = watch(world, "pods", 3);
  EXPECT_EQ(cursor->position(), 3u);
  world.create("pods", "a");
  world.create("pods", "b");
  EXPECT_EQ(cursor->ready(), nullptr);
  world.create("pods", "c");
  EXPECT_EQ(show(cursor->ready()), "+c@4");
}

TEST(Watch, expires_when_the_history_behind_it_is_forgotten) {
  StoreWorld world;
  world.create("pods", "a");
  world.create("pods", "b");
  auto behind = watch(world, "pods", 1);
  auto ahead = watch(world, "pods", 3);
  auto quiet = watch(world, "nodes", 1);
  world.store().forget(3);
  EXPECT_EQ(behind->ready(), nullptr);
  EXPECT_EQ(show(world.wait(behind->next())), "expired");
  world.create("pods", "c");
  EXPECT_EQ(show(world.wait(ahead->next())), "+c@4");
  world.create("nodes", "x");
  EXPECT_EQ(show(world.wait(quiet->next())), "+x@5");  // it lost nothing
  EXPECT_FALSE(world.store().watch(world.id("pods"), 2).has_value());
  EXPECT_FALSE(world.store().watch(world.id("nodes"), 2).has_value());
  EXPECT_TRUE(world.store().watch(world.id("nodes"), 3).has_value());
  EXPECT_TRUE(world.list("pods", {.at = 2}).starts_with("expired"));
  EXPECT_EQ(world.list("pods", {.at = 3}), "a@2 b@3");
}

TEST(Watch, an_event_in_hand_outlives_its_history) {
  StoreWorld world;
  ObjectPtr a = world.create("pods", "a", "first");
  auto cursor = watch(world, "pods", 1);
  const Event* event = cursor->ready();
  ASSERT_TRUE(world.commit(world.update(a, "2")));
  a.reset();
  world.store().forget(3);
  EXPECT_TRUE(event->object->json().contains("first"));
}

TEST(Watch, history_is_bounded_by_bytes_and_drops_the_oldest_first) {
  StoreWorld world({.history_bytes_max = 100'000});
  ObjectPtr quiet = world.create("nodes", "x");
  ObjectPtr busy = world.create("pods", "a");
  for (int i = 0; i < 50; ++i) {
    busy = world.commit(world.update(busy, std::string(10'000, 'x'))).value();
  }
  EXPECT_FALSE(world.store().watch(world.id("pods"), 10).has_value());
  EXPECT_FALSE(world.store().watch(world.id("nodes"), 1).has_value());
  EXPECT_TRUE(world.store().watch(world.id("nodes"), 2).has_value());  // nothing lost since
  EXPECT_TRUE(world.store().watch(world.id("pods"), busy->revision() - 5).has_value());
  EXPECT_FALSE(world.store().watch(world.id("pods"), busy->revision() - 15).has_value());
}

TEST(Watch, history_ends_with_age_even_when_nothing_happens) {
  StoreWorld world({.history_age_max = minutes(5)});
  ObjectPtr a = world.create("pods", "a");
  std::weak_ptr<const Object> first = a;
  ASSERT_TRUE(world.commit(world.update(a, "2")));
  a.reset();
  world.wait(sleep_for(minutes(4))).value();
  EXPECT_TRUE(world.store().watch(world.id("pods"), 1).has_value());
  EXPECT_FALSE(first.expired());
  world.wait(sleep_for(minutes(2))).value();
  EXPECT_TRUE(first.expired());
  EXPECT_FALSE(world.store().watch(world.id("pods"), 1).has_value());
  EXPECT_TRUE(world.store().watch(world.id("pods"), 3).has_value());
}

TEST(Watch, ends_when_the_store_closes_or_its_task_stops) {
  StoreWorld world;
  auto cursor = watch(world, "pods", 1);
  auto next = world.begin(cursor->next());
  world.close();
  world.settle_loop();
  EXPECT_EQ(show(**next), "cancelled");

  StoreWorld other;
  auto stopped = watch(other, "pods", 1);
  auto wait = other.begin(stopped->next());
  other.tasks.request_stop();
  other.settle_loop();
  EXPECT_EQ(show(**wait), "cancelled");
}

// A model: every state of a random run, checked against rewound lists and replayed watches.
TEST(Watch, lists_and_watches_agree_with_a_model_at_every_revision) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    StoreWorld world({}, {.seed = seed});
    Random& random = world.sim.env().random;
    std::vector<std::string> states{"", ""};  // by revision
    std::map<std::string, Revision> model;
    for (int i = 0; i < 60; ++i) {
      std::string name =
          "n" + std::to_string(random.below(3)) + "/p" + std::to_string(random.below(4));
      Write write = world.creation("pods", name, std::to_string(i));
      ObjectPtr there = world.store().get(write.collection, write.ns, write.name);
      if (there) {
        write =
            random.below(2) == 0 ? world.update(there, std::to_string(i)) : world.removal(there);
      }
      Revision revision = world.commit(write).value()->revision();
      if (write.op == Write::Op::remove) {
        model.erase(name);
      } else {
        model[name] = revision;
      }
      std::string state;
      for (const auto& [key, at] : model) {
        state += (state.empty() ? "" : " ") + key + "@" + std::to_string(at);
      }
      states.push_back(state);
    }
    for (Revision at = 1; at < states.size(); ++at) {
      EXPECT_EQ(world.list("pods", {.at = at}), states[at]) << "seed " << seed;
    }
    Revision from = 1 + random.below(states.size() - 1);
    std::map<std::string, Revision> replayed;
    ASSERT_TRUE(world.store().visit(world.id("pods"), {.at = from}, [&](const ObjectPtr& object) {
      replayed[std::string(object->ns()) + "/" + std::string(object->name())] = object->revision();
      return true;
    }));
    auto cursor = watch(world, "pods", from);
    while (const Event* event = cursor->ready()) {
      std::string key = std::string(event->object->ns()) + "/" + std::string(event->object->name());
      EXPECT_EQ(event->before != nullptr, replayed.contains(key));
      if (event->op == Write::Op::remove) {
        replayed.erase(key);
      } else {
        replayed[key] = event->revision;
      }
    }
    EXPECT_EQ(replayed, model);
  }
}

}  // namespace
}  // namespace codeflare::apiserver
