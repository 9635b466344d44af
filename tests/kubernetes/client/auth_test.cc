#include "json/parse.h"
#include "tests/kubernetes/client/cluster.h"

#include <algorithm>
#include <filesystem>

namespace codeflare::kube {
namespace {

std::string script(int valid_seconds) {
  return R"sh(#!/bin/sh
cd "$(dirname "$0")" || exit 1
echo run >> runs
token=$(sed -n "$(wc -l < runs)p" tokens)
[ -n "$token" ] || token=$(tail -n 1 tokens)
expires=$(date -u -d '+)sh" +
         std::to_string(valid_seconds) + R"sh( seconds' +%Y-%m-%dT%H:%M:%SZ)
printf '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential",'
printf '"status":{"token":"%s","expirationTimestamp":"%s"}}' "$token" "$expires"
)sh";
}

// The kubeconfig's user replaced by a plugin that prints, at its n-th run, the n-th line of a file
// (or the last one): a token, valid for some seconds.
class AuthTest : public ClusterTest {
 protected:
  void SetUp() override {
    ClusterTest::SetUp();
    if (HasFatalFailure()) {
      return;
    }
    Result<std::string> state = env().files.read(directory_ + "/state.json");
    ASSERT_TRUE(state) << state.error().to_string();
    Result<json::Document> tree = json::parse(*state);
    ASSERT_TRUE(tree) << tree.error().to_string();
    const json::Value* tokens = tree->root.find("tokens");
    ASSERT_NE(tokens, nullptr);
    token_ = tokens->string_or_empty("admin");
    token_2_ = tokens->string_or_empty("admin-2");
    plugin_directory_ = ::testing::TempDir() + "client_test_" + env().random.uuid();
  }
  void TearDown() override { std::filesystem::remove_all(plugin_directory_); }

  void use_plugin(const std::string& tokens, int valid_seconds) {
    ASSERT_TRUE(env().files.make_directories(plugin_directory_));
    const std::string program = plugin_directory_ + "/plugin";
    ASSERT_TRUE(env().files.write(plugin_directory_ + "/tokens", tokens, {.mode = 0600}));
    ASSERT_TRUE(env().files.write(program, script(valid_seconds), {.mode = 0755}));
    Config config = config_;
    config.tls.certificate_pem.clear();
    config.tls.key_pem = Secret();
    config.auth = ExecAuth{.plugin = {.api_version = "client.authentication.k8s.io/v1",
                                      .command = program,
                                      .interactive_mode = "Never"}};
    Result<std::unique_ptr<Connection>> connection = connect(env(), config);
    ASSERT_TRUE(connection) << connection.error().to_string();
    client_.reset();
    connection_ = *std::move(connection);
    client_ = std::make_unique<Client>(env(), connection_->service());
  }
  long runs() {
    const std::string lines = env().files.read(plugin_directory_ + "/runs").value_or("");
    return std::count(lines.begin(), lines.end(), '\n');
  }

  std::string token_;
  std::string token_2_;
  std::string plugin_directory_;
};

TEST_F(AuthTest, a_plugin_runs_again_when_its_token_expires_and_no_request_fails) {
  use_plugin(token_ + "\n" + token_2_ + "\n", 3);
  const Instant end = after(env().loop.now(), std::chrono::seconds(60));
  int requests = 0;
  while (runs() < 3 && env().loop.now() < end) {
    Result<ObjectRef> got = run(client().get(kNamespaces, {"", ns_}));
    ASSERT_TRUE(got) << got.error().to_string() << " at request " << requests;
    ++requests;
  }
  EXPECT_EQ(runs(), 3);
  EXPECT_GT(requests, 3) << "a token serves until it expires";
}

TEST_F(AuthTest, a_refused_token_leads_to_exactly_one_more_run) {
  use_plugin("wrong\n" + token_2_ + "\n", 3600);
  EXPECT_EQ(outcome(run(client().get(kNamespaces, {"", ns_}))), "ok");
  EXPECT_EQ(runs(), 2);
  EXPECT_EQ(outcome(run(client().get(kNamespaces, {"", ns_}))), "ok");
  EXPECT_EQ(runs(), 2);
}

TEST_F(AuthTest, a_token_that_is_refused_for_good_is_an_error_and_no_loop) {
  use_plugin("wrong\n", 3600);
  EXPECT_EQ(outcome(run(client().get(kNamespaces, {"", ns_}))), "unauthenticated");
  EXPECT_EQ(runs(), 2);
}

TEST_F(AuthTest, writes_carry_the_renewed_token_too) {
  use_plugin("wrong\n" + token_ + "\n", 3600);
  EXPECT_EQ(outcome(create("a", "1")), "ok");
  EXPECT_EQ(value_of("a"), "1");
  EXPECT_EQ(runs(), 2);
}

}  // namespace
}  // namespace codeflare::kube
