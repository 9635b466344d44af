#include "apiserver/housekeeping/certificate_signer.h"

#include "apiserver/housekeeping/testing/recorded_api.h"
#include "apiserver/store/testing/store_world.h"
#include "base/async/sleep.h"
#include "base/base64.h"

#include <gtest/gtest.h>

#include <string>

namespace codeflare::apiserver {
namespace {

Task<void> pass(Duration time) {
  static_cast<void>(co_await sleep_for(time));
}

struct SignerTest : testing::Test {
  SignerTest()
      : group(world.env().loop),
        signer(world.env(), group, world.log.logger(world.env().clock), world.store(), api,
               [this](std::string_view request, Duration lifetime) -> Result<std::string> {
                 asked = std::string(request);
                 seconds = std::chrono::duration_cast<std::chrono::seconds>(lifetime).count();
                 return request == "bad" ? Result<std::string>(fail(invalid_argument("no request")))
                                         : Result<std::string>("CERT");
               }) {}
  ~SignerTest() override { world.wait(group.close()); }

  // Puts a request there and returns the patch of its status; empty: there was none.
  std::string patch_of(const std::string& spec, const std::string& conditions) {
    Write write = world.creation("certificatesigningrequests.certificates.k8s.io", "r");
    write.text = R"({"metadata":{"name":"r","uid":"u"},"spec":{)" + spec +
                 R"(},"status":{"conditions":[)" + conditions + "]}}";
    EXPECT_TRUE(world.commit(std::move(write)).has_value());
    world.wait(pass(std::chrono::seconds(1)));
    return api.calls.empty() ? "" : api.calls.back().body;
  }
  static std::string spec(const std::string& request, const std::string& usage = "client auth",
                          const std::string& signer = "kubernetes.io/kube-apiserver-client") {
    return R"("signerName":")" + signer + R"(","expirationSeconds":3600,"usages":[")" + usage +
           R"("],"request":")" + to_base64(request) + "\"";
  }

  StoreWorld world;
  RecordedApi api;
  TaskGroup group;
  std::string asked;
  std::int64_t seconds = 0;
  CertificateSigner signer;
};

const std::string kApproved = R"({"type":"Approved","status":"True"})";

TEST_F(SignerTest, signs_what_is_approved) {
  EXPECT_EQ(patch_of(spec("req"), kApproved), R"({"status":{"certificate":"Q0VSVA=="}})");
  EXPECT_EQ(asked, "req");
  EXPECT_EQ(seconds, 3600);
  EXPECT_EQ(api.calls.back().path,
            "/apis/certificates.k8s.io/v1/certificatesigningrequests/r/status");
}

TEST_F(SignerTest, leaves_requests_alone_that_are_not_approved) {
  EXPECT_EQ(patch_of(spec("req"), ""), "");
}

TEST_F(SignerTest, leaves_denied_requests_alone) {
  EXPECT_EQ(patch_of(spec("req"), kApproved + R"(,{"type":"Denied","status":"True"})"), "");
}

TEST_F(SignerTest, leaves_other_signers_alone) {
  EXPECT_EQ(patch_of(spec("req", "client auth", "example.com/own"), kApproved), "");
}

TEST_F(SignerTest, says_why_a_request_cannot_be_signed) {
  EXPECT_TRUE(patch_of(spec("bad"), kApproved)
                  .contains(R"("reason":"SignerValidationFailure","message":"no request")"));
}

TEST_F(SignerTest, signs_no_certificates_of_servers) {
  const std::string patch = patch_of(spec("req", "server auth"), kApproved);
  EXPECT_TRUE(patch.contains("server auth")) << patch;
  EXPECT_TRUE(asked.empty());
}

}  // namespace
}  // namespace codeflare::apiserver
