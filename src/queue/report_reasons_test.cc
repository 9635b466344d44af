#include "queue/report.h"
#include "queue/status_words.h"
#include "queue/testing/objects.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>

// Every reason that the core has, and those that the queue adds: what is said of it is true, and
// helps.
namespace codeflare::queue {
namespace {

using namespace testing;  // NOLINT

void add(Queue& queue, const model::AppWrapper& wrapper) {
  ASSERT_TRUE(queue.upsert(wrapper, kNow));
}

// `runs` has three of four cpus.
Queue busy(sched::Options options = {}) {
  Queue queue(QueueOptions{.core = options});
  queue.upsert_node(node("n", resources("4")));
  add(queue, wrapper("runs", {{1, resources("3")}}));
  (void)queue.step(kNow);
  return queue;
}

model::AppWrapper asked(const std::string& cpu) {
  return wrapper("asked", {{1, resources(cpu)}}, 1);
}

Queue paused() {
  Queue queue = busy();
  queue.set_paused(true);
  add(queue, asked("1"));
  return queue;
}

Queue held() {
  Queue queue = busy();
  model::AppWrapper one = asked("1");
  one.spec.suspend = true;
  add(queue, one);
  return queue;
}

Queue of_nobody() {
  Queue queue = busy();
  model::AppWrapper one = asked("1");
  one.metadata.annotations.clear();
  add(queue, one);
  return queue;
}

Queue refused_items() {
  Queue queue = busy();
  add(queue, asked("1"));
  (void)queue.step(kNow);
  queue.stopping("uid-asked");
  queue.withdrawn("uid-asked", kNow, kNow + std::chrono::hours(1));
  return queue;
}

Queue with_quota(const std::string& label) {
  Queue queue = busy();
  model::QuotaSubtree tree = quota_subtree("q", "t", "");
  tree.spec.children.push_back(quota_child("small", resources("500m"), true));
  queue.upsert_quota(tree);
  model::AppWrapper one = asked("1");
  one.metadata.labels["t"] = label;
  add(queue, one);
  return queue;
}

Queue excluded() {
  Queue queue;
  model::Node tainted = node("n", resources("4"));
  tainted.spec.taints.push_back({.key = "dedicated", .value = "ml", .effect = "NoSchedule"});
  queue.upsert_node(tainted);
  add(queue, asked("1"));
  return queue;
}

Queue insufficient() {
  Queue queue = busy();
  add(queue, asked("2"));
  return queue;
}

Queue fragmented() {
  Queue queue = busy();
  queue.upsert_node(node("m", resources("4")));
  add(queue, wrapper("also", {{1, resources("3")}}));
  (void)queue.step(kNow);
  add(queue, asked("2"));
  return queue;
}

Queue reserved() {
  Queue queue = busy({.holding_time = std::chrono::minutes(5)});
  model::AppWrapper head = wrapper("head", {{1, resources("4")}});
  head.spec.priority = 5;
  add(queue, head);
  (void)queue.step(kNow);
  add(queue, asked("1"));
  return queue;
}

Queue preempting() {
  Queue queue = busy({.preemption = true});
  model::AppWrapper high = asked("2");
  high.spec.priority = 5;
  add(queue, high);
  return queue;
}

constexpr const char* kUnknownEnds =
    "it waits for work that does not say how long it runs "
    "(schedulingSpec.dispatchDuration.expected)";

struct Case {
  Reason why;
  const char* reason;
  std::function<Queue()> queue;
  const char* sentence;  // its beginning
  const char* advice;    // the first; empty: there is none
  const char* note;      // on the estimate; empty: there is none
  bool stepped = true;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {Reason::none, "Evaluating", insufficient, "not tried yet", "", kUnknownEnds, false},
      {Reason::held, "Held", held, "held: spec.suspend is true; it may start when that is false",
       "release it: spec.suspend has to be false", ""},
      {Reason::held, "UserUnknown", of_nobody,
       "nobody is known to have submitted it: ", "let admission record who submits it", ""},
      {Reason::held, "RetryLater", refused_items, "its items could not be created: tried again at ",
       "it is tried again by itself", ""},
      {Reason::unknown_quota, "UnknownQuota", [] { return with_quota("nowhere"); }, "",
       "label it with a quota node that has room, of those its namespace may charge: t=small", ""},
      {Reason::insufficient_quota, "InsufficientQuota", [] { return with_quota("small"); },
       "quota node small of tree t has no room: cpu asks 1, ", nullptr, nullptr},
      {Reason::no_node_allowed, "NoNodeAllowed", excluded,
       "pod set 0 may use none of 1 nodes: taint dedicated=ml:NoSchedule excludes 1; a node that "
       "it may use has to join",
       "add nodes that its constraints allow, or change the constraints",
       "no node is one that it may use, so no end of other work helps"},
      {Reason::insufficient_resources, "InsufficientResources", insufficient,
       "cpu asks 2, 1 free of 4 on ", "it would start if this ended: team-a/runs (3 cpu)",
       kUnknownEnds},
      {Reason::fragmented, "Fragmented", fragmented, "enough is free in sum, but fragmented: ",
       "it would start if this ended: team-a/", kUnknownEnds},
      {Reason::reserved, "Reserved", reserved, "team-a/head is first in line and keeps its place",
       nullptr, kUnknownEnds},
      {Reason::preempting, "Preempting", preempting,
       "its place is being cleared: it starts when team-a/runs (3 cpu), which makes room, has "
       "ended",
       "", nullptr},
      {Reason::paused, "Paused", paused,
       "the queue is paused: nothing new starts until `codeflare queue resume`",
       "resume the queue: `codeflare queue resume`", "the queue is paused"},
  };
  return all;
}

TEST(Reasons, each_has_a_sentence_advice_and_a_note_that_are_true_of_it) {
  for (const Case& each : cases()) {
    SCOPED_TRACE(each.reason);
    Queue queue = each.queue();
    if (each.stepped) {
      (void)queue.step(kNow);
    }
    const Result<Report> report = explain(queue, "uid-asked", kNow);
    ASSERT_TRUE(report.has_value());
    EXPECT_EQ(report->standing.why, each.why);
    EXPECT_EQ(word(report->standing.reason), each.reason);
    EXPECT_FALSE(report->sentence.empty());
    EXPECT_TRUE(report->sentence.starts_with(each.sentence)) << report->sentence;
    const std::string first = report->advice.empty() ? "" : report->advice[0];
    if (each.advice != nullptr) {
      EXPECT_TRUE(first.starts_with(each.advice)) << first;
      EXPECT_EQ(first.empty(), std::string(each.advice).empty()) << first;
    }
    if (each.note != nullptr) {
      EXPECT_EQ(report->estimate_note, each.note);
    }
  }
}

TEST(Reasons, none_is_left_out) {
  std::set<Reason> told;
  for (const Case& each : cases()) {
    told.insert(each.why);
  }
  // The last of the enumeration.
  for (int why = 0; why <= static_cast<int>(Reason::paused); ++why) {
    EXPECT_TRUE(told.contains(static_cast<Reason>(why)))
        << sched::to_string(static_cast<Reason>(why));
  }
}

}  // namespace
}  // namespace codeflare::queue
