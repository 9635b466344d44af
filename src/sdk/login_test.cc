#include "sdk/login.h"

#include <gtest/gtest.h>

namespace codeflare::sdk {
namespace {

using kube::KubeconfigEditor;

KubeconfigEditor editor(std::string_view text = "") {
  return KubeconfigEditor::parse(text, "/k").value();
}

LoginEntries entries(const std::string& name, const std::string& token = "secret") {
  return {.cluster = {.name = name, .server = "https://host:6443"},
          .user = {.name = name, .token = Secret(token)},
          .context = {.name = name, .cluster = name, .user = name, .ns = "team"}};
}

constexpr const char* kOthers =
    "apiVersion: v1\nkind: Config\ncurrent-context: work\n"
    "contexts:\n- name: work\n  context: {cluster: w, user: w}\n"
    "clusters:\n- name: w\n  cluster: {server: 'https://work'}\n"
    "users:\n- name: w\n  user: {token: other}\n";

TEST(Login, is_current_and_leaves_the_rest_alone) {
  KubeconfigEditor edited = editor(kOthers);
  add_login(edited, entries("codeflare/host"));
  EXPECT_EQ(edited.current_context(), "codeflare/host");
  const kube::Kubeconfig read = kube::parse_kubeconfig(edited.text(), "/k").value();
  EXPECT_EQ(read.contexts.size(), 2u);
  EXPECT_EQ(read.context("codeflare/host")->ns, "team");
  EXPECT_EQ(read.user("codeflare/host")->token.reveal(), "secret");
}

TEST(Login, logging_out_leaves_the_file_as_it_was) {
  const std::string before = editor(kOthers).text();
  KubeconfigEditor edited = editor(kOthers);
  add_login(edited, entries("codeflare/host"));
  add_login(edited, entries("codeflare/host", "newer"));  // again
  const Result<LoggedOut> out = remove_login(edited);
  ASSERT_TRUE(out) << out.error().message;
  EXPECT_EQ(out->context, "codeflare/host");
  EXPECT_EQ(out->current, "work");
  EXPECT_EQ(edited.text(), before);
}

TEST(Login, two_logins_are_undone_one_after_the_other) {
  KubeconfigEditor edited = editor(kOthers);
  add_login(edited, entries("codeflare/a"));
  add_login(edited, entries("codeflare/b"));
  EXPECT_EQ(remove_login(edited)->current, "codeflare/a");
  EXPECT_EQ(remove_login(edited)->current, "work");
  EXPECT_EQ(edited.text(), editor(kOthers).text());
}

TEST(Login, contexts_of_others_are_not_removed) {
  KubeconfigEditor edited = editor(kOthers);
  EXPECT_EQ(remove_login(edited).error().message,
            "context 'work' was not made by 'codeflare login'; nothing was removed");
  KubeconfigEditor empty = editor();
  EXPECT_EQ(remove_login(empty).error().message,
            "not logged in: the kubeconfig has no current context");
}

}  // namespace
}  // namespace codeflare::sdk
