#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "cli/testing/verb_world.h"
#include "cli/verbs/check.h"
#include "cli/verbs/crds.h"
#include "cli/verbs/create.h"
#include "cli/verbs/queue.h"
#include "cli/views/kinds.h"
#include "model/resources.h"
#include "model/training_job.h"

#include <gtest/gtest.h>

#include <string>

namespace codeflare::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::VerbWorld;

// As the controller writes it.
Task<Result<void>> write_status(Session& s, std::string name, std::string status) {
  CO_TRY(co_await s.client().patch(app_wrapper_kind().type, {"default", std::move(name)},
                                   kube::PatchKind::merge, R"({"status":)" + status + "}",
                                   {.subresource = "status"}));
  co_return Result<void>();
}

Task<int> patch_status(Session& s, model::ResourceType type, std::string name, std::string status) {
  const Result<kube::ObjectRef> written = co_await s.client().patch(
      std::move(type), {"default", std::move(name)}, kube::PatchKind::merge,
      R"({"status":)" + status + "}", {.subresource = "status"});
  EXPECT_TRUE(written) << written.error().to_string();
  co_return written ? kDone : kFailed;
}

Task<std::string> first_wrapper(Session& s) {
  const auto list = co_await s.client().list(app_wrapper_kind().type, {.ns = "default"});
  co_return list && !list->items.empty() ? list->items.front()->name() : std::string();
}

// Of the AppWrapper `busy`.
Task<int> read_uid(Session& s, std::string& uid) {
  const auto busy = co_await s.client().get(app_wrapper_kind().type, {"default", "busy"});
  EXPECT_TRUE(busy) << busy.error().to_string();
  uid = busy ? (*busy)->uid() : "";
  co_return kDone;
}

Task<int> make_busy(Session& s, std::string status) {
  std::string body =
      R"({"metadata":{"name":"busy"},"spec":{"resources":{"GenericItems":[{"generictemplate":)"
      R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"}}}]}}})";
  const auto made = co_await s.client().create(app_wrapper_kind().type, "default", body);
  EXPECT_TRUE(made) << made.error().to_string();
  const Result<void> written = co_await write_status(s, "busy", status);
  EXPECT_TRUE(written) << written.error().to_string();
  co_return 0;
}

std::string training_job(const std::string& name, const std::string& more_metadata = "") {
  return "apiVersion: breezeml.ai/v1\nkind: TrainingJob\nmetadata: {name: " + name + more_metadata +
         "}\nspec: {replicaSpecs: {template: {spec: {containers: [{name: trainingjob, image: i, "
         "resources: {requests: {cpu: 1}}}]}}}}\n";
}

struct World : VerbWorld {
  void create(const std::string& file, const std::string& text) {
    write(file, text);
    EXPECT_EQ(verb([&](Session& s) { return run_create(s, {.files = {file}}); }), kDone)
        << console.err_text;
  }
  void set_status(const model::ResourceType& type, const std::string& name,
                  const std::string& status) {
    verb([&](Session& s) -> Task<int> { return patch_status(s, type, name, status); });
  }
  int apply(CrdsFlags flags = {}) {
    return verb([&](Session& s) { return run_crds_apply(s, flags); });
  }
  int idle() {
    return verb([&](Session& s) { return run_idle(s, {}); });
  }
};

TEST(CrdsVerb, adds_what_is_wanted_and_can_be_run_again) {
  World world;
  EXPECT_EQ(world.apply(), kDone) << world.console.err_text;
  EXPECT_TRUE(world.console.out_text.contains("appwrappers.workload.codeflare.dev: applied\n"))
      << world.console.out_text;
  EXPECT_FALSE(world.console.out_text.contains("rayclusters.ray.io"));
  EXPECT_EQ(world.apply({.legacy_group = true, .ray = true}), kDone) << world.console.err_text;
  EXPECT_TRUE(world.console.out_text.contains("rayclusters.ray.io: applied\n"));
  EXPECT_TRUE(world.console.out_text.contains("appwrappers.mcad.ibm.com: applied\n"));
}

TEST(QueueIdle, fails_while_work_holds_nodes_and_names_it) {
  World world;
  ASSERT_EQ(world.apply(), kDone);
  EXPECT_EQ(world.idle(), kDone) << world.console.err_text;
  EXPECT_EQ(world.console.out_text, "no AppWrapper or TrainingJob holds nodes\n");
  world.verb([](Session& s) { return make_busy(s, R"({"state":"Pending"})"); });
  EXPECT_EQ(world.idle(), kDone) << "waiting work holds nothing";
  world.verb([](Session& s) -> Task<int> {
    static_cast<void>(co_await write_status(
        s, "busy", R"({"state":"Running","plan":{"places":[{"podSet":0,"node":"n","count":1}]}})"));
    co_return 0;
  });
  EXPECT_EQ(world.idle(), kFailed);
  EXPECT_TRUE(world.console.err_text.contains("1 AppWrapper holds nodes: default/busy; "))
      << world.console.err_text;
  world.verb([](Session& s) -> Task<int> {
    static_cast<void>(co_await s.client().patch(
        app_wrapper_kind().type, {"default", "busy"}, kube::PatchKind::merge,
        R"({"metadata":{"ownerReferences":[{"apiVersion":"codeflare.dev/v1alpha1","kind":"Run",)"
        R"("name":"train","uid":"1","controller":true}]}})"));
    co_return 0;
  });
  EXPECT_EQ(world.idle(), kFailed);
  EXPECT_TRUE(world.console.err_text.contains("default/busy of Run train; "))
      << world.console.err_text;
}

// The group of MCAD has AppWrappers too.
TEST(QueueIdle, sees_the_appwrappers_of_both_groups) {
  World world;
  ASSERT_EQ(world.apply({.legacy_group = true}), kDone);
  world.create("old.yaml", R"(
apiVersion: mcad.ibm.com/v1beta1
kind: AppWrapper
metadata: {name: old}
spec: {resources: {GenericItems: []}}
)");
  world.set_status(legacy_app_wrapper_kind().type, "old",
                   R"({"state":"Running","plan":{"places":[{"podSet":0,"node":"n","count":1}]}})");
  EXPECT_EQ(world.idle(), kFailed);
  EXPECT_TRUE(world.console.err_text.contains("default/old of mcad.ibm.com; "))
      << world.console.err_text;
}

TEST(QueueIdle, sees_training_jobs_that_are_in_no_appwrapper) {
  World world;
  ASSERT_EQ(world.apply(), kDone);
  world.create("bert.yaml", training_job("bert"));
  EXPECT_EQ(world.idle(), kDone) << "waiting work holds nothing";
  const model::ResourceType jobs = model::resource_type<model::TrainingJob>();
  const std::string plan = R"({"plan":{"generation":1,"places":[{"index":0,"node":"n"}]}})";
  world.set_status(jobs, "bert", plan);
  EXPECT_EQ(world.idle(), kFailed);
  EXPECT_EQ(world.console.err_text,
            "error: 1 TrainingJob holds nodes: TrainingJob default/bert; wait until they end, or "
            "run 'codeflare delete trainingjob NAME -n NAMESPACE' for a TrainingJob\n");
  // An AppWrapper answers for its items.
  world.verb([](Session& s) {
    return make_busy(
        s, R"({"state":"Running","plan":{"places":[{"podSet":0,"node":"n","count":1}]}})");
  });
  std::string uid;
  world.verb([&](Session& s) { return read_uid(s, uid); });
  world.create("item.yaml",
               training_job("item",
                            ", ownerReferences: [{apiVersion: workload.codeflare.dev/v1beta1, "
                            "kind: AppWrapper, name: busy, controller: true, uid: " +
                                uid + "}]"));
  world.set_status(jobs, "item", plan);
  EXPECT_EQ(world.idle(), kFailed);
  EXPECT_TRUE(world.console.err_text.contains(
      "1 AppWrapper and 1 TrainingJob hold nodes: default/busy, TrainingJob default/bert; "))
      << world.console.err_text;
}

// Somebody who plays the controller.
Task<void> give_status(Session& s, std::string status) {
  std::string name;
  while (name.empty()) {
    static_cast<void>(co_await sleep_for(milliseconds(50)));
    name = co_await first_wrapper(s);
  }
  static_cast<void>(co_await write_status(s, std::move(name), std::move(status)));
}

Task<int> check_while(Session& s, std::string status) {
  TaskGroup group(s.env().loop);
  if (!status.empty()) {
    group.spawn(give_status(s, std::move(status)));
  }
  const int code = co_await run_check(s, {.image = "codeflare:1", .timeout = seconds(5)});
  co_await group.close();
  EXPECT_EQ(co_await first_wrapper(s), "") << "it cleans up";
  co_return code;
}

TEST(CheckVerb, says_how_its_work_ended_and_cleans_up) {
  World world;
  ASSERT_EQ(world.apply(), kDone);
  const auto check = [&](std::string status) {
    return world.verb([&](Session& s) { return check_while(s, status); });
  };
  EXPECT_EQ(check(R"({"state":"Completed"})"), kDone) << world.console.err_text;
  EXPECT_TRUE(world.console.out_text.contains(" completed in 0 s\n")) << world.console.out_text;
  EXPECT_EQ(check(R"({"state":"Failed","message":"no such image"})"), kFailed);
  EXPECT_TRUE(world.console.err_text.contains(" is Failed: no such image"))
      << world.console.err_text;
  EXPECT_EQ(check(""), kFailed);
  EXPECT_TRUE(world.console.err_text.contains("not noticed by a controller"))
      << world.console.err_text;
}

}  // namespace
}  // namespace codeflare::cli
