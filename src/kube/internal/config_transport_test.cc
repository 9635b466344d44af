#include "kube/internal/config_transport.h"

#include "base/async/sleep.h"
#include "kube/internal/config_testing.h"
#include "net/testing/scripted_service.h"

#include <gtest/gtest.h>

namespace codeflare::kube::internal {
namespace {

using namespace std::chrono_literals;
using kube::testing::put_file;
using kube::testing::sample_certificate;
using kube::testing::sample_key;

class TransportTest : public ::testing::Test {
 protected:
  TransportTest() {
    tls_ = {.ca_pem = sample_certificate("ca 1"),
            .certificate_pem = sample_certificate("client 1"),
            .key_pem = Secret(sample_key("key 1")),
            .ca_file = "/ca",
            .certificate_file = "/crt",
            .key_file = "/key"};
    put_file(env(), "/ca", tls_.ca_pem);
    put_file(env(), "/crt", tls_.certificate_pem);
    put_file(env(), "/key", tls_.key_pem.reveal());
  }
  Env env() { return sim_.env(); }

  ReloadingTransport& transport() {
    if (!transport_) {
      auto service = std::make_shared<net::testing::ScriptedService>(
          [](net::Request) -> Task<Result<net::Response>> { co_return net::Response(); });
      transport_.emplace(env(), tls_, service, [this](const net::TlsClientOptions& options) {
        reloads_.push_back(options);
        return accepting_ ? Result<void>() : fail(failed_precondition("key does not match"));
      });
    }
    return *transport_;
  }
  Result<void> use(std::string certificate = "", std::string key = "") {
    auto credential = std::make_shared<Credential>();
    credential->certificate_pem = std::move(certificate);
    credential->key_pem = Secret(std::move(key));
    auto service = run(env().loop, transport().service_for(credential)).value();
    return service ? Result<void>() : fail(service.error());
  }
  void pass(Duration time) { ASSERT_TRUE(run(env().loop, sleep_for(time)).value()); }

  SimEnv sim_;
  TlsConfig tls_;
  std::optional<ReloadingTransport> transport_;
  std::vector<net::TlsClientOptions> reloads_;
  bool accepting_ = true;
};

TEST_F(TransportTest, a_changed_file_is_used_within_a_minute_of_requests) {
  ASSERT_TRUE(use());
  put_file(env(), "/ca", sample_certificate("ca 2"));
  pass(59s);
  ASSERT_TRUE(use());
  EXPECT_TRUE(reloads_.empty());
  pass(1s);
  ASSERT_TRUE(use());
  ASSERT_EQ(reloads_.size(), 1u);
  EXPECT_EQ(reloads_[0].ca_bundle_pem, sample_certificate("ca 2"));
  EXPECT_EQ(reloads_[0].certificate_pem, tls_.certificate_pem);
  pass(120s);
  ASSERT_TRUE(use());
  EXPECT_EQ(reloads_.size(), 1u);
}

TEST_F(TransportTest, a_file_that_is_gone_or_senseless_changes_nothing) {
  transport();
  ASSERT_TRUE(env().files.remove("/ca"));
  put_file(env(), "/key", "-----BEGIN PRIVATE KEY-----\nhalf");
  pass(61s);
  ASSERT_TRUE(use());
  EXPECT_TRUE(reloads_.empty());
}

TEST_F(TransportTest, a_pair_that_does_not_match_yet_is_tried_again) {
  transport();
  put_file(env(), "/crt", sample_certificate("client 2"));
  accepting_ = false;
  pass(61s);
  ASSERT_TRUE(use());
  EXPECT_EQ(reloads_.size(), 1u);
  put_file(env(), "/key", sample_key("key 2"));
  accepting_ = true;
  pass(61s);
  ASSERT_TRUE(use());
  ASSERT_EQ(reloads_.size(), 2u);
  EXPECT_EQ(reloads_[1].certificate_pem, sample_certificate("client 2"));
  EXPECT_EQ(reloads_[1].key_pem, sample_key("key 2"));
}

TEST_F(TransportTest, a_certificate_that_comes_with_the_credential_is_used_once_it_changes) {
  tls_.certificate_file.clear();
  tls_.key_file.clear();
  ASSERT_TRUE(use("c1", "k1"));
  ASSERT_TRUE(use("c1", "k1"));
  ASSERT_EQ(reloads_.size(), 1u);
  EXPECT_EQ(reloads_[0].certificate_pem, "c1");
  EXPECT_EQ(reloads_[0].key_pem, "k1");
  EXPECT_EQ(reloads_[0].ca_bundle_pem, tls_.ca_pem);
  ASSERT_TRUE(use("c2", "k2"));
  EXPECT_EQ(reloads_.size(), 2u);
  // It also survives a change of the CA.
  put_file(env(), "/ca", sample_certificate("ca 2"));
  pass(61s);
  ASSERT_TRUE(use("c2", "k2"));
  ASSERT_EQ(reloads_.size(), 3u);
  EXPECT_EQ(reloads_[2].certificate_pem, "c2");
  EXPECT_EQ(reloads_[2].ca_bundle_pem, sample_certificate("ca 2"));
}

TEST_F(TransportTest, a_certificate_that_the_client_refuses_fails_the_request) {
  accepting_ = false;
  Result<void> used = use("c1", "k1");
  ASSERT_FALSE(used);
  EXPECT_EQ(used.error().code, ErrorCode::unauthenticated);
  EXPECT_EQ(used.error().message,
            "client certificate of the credential plugin: key does not match");
  accepting_ = true;
  EXPECT_TRUE(use("c1", "k1"));
}

}  // namespace
}  // namespace codeflare::kube::internal
