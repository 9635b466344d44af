#include "kube/in_cluster.h"

#include "base/async/sleep.h"
#include "kube/auth_service.h"
#include "kube/internal/config_testing.h"

#include <gtest/gtest.h>

namespace codeflare::kube {
namespace {

using testing::expect_clean;
using testing::put_file;

class InClusterTest : public ::testing::Test {
 protected:
  InClusterTest() {
    sim_.set_variable("KUBERNETES_SERVICE_HOST", "10.0.0.1");
    sim_.set_variable("KUBERNETES_SERVICE_PORT", "6443");
    put_file(env(), file("token"), "sEcReT-1\n");
    put_file(env(), file("ca.crt"), testing::sample_certificate());
    put_file(env(), file("namespace"), "apps\n");
  }
  Env env() { return sim_.env(); }
  static std::string file(std::string_view name) {
    return join_path(kServiceAccountDirectory, name);
  }
  std::string error() {
    Result<Config> config = in_cluster_config(env());
    EXPECT_FALSE(config);
    std::string message = config ? "" : config.error().message;
    expect_clean(message);
    return message;
  }
  template <typename T>
  T wait(Task<T> task) {
    return run(env().loop, std::move(task)).value();
  }

  SimEnv sim_;
};

TEST_F(InClusterTest, takes_everything_from_the_pod) {
  Result<Config> config = in_cluster_config(env());
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->server, "https://10.0.0.1:6443");
  EXPECT_EQ(config->tls.ca_pem, testing::sample_certificate());
  EXPECT_EQ(config->tls.ca_file, file("ca.crt"));
  EXPECT_EQ(std::get<BearerTokenFile>(config->auth).path, file("token"));
  EXPECT_EQ(config->ns, "apps");
  EXPECT_EQ(config->source, "in-cluster service account");
  sim_.set_variable("POD_NAMESPACE", "downward");
  EXPECT_EQ(in_cluster_config(env())->ns, "downward");
}

TEST_F(InClusterTest, puts_brackets_around_ipv6) {
  sim_.set_variable("KUBERNETES_SERVICE_HOST", "fd00::1");
  EXPECT_EQ(in_cluster_config(env())->server, "https://[fd00::1]:6443");
  sim_.set_variable("KUBERNETES_SERVICE_PORT", "443");
  EXPECT_EQ(in_cluster_config(env())->server, "https://[fd00::1]");
}

TEST_F(InClusterTest, without_a_namespace_file_it_is_the_default_one) {
  ASSERT_TRUE(env().files.remove(file("namespace")));
  EXPECT_EQ(in_cluster_config(env())->ns, "default");
}

TEST_F(InClusterTest, outside_a_pod_it_is_not_found) {
  sim_.set_variable("KUBERNETES_SERVICE_HOST", "");
  EXPECT_EQ(in_cluster_config(env()).error().code, ErrorCode::not_found);
}

TEST_F(InClusterTest, each_broken_part_is_named) {
  sim_.set_variable("KUBERNETES_SERVICE_PORT", "http");
  EXPECT_EQ(error(), "KUBERNETES_SERVICE_PORT: expected a port between 1 and 65535");
  sim_.set_variable("KUBERNETES_SERVICE_PORT", "6443");
  sim_.set_variable("KUBERNETES_SERVICE_HOST", "a/b");
  EXPECT_EQ(error(), "KUBERNETES_SERVICE_HOST: expected a host name or IP address");
  sim_.set_variable("KUBERNETES_SERVICE_HOST", "host");
  put_file(env(), file("ca.crt"), "sEcReT");
  EXPECT_EQ(error(),
            file("ca.crt") + ": expected PEM with a CERTIFICATE block, found no PEM block");
  ASSERT_TRUE(env().files.remove(file("ca.crt")));
  EXPECT_EQ(error(), "open " + file("ca.crt") + ": no such file or directory");
  put_file(env(), file("token"), " \n");
  EXPECT_EQ(error(), file("token") + ": expected a token, found nothing");
  ASSERT_TRUE(env().files.remove(file("token")));
  EXPECT_EQ(error(), "open " + file("token") + ": no such file or directory");
}

// --- the token over time ------------------------------------------------------------------------

class TokenFileTest : public InClusterTest {
 protected:
  TokenFileTest() : source_(make_credential_source(env(), in_cluster_config(env()).value())) {}
  CredentialRef get() {
    Result<CredentialRef> credential = wait(source_->get());
    EXPECT_TRUE(credential) << credential.error().message;
    return credential.value_or(nullptr);
  }
  void pass(Duration time) { ASSERT_TRUE(wait(sleep_for(time))); }

  std::unique_ptr<CredentialSource> source_;
};

using namespace std::chrono_literals;

TEST_F(TokenFileTest, is_read_again_after_a_minute_and_not_before) {
  EXPECT_EQ(get()->authorization.reveal(), "Bearer sEcReT-1");
  put_file(env(), file("token"), "sEcReT-2");
  pass(59s);
  EXPECT_EQ(get()->authorization.reveal(), "Bearer sEcReT-1");
  pass(1s);
  EXPECT_EQ(get()->authorization.reveal(), "Bearer sEcReT-2");
}

TEST_F(TokenFileTest, is_read_at_once_after_a_refusal) {
  CredentialRef first = get();
  put_file(env(), file("token"), "sEcReT-2");
  source_->refused(first);
  CredentialRef second = get();
  EXPECT_EQ(second->authorization.reveal(), "Bearer sEcReT-2");
  // A late rejection of the old one changes nothing.
  put_file(env(), file("token"), "sEcReT-3");
  source_->refused(first);
  EXPECT_EQ(get(), second);
}

TEST_F(TokenFileTest, the_last_good_token_serves_while_the_file_is_unreadable) {
  get();
  ASSERT_TRUE(env().files.remove(file("token")));
  pass(61s);
  EXPECT_EQ(get()->authorization.reveal(), "Bearer sEcReT-1");
  put_file(env(), file("token"), "sEcReT-2");
  pass(9s);
  EXPECT_EQ(get()->authorization.reveal(), "Bearer sEcReT-1");
  pass(1s);
  EXPECT_EQ(get()->authorization.reveal(), "Bearer sEcReT-2");
}

TEST_F(TokenFileTest, without_any_token_the_file_is_named) {
  ASSERT_TRUE(env().files.remove(file("token")));
  Result<CredentialRef> credential = wait(source_->get());
  ASSERT_FALSE(credential);
  EXPECT_EQ(credential.error().code, ErrorCode::unauthenticated);
  EXPECT_EQ(credential.error().message,
            "token file: open " + file("token") + ": no such file or directory");
  put_file(env(), file("token"), "sEcReT\n2");
  credential = wait(source_->get());
  ASSERT_FALSE(credential);
  expect_clean(credential.error().message);
}

TEST_F(TokenFileTest, a_fallback_serves_until_the_file_can_be_read) {
  Config config;
  config.auth = BearerTokenFile{"/later", Secret("sEcReT-fallback")};
  source_ = make_credential_source(env(), config);
  EXPECT_EQ(get()->authorization.reveal(), "Bearer sEcReT-fallback");
  put_file(env(), "/later", "sEcReT-file");
  pass(10s);
  EXPECT_EQ(get()->authorization.reveal(), "Bearer sEcReT-file");
}

}  // namespace
}  // namespace codeflare::kube
