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

Queue blocked() {
  Queue queue = busy();
  queue.block(Reason::definition_outdated,
              "customresourcedefinition appwrappers.workload.codeflare.dev drops plans");
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
    "running work does not declare its duration (schedulingSpec.dispatchDuration.expected)";

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
      {Reason::none, "Evaluating", insufficient, "not evaluated yet", "", kUnknownEnds, false},
      {Reason::held, "Held", held,
       "spec.suspend is true; run 'codeflare release appwrapper asked', or set spec.suspend to "
       "false",
       "run 'codeflare release appwrapper asked', or set spec.suspend to false", ""},
      {Reason::held, "UserUnknown", of_nobody, "the submitter is unknown: ",
       "create the AppWrapper again while the admission webhook is served", ""},
      {Reason::held, "RetryLater", refused_items, "items could not be created; next try at ",
       "nothing to do: the controller retries", ""},
      {Reason::unknown_quota, "UnknownQuota", [] { return with_quota("nowhere"); }, "",
       "set the label to an existing quota node: t=small", ""},
      {Reason::insufficient_quota, "InsufficientQuota", [] { return with_quota("small"); },
       "needs 1 CPU of quota node small (tree t), ", nullptr, nullptr},
      {Reason::no_node_allowed, "NoNodeAllowed", excluded,
       "0 of 1 nodes are eligible: taint dedicated=ml:NoSchedule excludes 1 (n); tolerate the "
       "taint, or run 'kubectl taint nodes n dedicated:NoSchedule-'",
       "fits with node n once running work ends; for taint dedicated=ml:NoSchedule add the "
       "toleration {key: dedicated, ",
       "starts after the taint is tolerated or removed"},
      {Reason::insufficient_resources, "InsufficientResources", insufficient,
       "needs 2 CPUs, 1 of 4 free on ", "starts if this work ends: team-a/runs (3 CPUs)",
       kUnknownEnds},
      {Reason::fragmented, "Fragmented", fragmented, "enough is free in total, but fragmented: ",
       "starts if this work ends: team-a/", kUnknownEnds},
      {Reason::reserved, "Reserved", reserved,
       "nodes are reserved for team-a/head, first in the queue", nullptr, kUnknownEnds},
      {Reason::preempting, "Preempting", preempting,
       "starts when evicted work has ended: team-a/runs (3 CPUs)", "", nullptr},
      {Reason::paused, "Paused", paused,
       "the queue is paused; run 'codeflare queue resume' to start work",
       "run 'codeflare queue resume'", "the queue is paused"},
      {Reason::paused, "DefinitionOutdated", blocked, "customresourcedefinition appwrappers.", "",
       "nothing starts now"},
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
