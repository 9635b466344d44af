#include "queue/adopted_pods.h"

#include "queue/marks.h"
#include "queue/queue.h"
#include "queue/testing/objects.h"

#include <gtest/gtest.h>

namespace codeflare::queue {
namespace {

using namespace testing;  // NOLINT

// MCAD dispatched it: two pods of a cpu, made by whoever runs Things.
model::AppWrapper dispatched() {
  model::AppWrapper made = wrapper("a", {{2, resources("1")}});
  made.status.state = "Running";
  made.status.can_run = true;
  return made;
}

model::Pod made_by(const std::string& name, const std::string& kind, const std::string& owner) {
  model::Pod pod;
  pod.metadata.name = name;
  pod.metadata.ns = "team-a";
  pod.metadata.uid = "uid-" + name;
  pod.metadata.owner_references.push_back({.api_version = "example.com/v2",
                                           .kind = kind,
                                           .name = owner,
                                           .uid = "u",
                                           .controller = true});
  model::Container container;
  container.resources.requests = resources("1");
  pod.spec.containers.push_back(std::move(container));
  pod.spec.node_name = "n";
  pod.status.phase = "Running";
  return pod;
}

TEST(AdoptedPods, are_known_by_the_object_that_controls_them) {
  AdoptedPods adopted;
  adopted.learn(dispatched());
  const auto label = [&](model::Pod pod) {
    adopted.mark(pod);
    return std::string(model::find_or_empty(pod.metadata.labels, kMcadLabel));
  };
  EXPECT_EQ(label(made_by("p", "Thing", "a")), "a");
  EXPECT_EQ(label(made_by("p", "Thing", "b")), "");
  EXPECT_EQ(label(made_by("p", "Other", "a")), "");
  model::Pod elsewhere = made_by("p", "Thing", "a");
  elsewhere.metadata.ns = "team-b";
  EXPECT_EQ(label(elsewhere), "");
  model::Pod held = made_by("p", "Thing", "a");
  held.metadata.owner_references[0].controller = false;
  EXPECT_EQ(label(held), "");
  model::Pod ours = made_by("p", "Thing", "a");
  ours.metadata.labels.emplace(kUidLabel, "uid-b");
  EXPECT_EQ(label(ours), "");
  adopted.forget("uid-a");
  EXPECT_EQ(label(made_by("p", "Thing", "a")), "");
}

TEST(AdoptedPods, of_work_that_we_started_carry_labels_and_need_no_help) {
  AdoptedPods adopted;
  adopted.learn(wrapper("a", {{2, resources("1")}}));
  model::Pod pod = made_by("p", "Thing", "a");
  adopted.mark(pod);
  EXPECT_TRUE(pod.metadata.labels.empty());
}

TEST(AdoptedPods, take_the_places_of_their_gang_and_are_not_counted_twice) {
  Queue queue;
  queue.upsert_node(node("n", resources("4")));
  AdoptedPods adopted;
  adopted.learn(dispatched());
  ASSERT_TRUE(queue.upsert(dispatched(), kNow));
  for (const char* name : {"p", "q"}) {
    model::Pod pod = made_by(name, "Thing", "a");
    adopted.mark(pod);
    queue.upsert_pod(pod);
  }
  ASSERT_TRUE(queue.upsert(wrapper("next", {{1, resources("2")}}), kNow));
  (void)queue.step(kNow);
  EXPECT_EQ(queue.standing("uid-next").kind, Standing::Kind::started)
      << queue.sentence("uid-next", kNow);
  const auto gang = queue.gang("uid-a");
  ASSERT_TRUE(gang);
  EXPECT_EQ(queue.core().held(*gang, 0).bound, 2);
}

}  // namespace
}  // namespace codeflare::queue
