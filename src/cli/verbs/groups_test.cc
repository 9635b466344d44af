#include "cli/gather/wrappers.h"
#include "cli/testing/verb_world.h"
#include "cli/verbs/create.h"
#include "cli/verbs/delete.h"
#include "cli/verbs/explain.h"
#include "cli/verbs/hold.h"
#include "cli/verbs/list.h"
#include "cli/verbs/logs.h"
#include "cli/verbs/queue.h"
#include "cli/verbs/status.h"
#include "json/parse.h"

#include <gtest/gtest.h>

// AppWrappers of one name in workload.codeflare.dev and in mcad.ibm.com: the verbs tell them apart.
namespace codeflare::cli {
namespace {

using testing::VerbWorld;

constexpr const char* kTwo =
    "note: two AppWrappers have this name; this is appwrapper.workload.codeflare.dev train, the "
    "other is appwrapper.mcad.ibm.com train\n";
constexpr const char* kSayWhich =
    "error: two AppWrappers have this name; write appwrapper.workload.codeflare.dev train or "
    "appwrapper.mcad.ibm.com train\n";

std::string wrapper_of(const std::string& group, const std::string& name, int priority) {
  return "---\napiVersion: " + group + "/v1beta1\nkind: AppWrapper\nmetadata: {name: " + name +
         "}\nspec: {priority: " + std::to_string(priority) +
         ", resources: {GenericItems: [{generictemplate: {apiVersion: v1, kind: ConfigMap, "
         "metadata: {name: c}}}]}}\n";
}

// `train` is in both groups, MCAD's ahead; `old` is in MCAD's alone, `new` in ours.
struct World : VerbWorld {
  World() {
    write("all.yaml", testing::app_wrapper_crd() + "---\n" +
                          testing::app_wrapper_crd(controllers::kLegacyAppWrapperCrd) +
                          wrapper_of("workload.codeflare.dev", "train", 3) +
                          wrapper_of("workload.codeflare.dev", "new", 1) +
                          wrapper_of("mcad.ibm.com", "train", 7) +
                          wrapper_of("mcad.ibm.com", "old", 5));
    write("bob.yaml", R"(---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: wrappers}
rules: [{apiGroups: [workload.codeflare.dev, mcad.ibm.com], resources: [appwrappers], verbs: [get, list]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: bob}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: wrappers}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: bob}]
)");
    EXPECT_EQ(verb([](Session& s) { return run_create(s, {.files = {"all.yaml", "bob.yaml"}}); }),
              kDone)
        << console.err_text;
  }
  int status(const std::string& kind, const std::string& name, SessionFlags flags = {}) {
    return verb([&](Session& s) { return run_status(s, {.kind = kind, .names = {name}}); }, flags);
  }
  int hold(const std::string& kind, const std::string& name, bool held) {
    return verb([&](Session& s) { return run_hold(s, {.kind = kind, .names = {name}}, held); });
  }
  int remove(const std::string& kind, std::vector<std::string> names) {
    return verb([&](Session& s) { return run_delete(s, {.kind = kind, .names = names}); });
  }
  int explain(const std::string& kind, const std::string& name, SessionFlags flags = {},
              const std::string& user = "admin") {
    return verb(
        [&](Session& s) {
          return run_explain(s, {.kind = kind, .name = name, .controller_ns{kControllerNamespace}});
        },
        flags, user);
  }
  int list(const std::string& kind, SessionFlags flags = {}) {
    return verb([&](Session& s) { return run_list(s, {.kind = kind}); }, flags);
  }
};

TEST(Groups, a_list_shows_both_unless_one_is_named) {
  World world;
  EXPECT_EQ(world.list("aw"), kDone) << world.console.err_text;
  EXPECT_EQ(world.console.out_text,
            "NAME    GROUP                    STATE     PRIORITY   PODS   REASON   AGE\n"
            "new     workload.codeflare.dev   Pending   1          -               0s\n"
            "old     mcad.ibm.com             Pending   5          -               0s\n"
            "train   workload.codeflare.dev   Pending   3          -               0s\n"
            "train   mcad.ibm.com             Pending   7          -               0s\n");
  EXPECT_EQ(world.list("aw.mcad.ibm.com", {.output = "name"}), kDone);
  EXPECT_EQ(world.console.out_text, "appwrapper.mcad.ibm.com/old\nappwrapper.mcad.ibm.com/train\n");
  EXPECT_EQ(world.list("aw.workload.codeflare.dev", {.output = "name"}), kDone);
  EXPECT_EQ(world.console.out_text,
            "appwrapper.workload.codeflare.dev/new\n"
            "appwrapper.workload.codeflare.dev/train\n");
}

TEST(Groups, the_queue_shows_which_is_which) {
  World world;
  EXPECT_EQ(world.verb([](Session& s) { return run_queue(s, {}); }), kDone);
  EXPECT_EQ(
      world.console.out_text,
      "POSITION   NAMESPACE   NAME    GROUP                    PRIORITY   STATE     TIME   REASON\n"
      "1          default     train   mcad.ibm.com             7          Waiting   0s\n"
      "2          default     old     mcad.ibm.com             5          Waiting   0s\n"
      "3          default     train   workload.codeflare.dev   3          Waiting   0s\n"
      "4          default     new     workload.codeflare.dev   1          Waiting   0s\n"
      "4 waiting, 0 running\n");
}

TEST(Groups, who_reads_a_name_of_both_gets_ours_and_is_told_of_the_other) {
  World world;
  EXPECT_EQ(world.status("aw", "train"), kDone);
  EXPECT_TRUE(world.console.out_text.contains("\nPriority:   3\n")) << world.console.out_text;
  EXPECT_EQ(world.console.err_text, kTwo);
  EXPECT_EQ(world.status("appwrapper.mcad.ibm.com", "train"), kDone);
  EXPECT_TRUE(world.console.out_text.contains("\nGroup:      mcad.ibm.com\n"))
      << world.console.out_text;
  EXPECT_TRUE(world.console.out_text.contains("\nPriority:   7\n")) << world.console.out_text;
  EXPECT_EQ(world.console.err_text, "");
  EXPECT_EQ(world.status("aw.workload.codeflare.dev", "train"), kDone);
  EXPECT_EQ(world.console.err_text, "");
}

TEST(Groups, a_name_of_one_group_needs_no_group) {
  World world;
  EXPECT_EQ(world.status("aw", "old"), kDone) << world.console.err_text;
  EXPECT_TRUE(world.console.out_text.contains("\nGroup:      mcad.ibm.com\n"))
      << world.console.out_text;
  EXPECT_EQ(world.status("aw", "new"), kDone) << world.console.err_text;
  EXPECT_EQ(world.console.err_text, "");
  EXPECT_EQ(world.status("aw", "none"), kNotFound);
  EXPECT_EQ(world.console.err_text,
            "error: appwrappers.workload.codeflare.dev \"none\" not found\n");
  EXPECT_EQ(world.status("aw.mcad.ibm.com", "new"), kNotFound);
  EXPECT_EQ(world.hold("aw", "old", true), kDone) << world.console.err_text;
  EXPECT_EQ(world.console.out_text, "appwrapper.mcad.ibm.com/old held\n");
}

TEST(Groups, nothing_is_changed_by_a_name_of_both) {
  World world;
  EXPECT_EQ(world.hold("aw", "train", true), kFailed);
  EXPECT_EQ(world.console.err_text, kSayWhich);
  EXPECT_EQ(world.remove("aw", {"train", "new"}), kFailed);
  EXPECT_EQ(world.console.err_text, kSayWhich);
  EXPECT_EQ(world.console.out_text, "appwrapper.workload.codeflare.dev/new deleted\n");
  EXPECT_EQ(world.hold("aw.mcad.ibm.com", "train", true), kDone) << world.console.err_text;
  EXPECT_EQ(world.console.out_text, "appwrapper.mcad.ibm.com/train held\n");
  EXPECT_EQ(world.hold("aw.mcad.ibm.com", "train", false), kDone) << world.console.err_text;
  EXPECT_EQ(world.remove("aw.mcad.ibm.com", {"train"}), kDone) << world.console.err_text;
  EXPECT_EQ(world.console.out_text, "appwrapper.mcad.ibm.com/train deleted\n");
  EXPECT_EQ(world.hold("aw", "train", true), kDone) << "there is one now";
  EXPECT_EQ(world.console.out_text, "appwrapper.workload.codeflare.dev/train held\n");
  EXPECT_EQ(world.remove("aw", {"old"}), kDone) << world.console.err_text;
  EXPECT_EQ(world.console.out_text, "appwrapper.mcad.ibm.com/old deleted\n");
}

TEST(Groups, each_of_two_namesakes_has_its_own_place_in_line) {
  World world;
  EXPECT_EQ(world.explain("aw", "train"), kDone);
  EXPECT_EQ(world.console.err_text, kTwo);
  EXPECT_TRUE(world.console.out_text.starts_with(
      "appwrapper default/train is waiting, submitted 0s ago, position 3 in the queue\n"))
      << world.console.out_text;
  EXPECT_EQ(world.explain("aw.mcad.ibm.com", "train"), kDone);
  EXPECT_TRUE(
      world.console.out_text.starts_with("appwrapper default/train of mcad.ibm.com is waiting, "
                                         "submitted 0s ago, position 1 in the queue\n"))
      << world.console.out_text;
  // Without the right to see the nodes, the AppWrappers alone answer.
  EXPECT_EQ(world.explain("aw", "train", {}, "bob"), kDone);
  EXPECT_TRUE(world.console.out_text.contains("position 3 in the queue\n"))
      << world.console.out_text;
  EXPECT_EQ(world.explain("aw.mcad.ibm.com", "train", {}, "bob"), kDone);
  EXPECT_TRUE(world.console.out_text.contains("position 1 in the queue\n"))
      << world.console.out_text;
}

TEST(Groups, explanations_as_json_have_the_group) {
  World world;
  for (const char* group : {"workload.codeflare.dev", "mcad.ibm.com"}) {
    EXPECT_EQ(world.explain(std::string("aw.") + group, "train", {.output = "json"}), kDone);
    const Result<json::Document> document = json::parse(world.console.out_text);
    ASSERT_TRUE(document.has_value()) << world.console.out_text;
    EXPECT_EQ(document->root.string_or_empty("group"), group);
  }
}

TEST(Groups, logs_are_of_the_one_that_was_named) {
  World world;
  const auto logs = [&](const std::string& kind) {
    return world.verb([&](Session& s) { return run_logs(s, {.kind = kind, .name = "train"}); });
  };
  EXPECT_EQ(logs("aw"), kDone);
  EXPECT_TRUE(world.console.err_text.starts_with(kTwo)) << world.console.err_text;
  EXPECT_EQ(logs("aw.mcad.ibm.com"), kDone);
  EXPECT_EQ(world.console.err_text,
            "appwrapper.mcad.ibm.com train has no pods; its state is Pending; run 'codeflare "
            "explain appwrapper.mcad.ibm.com train' for the reason\n");
}

}  // namespace
}  // namespace codeflare::cli
