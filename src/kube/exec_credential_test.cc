#include "kube/exec_credential.h"

#include "base/async/sleep.h"
#include "base/async/when.h"
#include "kube/internal/config_testing.h"

#include <gtest/gtest.h>

namespace codeflare::kube {
namespace {

using namespace std::chrono_literals;
using testing::expect_clean;

constexpr std::string_view kV1 = "client.authentication.k8s.io/v1";

std::string credential_text(std::string_view status, std::string_view version = kV1) {
  return R"({"kind": "ExecCredential", "apiVersion": ")" + std::string(version) +
         R"(", "status": )" + std::string(status) + "}";
}

class ExecTest : public ::testing::Test {
 protected:
  ExecTest() {
    config_.server = "https://api:6443";
    config_.auth = ExecAuth{.plugin = {.api_version = std::string(kV1),
                                       .command = "get-token",
                                       .args = {"--now"},
                                       .env = {{"MODE", "test"}},
                                       .interactive_mode = "IfAvailable"},
                            .place = "/k: users[0].user.exec"};
    sim_.set_program("get-token", [this](Command command) { return answer(std::move(command)); });
  }

  Env env() { return sim_.env(); }
  ExecPlugin& plugin() { return std::get<ExecAuth>(config_.auth).plugin; }

  Task<Result<CommandResult>> answer(Command command) {
    commands_.push_back(std::move(command));
    std::string output = output_.empty() ? next_token() : output_;
    int code = exit_code_;
    CO_TRY(co_await sleep_for(run_time_));
    co_return CommandResult{code, std::move(output), ""};
  }
  // A new token each time that lives for `life_`.
  std::string next_token() {
    std::string expires = to_rfc3339(env().clock.wall() + life_);
    return credential_text(R"({"token": "sEcReT-)" + std::to_string(commands_.size()) +
                           R"(", "expirationTimestamp": ")" + expires + R"("})");
  }
  ExecCredentialSource& source() {
    if (!source_) {
      source_.emplace(env(), config_, options_);
    }
    return *source_;
  }
  template <typename T>
  T wait(Task<T> task) {
    return run(env().loop, std::move(task)).value();
  }
  void pass(Duration time) { ASSERT_TRUE(wait(sleep_for(time))); }
  std::string get() {
    Result<CredentialRef> credential = wait(source().get());
    return credential ? (*credential)->authorization.reveal() : credential.error().message;
  }
  std::string error() {
    Result<CredentialRef> credential = wait(source().get());
    EXPECT_FALSE(credential);
    std::string message = credential ? "" : credential.error().message;
    expect_clean(message);
    EXPECT_TRUE(message.starts_with("/k: users[0].user.exec: credential plugin \"get-token\" "))
        << message;
    if (!credential) {
      EXPECT_EQ(credential.error().code, ErrorCode::unauthenticated);
    }
    return message.substr(std::min(message.find("\" ") + 2, message.size()));
  }

  SimEnv sim_;
  Config config_;
  CredentialOptions options_;
  std::optional<ExecCredentialSource> source_;
  std::vector<Command> commands_;
  std::string output_;
  int exit_code_ = 0;
  Duration run_time_ = 100ms;
  Duration life_ = 600s;
};

TEST_F(ExecTest, runs_the_plugin_as_the_kubeconfig_says) {
  EXPECT_EQ(get(), "Bearer sEcReT-1");
  ASSERT_EQ(commands_.size(), 1u);
  const Command& command = commands_[0];
  EXPECT_EQ(command.program, "get-token");
  EXPECT_EQ(command.arguments, std::vector<std::string>{"--now"});
  EXPECT_EQ(command.variables.at("MODE"), "test");
  EXPECT_EQ(command.variables.at("KUBERNETES_EXEC_INFO"),
            R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1",)"
            R"("spec":{"interactive":false}})");
  EXPECT_TRUE(command.inherit_stderr);
  EXPECT_FALSE(command.inherit_stdin);
}

TEST_F(ExecTest, tells_the_plugin_about_the_cluster_when_asked) {
  plugin().provide_cluster_info = true;
  std::get<ExecAuth>(config_.auth).cluster_config = R"({"audience":"a"})";
  config_.tls = {.ca_pem = "PEM", .insecure = true, .server_name = "name"};
  config_.proxy_url = Secret("http://proxy");
  config_.disable_compression = true;
  get();
  EXPECT_EQ(commands_.at(0).variables.at("KUBERNETES_EXEC_INFO"),
            R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1",)"
            R"("spec":{"interactive":false,"cluster":{"server":"https://api:6443",)"
            R"("tls-server-name":"name","insecure-skip-tls-verify":true,)"
            R"("certificate-authority-data":"UEVN","proxy-url":"http://proxy",)"
            R"("disable-compression":true,"config":{"audience":"a"}}}})");
}

TEST_F(ExecTest, may_ask_questions_only_on_a_terminal) {
  options_.stdin_is_terminal = true;
  get();
  EXPECT_TRUE(commands_.at(0).inherit_stdin);
  EXPECT_TRUE(commands_[0].variables.at("KUBERNETES_EXEC_INFO")->contains(R"("interactive":true)"));
  source_.reset();
  plugin().interactive_mode = "Never";
  get();
  EXPECT_FALSE(commands_.at(1).inherit_stdin);
  source_.reset();
  plugin().interactive_mode = "Always";
  get();
  EXPECT_TRUE(commands_.at(2).inherit_stdin);
  source_.reset();
  options_.stdin_is_terminal = false;
  EXPECT_EQ(error(), "needs a terminal (interactiveMode: Always), but standard input is not one");
  EXPECT_EQ(commands_.size(), 3u);
}

TEST_F(ExecTest, keeps_the_token_until_shortly_before_it_expires) {
  EXPECT_EQ(get(), "Bearer sEcReT-1");
  pass(585s);
  EXPECT_EQ(get(), "Bearer sEcReT-1");
  pass(10s);
  EXPECT_EQ(get(), "Bearer sEcReT-2");
  EXPECT_EQ(source().runs(), 2u);
}

TEST_F(ExecTest, a_short_life_is_used_nearly_to_its_end) {
  life_ = 10s;
  EXPECT_EQ(get(), "Bearer sEcReT-1");
  pass(8s);
  EXPECT_EQ(get(), "Bearer sEcReT-1");
  pass(1s);
  EXPECT_EQ(get(), "Bearer sEcReT-2");
}

TEST_F(ExecTest, a_token_that_is_over_already_is_used_once) {
  life_ = -1h;
  EXPECT_EQ(get(), "Bearer sEcReT-1");
  EXPECT_EQ(get(), "Bearer sEcReT-2");
}

TEST_F(ExecTest, without_expiry_it_is_kept_until_refused) {
  output_ = credential_text(R"({"token": "sEcReT"})");
  Result<CredentialRef> first = wait(source().get());
  ASSERT_TRUE(first);
  pass(24h * 365);
  EXPECT_EQ(wait(source().get()).value(), *first);
  source().refused(*first);
  CredentialRef second = wait(source().get()).value();
  EXPECT_NE(second, *first);
  EXPECT_EQ(source().runs(), 2u);
  source().refused(*first);
  EXPECT_EQ(wait(source().get()).value(), second);
  EXPECT_EQ(source().runs(), 2u);
}

TEST_F(ExecTest, many_requests_wait_for_one_run) {
  std::vector<Task<Result<CredentialRef>>> tasks;
  for (int i = 0; i < 20; ++i) {
    tasks.push_back(source().get());
  }
  std::vector<Result<CredentialRef>> results = wait(when_all(std::move(tasks)));
  for (const Result<CredentialRef>& result : results) {
    ASSERT_TRUE(result);
    EXPECT_EQ((*result)->authorization.reveal(), "Bearer sEcReT-1");
  }
  EXPECT_EQ(source().runs(), 1u);
}

TEST_F(ExecTest, a_failure_is_shared_by_those_who_waited_and_tried_again_by_the_next) {
  exit_code_ = 3;
  std::vector<Task<Result<CredentialRef>>> tasks;
  for (int i = 0; i < 5; ++i) {
    tasks.push_back(source().get());
  }
  for (const Result<CredentialRef>& result : wait(when_all(std::move(tasks)))) {
    EXPECT_FALSE(result);
  }
  EXPECT_EQ(source().runs(), 1u);
  exit_code_ = 0;
  EXPECT_EQ(get(), "Bearer sEcReT-2");
}

// Gives up after a time, by its own stop.
Task<Result<CredentialRef>> impatient(ExecCredentialSource& source) {
  co_return co_await with_timeout(50ms, "credential", source.get());
}

TEST_F(ExecTest, one_who_gives_up_does_not_fail_the_others) {
  std::vector<Task<Result<CredentialRef>>> tasks;
  tasks.push_back(impatient(source()));
  tasks.push_back(source().get());
  tasks.push_back(source().get());
  std::vector<Result<CredentialRef>> results = wait(when_all(std::move(tasks)));
  ASSERT_FALSE(results[0]);
  EXPECT_EQ(results[0].error().code, ErrorCode::deadline_exceeded);
  ASSERT_TRUE(results[1]);
  ASSERT_TRUE(results[2]);
  EXPECT_EQ((*results[1])->authorization.reveal(), "Bearer sEcReT-2");
  EXPECT_EQ(*results[1], *results[2]);
  EXPECT_EQ(source().runs(), 2u);
}

TEST_F(ExecTest, failures_name_exit_code_and_install_hint_but_no_output) {
  output_ = "sEcReT output";
  exit_code_ = 3;
  EXPECT_EQ(error(), "failed with exit code 3, expected 0 and an ExecCredential on its output");
  plugin().install_hint = "apt install get-token\nthen log in";
  source_.reset();
  EXPECT_EQ(
      error(),
      "failed with exit code 3, expected 0 and an ExecCredential on its output; install hint: "
      "apt install get-token then log in");
  plugin().command = "gone";
  source_.reset();
  Result<CredentialRef> missing = wait(source().get());
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message,
            "/k: users[0].user.exec: credential plugin \"gone\" is not installed or not on PATH; "
            "install hint: apt install get-token then log in");
}

TEST_F(ExecTest, certificates_are_taken_too) {
  std::string pem = testing::sample_certificate();
  std::string key = testing::sample_key();
  std::string status;
  json::Writer writer(status);
  writer.begin_object().member("clientCertificateData", pem).member("clientKeyData", key);
  writer.end_object();
  output_ = credential_text(status);
  Result<CredentialRef> credential = wait(source().get());
  ASSERT_TRUE(credential) << credential.error().message;
  EXPECT_EQ((*credential)->authorization.reveal(), "");
  EXPECT_EQ((*credential)->certificate_pem, pem);
  EXPECT_EQ((*credential)->key_pem.reveal(), key);
}

TEST_F(ExecTest, the_older_version_works_alike) {
  plugin().api_version = "client.authentication.k8s.io/v1beta1";
  output_ = credential_text(R"({"token": "sEcReT"})", plugin().api_version);
  EXPECT_EQ(get(), "Bearer sEcReT");
  EXPECT_TRUE(commands_.at(0).variables.at("KUBERNETES_EXEC_INFO")->contains("/v1beta1\""));
}

TEST_F(ExecTest, unusable_output_is_described_and_not_repeated) {
  const std::pair<std::string, std::string> cases[] = {
      {"sEcReT", "expected an ExecCredential as one JSON object"},
      {R"({"token": "sEcReT")", "expected an ExecCredential as one JSON object"},
      {"[]", "expected an ExecCredential as one JSON object"},
      {R"({"kind": "sEcReT"})", "kind: expected ExecCredential"},
      {credential_text("{}", "sEcReT"),
       "apiVersion: expected client.authentication.k8s.io/v1 as the kubeconfig says"},
      {credential_text("null"), "status: expected a mapping with the credentials"},
      {credential_text("{}"), "status: expected a token or a client certificate with its key"},
      {credential_text(R"({"token": ["sEcReT"]})"), "status.token: expected text"},
      {credential_text(R"({"token": "sEcReT\r\nX: y"})"),
       "status.token: expected a token of printable ASCII, found another character at byte 6"},
      {credential_text(R"({"token": "t", "expirationTimestamp": "sEcReT"})"),
       "status.expirationTimestamp: expected a time such as 2030-01-02T15:04:05Z"},
      {credential_text(R"({"clientKeyData": "sEcReT"})"),
       "status: expected both clientCertificateData and clientKeyData, found only one"},
      {credential_text(R"({"clientCertificateData": "sEcReT", "clientKeyData": "sEcReT"})"),
       "status.clientCertificateData: expected PEM with a CERTIFICATE block, found no PEM block"},
  };
  for (const auto& [output, message] : cases) {
    output_ = output;
    EXPECT_EQ(error(), "printed invalid output: " + message);
  }
}

}  // namespace
}  // namespace codeflare::kube
