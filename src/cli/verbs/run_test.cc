#include "cli/verbs/run.h"

#include "cli/testing/verb_world.h"
#include "cli/verbs/crds.h"
#include "cli/verbs/create.h"
#include "cli/verbs/end_job.h"
#include "cli/verbs/follow_job.h"
#include "cli/verbs/show_job.h"
#include "cli/verbs/show_run.h"
#include "model/app_wrapper.h"
#include "model/codec/app_wrapper.h"
#include "model/resources.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace codeflare::cli {
namespace {

const model::ResourceType kSecrets{
    .group = "", .version = "v1", .kind = "Secret", .plural = "secrets"};

// Hardly compresses: needs several Secrets.
std::string noise(std::size_t size) {
  std::string text;
  std::uint64_t state = 88172645463325252;
  while (text.size() < size) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    text += static_cast<char>(state);
  }
  return text;
}

struct World : testing::VerbWorld {
  World() {
    write("crd.yaml", testing::app_wrapper_crd());
    EXPECT_EQ(verb([](Session& s) { return run_create(s, {.files = {"crd.yaml"}}); }), 0)
        << console.err_text;
    write("/code/main.py", "print(1)\n");
    write("/code/noise", noise(2'000'000));
  }

  int run_verb(RunFlags flags) {
    return verb([&](Session& session) { return run_run(session, flags); });
  }

  struct Objects {
    std::vector<model::AppWrapper> wrappers;
    std::vector<std::string> secrets;
  };
  Objects objects() {
    Objects found;
    const int code = verb([&](Session& session) -> Task<int> {
      const auto wrappers = co_await session.client().list_all(
          model::resource_type<model::AppWrapper>(), {.ns = "default"});
      const auto secrets = co_await session.client().list_all(kSecrets, {.ns = "default"});
      if (!wrappers || !secrets) {
        co_return 1;
      }
      for (const kube::ObjectRef& object : wrappers->items) {
        found.wrappers.push_back(*object->as<model::AppWrapper>());
      }
      for (const kube::ObjectRef& object : secrets->items) {
        found.secrets.emplace_back(object->name());
      }
      co_return 0;
    });
    EXPECT_EQ(code, 0);
    return found;
  }
};

RunFlags detached() {
  return {.spec = {.name = "train", .ns = {}, .command = {"python3", "main.py"}, .image = {}},
          .directory = "/code",
          .detach = true};
}

TEST(Run, queues_a_job_whose_code_is_in_secrets_of_its_appwrapper) {
  World world;
  EXPECT_EQ(world.run_verb(detached()), 0) << world.console.err_text;
  EXPECT_TRUE(world.console.out_text.starts_with("job/train submitted\nNext: codeflare logs"));
  EXPECT_TRUE(world.console.err_text.contains("code: /code (2 files, 1.9 MiB)"));
  const World::Objects found = world.objects();
  ASSERT_EQ(found.wrappers.size(), 1u);
  const model::AppWrapper& wrapper = found.wrappers.front();
  EXPECT_FALSE(wrapper.spec.suspend.value_or(false));
  EXPECT_EQ(model::find_or_empty(wrapper.metadata.labels, "codeflare.dev/job"), "train");
  EXPECT_EQ(model::find_or_empty(wrapper.metadata.labels, "codeflare.dev/backend"), "kubernetes");
  EXPECT_EQ(found.secrets,
            (std::vector<std::string>{"train-code-0", "train-code-1", "train-code-2"}));
  EXPECT_EQ(world.run_verb(detached()), kExists);
  EXPECT_TRUE(world.console.err_text.contains("job 'train' already exists"));
}

TEST(Run, goes_on_where_a_client_died_whichever_write_was_its_last) {
  for (const bool reply_lost : {false, true}) {
    // The AppWrapper, three Secrets, the release.
    for (int writes = 0; writes <= 5; ++writes) {
      SCOPED_TRACE("writes " + std::to_string(writes) + (reply_lost ? ", reply lost" : ""));
      World world;
      world.writes_left = writes;
      world.reply_lost = reply_lost;
      const int first = world.run_verb(detached());
      const bool complete = writes == 5;
      EXPECT_EQ(first == 0, complete && !reply_lost) << world.console.err_text;
      world.writes_left = -1;
      EXPECT_EQ(world.run_verb(detached()), complete ? kExists : 0) << world.console.err_text;
      const World::Objects found = world.objects();
      ASSERT_EQ(found.wrappers.size(), 1u);
      EXPECT_FALSE(found.wrappers.front().spec.suspend.value_or(false));
      EXPECT_EQ(found.secrets.size(), 3u);
    }
  }
}

TEST(Run, does_not_continue_another_submission_of_the_name) {
  World world;
  world.writes_left = 2;
  EXPECT_NE(world.run_verb(detached()), 0);
  world.writes_left = -1;
  RunFlags other = detached();
  other.spec.command = {"python3", "other.py"};
  EXPECT_EQ(world.run_verb(other), kExists);
  EXPECT_TRUE(world.console.err_text.contains("interrupted submission that differs"));
  const int status =
      world.verb([](Session& session) { return run_status_job(session, {.name = "train"}); });
  EXPECT_EQ(status, 0) << world.console.err_text;
  EXPECT_TRUE(world.console.out_text.contains("Submitting")) << world.console.out_text;
}

TEST(Run, is_a_job_and_an_empty_list_of_runs_says_so) {
  World world;
  world.verb([](Session& session) { return run_crds_apply(session, {}); });
  EXPECT_EQ(world.verb([](Session& session) { return run_list_run(session, {}); }), kDone);
  EXPECT_EQ(world.console.err_text,
            "no runs found in namespace default; work of 'codeflare run' is in 'codeflare list "
            "job'\n");
}

TEST(Run, is_held_and_released_by_its_name) {
  World world;
  ASSERT_EQ(world.run_verb(detached()), 0) << world.console.err_text;
  const auto hold = [&](bool on) {
    return world.verb([on](Session& s) { return run_hold_job(s, {.name = "train"}, on); });
  };
  EXPECT_EQ(hold(true), kDone) << world.console.err_text;
  EXPECT_EQ(world.console.out_text, "appwrapper.workload.codeflare.dev/train held\n");
  EXPECT_TRUE(world.objects().wrappers.front().spec.suspend.value_or(false));
  EXPECT_EQ(hold(false), kDone) << world.console.err_text;
  EXPECT_EQ(world.console.out_text, "appwrapper.workload.codeflare.dev/train released\n");
  EXPECT_FALSE(world.objects().wrappers.front().spec.suspend.value_or(false));
  CancelJobFlags cancel;
  cancel.name = "train";
  EXPECT_EQ(world.verb([&](Session& s) { return run_cancel_job(s, cancel); }), kDone);
  EXPECT_EQ(hold(false), kFailed);
  EXPECT_EQ(world.console.err_text,
            "error: job 'train' was cancelled; delete the job and submit it again\n");
}

TEST(Run, is_not_released_before_its_code_is_complete) {
  World world;
  world.writes_left = 2;
  EXPECT_NE(world.run_verb(detached()), 0);
  world.writes_left = -1;
  const int code = world.verb([](Session& s) { return run_hold_job(s, {.name = "train"}, false); });
  EXPECT_EQ(code, kFailed);
  EXPECT_TRUE(world.console.err_text.contains("its code is missing")) << world.console.err_text;
}

TEST(Run, is_deleted_without_a_wait) {
  World world;
  ASSERT_EQ(world.run_verb(detached()), 0) << world.console.err_text;
  DeleteJobFlags at_once;
  at_once.name = "train";
  at_once.wait = false;
  EXPECT_EQ(world.verb([&](Session& s) { return run_delete_job(s, at_once); }), kDone);
  EXPECT_EQ(world.console.out_text, "job/train deleted\n");
  WaitJobFlags gone;
  gone.name = "train";
  gone.goal = "deleted";
  EXPECT_EQ(world.verb([&](Session& s) { return run_wait_job(s, gone); }), kDone);
  EXPECT_EQ(world.console.out_text, "job/train deleted\n");
  EXPECT_TRUE(world.objects().wrappers.empty());
}

std::string tree_yaml(const std::string& tree) {
  return "---\napiVersion: quota.codeflare.dev/v1alpha1\nkind: QuotaSubtree\nmetadata: {name: " +
         tree + ", namespace: default, labels: {tree: " + tree +
         "}}\nspec: {children: [{name: gold, quotas: {requests: {cpu: 4}}}]}\n";
}

TEST(Run, charges_a_node_of_the_only_quota_tree) {
  World world;
  RunFlags gold = detached();
  gold.spec.quota = {"gold"};
  EXPECT_EQ(world.run_verb(gold), kUsage);
  EXPECT_TRUE(world.console.err_text.contains("--quota: 'gold' is not TREE=NODE"))
      << world.console.err_text;
  const auto create = [&](const std::string& text) {
    world.write("quota.yaml", text);
    const auto made = [](Session& s) { return run_create(s, {.files = {"quota.yaml"}}); };
    ASSERT_EQ(world.verb(made), kDone) << world.console.err_text;
  };
  create(testing::app_wrapper_crd("quotasubtrees.quota.codeflare.dev") + tree_yaml("team"));
  EXPECT_EQ(world.run_verb(gold), kDone) << world.console.err_text;
  EXPECT_EQ(model::find_or_empty(world.objects().wrappers.front().metadata.labels, "team"), "gold");
  create(tree_yaml("org"));
  gold.spec.name = "second";
  EXPECT_EQ(world.run_verb(gold), kUsage);
  EXPECT_TRUE(
      world.console.err_text.contains("--quota: 'gold' may be in any of the quota trees "
                                      "org, team; write TREE=NODE, such as org=gold"))
      << world.console.err_text;
  gold.spec.quota = {"team=gold"};
  EXPECT_EQ(world.run_verb(gold), kDone) << world.console.err_text;
}

TEST(Run, rejects_wrong_input_before_anything_is_sent) {
  World world;
  world.writes_left = 0;
  RunFlags none = detached();
  none.spec.command.clear();
  EXPECT_EQ(world.run_verb(none), kUsage);
  RunFlags quantity = detached();
  quantity.spec.memory = "4 Gi";
  EXPECT_EQ(world.run_verb(quantity), kUsage);
  world.write("/code/huge", noise(9'000'000));
  EXPECT_EQ(world.run_verb(detached()), kUsage);
  EXPECT_TRUE(world.console.err_text.contains("largest files: huge (8.6 MiB)"))
      << world.console.err_text;
}

}  // namespace
}  // namespace codeflare::cli
