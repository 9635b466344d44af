#include "cli/testing/pod_logs.h"
#include "cli/testing/verb_world.h"
#include "cli/verbs/cancel.h"
#include "cli/verbs/create.h"
#include "cli/verbs/delete.h"
#include "cli/verbs/explain.h"
#include "cli/verbs/hold.h"
#include "cli/verbs/logs.h"
#include "cli/verbs/priority.h"
#include "cli/verbs/status.h"
#include "queue/marks.h"

#include <gtest/gtest.h>

#include <string>

// A NAME without a KIND: an AppWrapper, or else a Ray cluster, a TrainingJob or a Run.
namespace codeflare::cli {
namespace {

struct Served {
  testing::PodLogs logs;
};

// A server with the TrainingJob `bert` and the Run `train`, and no AppWrapper.
struct World : Served, testing::VerbWorld {
  explicit World(bool wrappers = true) : VerbWorld(&logs) {
    write("all.yaml", (wrappers ? testing::app_wrapper_crd() : std::string()) + "---\n" +
                          testing::app_wrapper_crd("trainingjobs.breezeml.ai") + "---\n" +
                          testing::app_wrapper_crd("runs.codeflare.dev") + R"(
---
apiVersion: breezeml.ai/v1
kind: TrainingJob
metadata: {name: bert}
spec: {replicaSpecs: {template: {spec: {containers: [{name: trainingjob, image: i}]}}}}
---
apiVersion: codeflare.dev/v1alpha1
kind: Run
metadata: {name: train}
spec: {application: {name: a}}
)");
    EXPECT_EQ(verb([](Session& s) { return run_create(s, {.files = {"all.yaml"}}); }), kDone)
        << console.err_text;
  }
  int explain(const std::string& name, const SessionFlags& how = {}) {
    return verb(
        [&](Session& s) {
          return run_explain(
              s, {.kind = name, .controller_ns = std::string(queue::kControllerNamespace)});
        },
        how);
  }
  int status(const std::string& name, const SessionFlags& how = {}) {
    return verb([&](Session& s) { return run_status(s, {.kind = name}); }, how);
  }
  int show_logs(LogsFlags flags) {
    return verb([&](Session& s) { return run_logs(s, flags); });
  }
};

TEST(BareName, verbs_that_read_find_training_jobs_and_runs) {
  World world;
  EXPECT_EQ(world.explain("bert"), kDone) << world.console.err_text;
  EXPECT_TRUE(world.console.out_text.contains("default/bert")) << world.console.out_text;
  EXPECT_EQ(world.explain("train"), kDone) << world.console.err_text;
  EXPECT_TRUE(world.console.out_text.contains("train")) << world.console.out_text;
  EXPECT_EQ(world.status("bert"), kDone) << world.console.err_text;
  EXPECT_TRUE(world.console.out_text.starts_with("TrainingJob:")) << world.console.out_text;
  EXPECT_EQ(world.status("train", {.output = "name"}), kDone) << world.console.err_text;
  EXPECT_EQ(world.console.out_text, "run.codeflare.dev/train\n");
  EXPECT_EQ(world.show_logs({.kind = "bert"}), kDone) << world.console.err_text;
  EXPECT_TRUE(world.console.err_text.starts_with("trainingjob bert: no worker has started"))
      << world.console.err_text;
}

TEST(BareName, training_jobs_are_found_where_no_appwrappers_are_served) {
  World world(false);
  EXPECT_EQ(world.status("bert"), kDone) << world.console.err_text;
}

TEST(BareName, a_verb_that_cannot_serve_the_kind_says_what_to_type) {
  World world;
  const char* what =
      "error: no AppWrapper bert; a trainingjob has this name, name the kind too: trainingjob "
      "bert\n";
  EXPECT_EQ(world.show_logs({.kind = "bert", .timestamps = true}), kNotFound);
  EXPECT_EQ(world.console.err_text, what);
  EXPECT_EQ(world.explain("bert", {.output = "json"}), kNotFound);
  EXPECT_EQ(world.console.err_text, what);
}

// Verbs that change something do not guess.
TEST(BareName, verbs_that_change_work_say_what_to_type) {
  World world;
  EXPECT_EQ(world.verb([](Session& s) {
    return run_delete(s, {.kind = "bert", .ignore_not_found = true});
  }),
            kFailed);
  EXPECT_TRUE(world.console.err_text.contains("name the kind too: trainingjob bert\n"))
      << world.console.err_text;
  EXPECT_EQ(world.verb([](Session& s) { return run_hold(s, {.kind = "train"}, true); }), kFailed);
  EXPECT_TRUE(world.console.err_text.contains("name the kind too: run train\n"))
      << world.console.err_text;
}

TEST(BareName, priority_and_cancel_say_what_to_type) {
  World world;
  const auto priority = [&](const std::string& name) {
    return world.verb([&](Session& s) { return run_priority(s, {.words = {name, "5"}}); });
  };
  EXPECT_EQ(priority("bert"), kFailed);
  EXPECT_TRUE(world.console.err_text.contains("name the kind too: trainingjob bert\n"))
      << world.console.err_text;
  EXPECT_EQ(priority("train"), kFailed);
  EXPECT_TRUE(world.console.err_text.contains("spec.priority: low, normal or high"))
      << world.console.err_text;
  EXPECT_EQ(world.verb([](Session& s) { return run_cancel(s, {.kind = "bert"}); }), kFailed);
  EXPECT_TRUE(world.console.err_text.contains("name the kind too: trainingjob bert\n"))
      << world.console.err_text;
}

TEST(BareName, names_of_nothing_are_still_reported_as_missing) {
  World world;
  EXPECT_EQ(world.explain("nothing"), kNotFound);
  EXPECT_TRUE(world.console.err_text.contains("\"nothing\" not found")) << world.console.err_text;
}

}  // namespace
}  // namespace codeflare::cli
