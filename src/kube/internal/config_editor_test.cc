#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "base/async/when.h"
#include "kube/internal/config_testing.h"
#include "kube/kubeconfig.h"

#include <gtest/gtest.h>

namespace codeflare::kube {
namespace {

using namespace std::chrono_literals;
using testing::kSamplePath;
using testing::put_file;
using testing::sample_kubeconfig;

const std::string kPath(kSamplePath);

Kubeconfig reread(const KubeconfigEditor& editor) {
  Result<Kubeconfig> config = parse_kubeconfig(editor.text(), kPath);
  EXPECT_TRUE(config) << config.error().message;
  return config.value_or(Kubeconfig());
}

KubeconfigEditor sample_editor() {
  return KubeconfigEditor::parse(sample_kubeconfig(), kPath).value();
}

TEST(KubeconfigEditor, a_new_file_gets_type_and_entries) {
  KubeconfigEditor editor = KubeconfigEditor::parse("", kPath).value();
  editor.set_cluster(
      {.name = "local", .server = "https://127.0.0.1:1", .certificate_authority_data = "QQ=="});
  editor.set_user({.name = "me", .token = Secret("123")});
  editor.set_context({.name = "here", .cluster = "local", .user = "me", .ns = "dev"});
  editor.set_current_context("here");
  Kubeconfig config = reread(editor);
  EXPECT_TRUE(editor.text().contains("apiVersion"));
  EXPECT_EQ(config.current_context, "here");
  EXPECT_EQ(config.cluster("local")->server, "https://127.0.0.1:1");
  EXPECT_EQ(config.cluster("local")->certificate_authority_data, "QQ==");
  // Text that looks like a number stays text.
  EXPECT_EQ(config.user("me")->token.reveal(), "123");
  EXPECT_EQ(config.context("here")->ns, "dev");
}

TEST(KubeconfigEditor, every_field_survives_being_set) {
  Kubeconfig sample = parse_kubeconfig(sample_kubeconfig(), "/x").value();
  KubeconfigEditor editor = KubeconfigEditor::parse("{}", "/x").value();
  for (const ClusterEntry& cluster : sample.clusters) {
    editor.set_cluster(cluster);
  }
  for (const UserEntry& user : sample.users) {
    editor.set_user(user);
  }
  for (const ContextEntry& context : sample.contexts) {
    editor.set_context(context);
  }
  Kubeconfig again = parse_kubeconfig(editor.text(), "/x").value();
  EXPECT_EQ(again.clusters.size(), sample.clusters.size());
  EXPECT_TRUE(again.cluster("insecure")->insecure_skip_tls_verify);
  EXPECT_EQ(again.cluster("main")->proxy_url, sample.cluster("main")->proxy_url);
  EXPECT_EQ(again.cluster("main")->tls_server_name, "kubernetes.default");
  EXPECT_TRUE(again.cluster("main")->disable_compression);
  EXPECT_EQ(again.user("token")->impersonate_groups, sample.user("token")->impersonate_groups);
  EXPECT_EQ(again.user("token")->impersonate_extra, sample.user("token")->impersonate_extra);
  EXPECT_EQ(again.user("token")->impersonate_uid, "7");
  EXPECT_EQ(again.user("basic")->password, sample.user("basic")->password);
  EXPECT_EQ(again.user("files")->client_key, "/keys/client.key");
  EXPECT_EQ(again.user("inline")->client_key_data, sample.user("inline")->client_key_data);
  EXPECT_EQ(again.user("token-file")->token_file, sample.user("token-file")->token_file);
  const ExecPlugin& exec = again.user("exec")->exec.value();
  EXPECT_EQ(exec.args, sample.user("exec")->exec->args);
  EXPECT_EQ(exec.env, sample.user("exec")->exec->env);
  EXPECT_EQ(exec.interactive_mode, "Never");
  EXPECT_TRUE(exec.provide_cluster_info);
  EXPECT_EQ(exec.install_hint, "apt install get-token");
}

TEST(KubeconfigEditor, replacing_an_entry_keeps_its_unknown_fields_and_drops_the_old_known_ones) {
  KubeconfigEditor editor = sample_editor();
  editor.set_cluster({.name = "main", .server = "https://new"});
  editor.set_user({.name = "exec", .token = Secret("t")});
  Kubeconfig config = reread(editor);
  EXPECT_EQ(config.clusters.size(), 4u);
  EXPECT_EQ(config.clusters[0].name, "main");
  EXPECT_EQ(config.cluster("main")->server, "https://new");
  EXPECT_EQ(config.cluster("main")->certificate_authority_data, "");
  EXPECT_EQ(config.cluster("main")->exec_config, R"({"audience":"a"})");
  EXPECT_EQ(config.user("exec")->token.reveal(), "t");
  EXPECT_FALSE(config.user("exec")->exec);
  EXPECT_TRUE(editor.text().contains("preferences"));
}

TEST(KubeconfigEditor, removes_entries_and_what_nobody_else_uses) {
  KubeconfigEditor editor = sample_editor();
  EXPECT_FALSE(editor.remove_context_and_parts("gone"));
  EXPECT_TRUE(editor.remove_context_and_parts("token"));
  Kubeconfig config = reread(editor);
  EXPECT_EQ(config.context("token"), nullptr);
  EXPECT_EQ(config.current_context, "");
  // "plain" still uses the user, others the cluster.
  EXPECT_NE(config.user("token"), nullptr);
  EXPECT_NE(config.cluster("main"), nullptr);
  EXPECT_TRUE(editor.remove_context_and_parts("files"));
  config = reread(editor);
  EXPECT_EQ(config.user("files"), nullptr);
  EXPECT_EQ(config.cluster("files"), nullptr);
  EXPECT_EQ(config.contexts.size(), 6u);
}

TEST(KubeconfigEditor, a_file_it_cannot_read_is_not_touched) {
  Result<KubeconfigEditor> editor = KubeconfigEditor::parse(R"({"users": "x"})", kPath);
  ASSERT_FALSE(editor);
  EXPECT_TRUE(editor.error().message.contains("users: expected a list"));
}

// --- files --------------------------------------------------------------------------------------

class EditTest : public ::testing::Test {
 protected:
  Env env() { return sim_.env(); }
  Result<void> edit(KubeconfigChange change) {
    return run(env().loop, edit_kubeconfig(env(), kPath, std::move(change))).value();
  }
  static Result<void> add_user(KubeconfigEditor& editor) {
    editor.set_user({.name = "new", .token = Secret("sEcReT")});
    return {};
  }
  Kubeconfig saved() { return load_kubeconfig(env().files, {kPath}, true).value(); }

  SimEnv sim_;
};

TEST_F(EditTest, a_missing_file_is_made_for_its_owner_alone) {
  ASSERT_TRUE(edit(add_user));
  EXPECT_EQ(saved().user("new")->token.reveal(), "sEcReT");
  EXPECT_EQ(env().files.info(kPath)->mode, 0600u);
  EXPECT_EQ(env().files.info("/home/me/.kube")->mode, 0700u);
  EXPECT_FALSE(env().files.exists(kPath + ".lock"));
}

TEST_F(EditTest, the_rest_of_the_file_stays_and_it_becomes_private) {
  put_file(env(), kPath, sample_kubeconfig());
  ASSERT_TRUE(edit(add_user));
  Kubeconfig config = saved();
  EXPECT_EQ(config.users.size(), 8u);
  EXPECT_EQ(config.user("basic")->username, "joe");
  EXPECT_EQ(env().files.info(kPath)->mode, 0600u);
}

TEST_F(EditTest, what_was_written_survives_a_power_cut) {
  put_file(env(), kPath, sample_kubeconfig());
  ASSERT_TRUE(edit(add_user));
  sim_.crash_files();
  EXPECT_NE(saved().user("new"), nullptr);
}

TEST_F(EditTest, nothing_is_written_when_the_change_fails_or_changes_nothing) {
  put_file(env(), kPath, sample_kubeconfig());
  Result<void> edited = edit([](KubeconfigEditor& editor) -> Result<void> {
    editor.set_current_context("x");
    return fail(conflict("no"));
  });
  ASSERT_FALSE(edited);
  EXPECT_EQ(edited.error().message, "no");
  ASSERT_TRUE(edit([](KubeconfigEditor& editor) -> Result<void> {
    editor.set_current_context("token");
    return {};
  }));
  EXPECT_EQ(env().files.read(kPath).value(), sample_kubeconfig());
  EXPECT_FALSE(env().files.exists(kPath + ".lock"));
}

TEST_F(EditTest, a_broken_file_is_left_alone) {
  put_file(env(), kPath, R"({"users": 1})");
  EXPECT_FALSE(edit(add_user));
  EXPECT_EQ(env().files.read(kPath).value(), R"({"users": 1})");
  EXPECT_FALSE(env().files.exists(kPath + ".lock"));
}

TEST_F(EditTest, another_holder_of_the_lock_is_waited_for) {
  put_file(env(), kPath + ".lock", "");
  TaskGroup group(env().loop);
  auto release = [](Env env) -> Task<void> {
    (void)co_await sleep_for(2s);
    (void)env.files.remove(kPath + ".lock");
  };
  group.spawn(release(env()));
  EXPECT_TRUE(edit(add_user));
  EXPECT_NE(saved().user("new"), nullptr);
  run(env().loop, group.join());
}

TEST_F(EditTest, a_lock_that_stays_is_named) {
  put_file(env(), kPath + ".lock", "");
  Instant start = env().clock.now();
  Result<void> edited = edit(add_user);
  ASSERT_FALSE(edited);
  EXPECT_EQ(edited.error().message,
            "/home/me/.kube/config.lock: another program is changing the kubeconfig; if none is, "
            "remove this file");
  EXPECT_GE(env().clock.now() - start, 5s);
  EXPECT_FALSE(env().files.exists(kPath));
  EXPECT_TRUE(env().files.exists(kPath + ".lock"));
}

TEST_F(EditTest, changes_at_the_same_time_are_all_kept) {
  std::vector<Task<Result<void>>> tasks;
  for (int i = 0; i < 10; ++i) {
    tasks.push_back(edit_kubeconfig(env(), kPath, [i](KubeconfigEditor& editor) -> Result<void> {
      editor.set_user({.name = std::to_string(i), .token = Secret("t")});
      return {};
    }));
  }
  std::vector<Result<void>> results = run(env().loop, when_all(std::move(tasks))).value();
  for (const Result<void>& edited : results) {
    EXPECT_TRUE(edited);
  }
  EXPECT_EQ(saved().users.size(), 10u);
}

TEST(KubeconfigEditor, keeps_notes_of_programs_beside_each_other) {
  KubeconfigEditor editor =
      KubeconfigEditor::parse(
          "contexts:\n- name: a\n  context:\n    cluster: c\n    user: u\n    extensions:\n"
          "    - name: other\n      extension: {x: why}\n",
          kPath)
          .value();
  EXPECT_FALSE(editor.note("a", "mine"));
  EXPECT_FALSE(editor.note("b", "mine"));
  editor.set_note("a", "mine", {{"previous", "b"}});
  editor.set_note("a", "mine", {{"previous", "c"}});
  const KubeconfigEditor again = KubeconfigEditor::parse(editor.text(), kPath).value();
  EXPECT_EQ(again.note("a", "mine"), (KubeconfigEditor::Note{{"previous", "c"}}));
  EXPECT_EQ(again.note("a", "other"), (KubeconfigEditor::Note{{"x", "why"}}));
}

}  // namespace
}  // namespace codeflare::kube
