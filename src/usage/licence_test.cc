#include "usage/licence.h"

#include "base/base64.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <array>
#include <memory>
#include <string>

namespace codeflare::usage {
namespace {

const WallTime kNow = parse_rfc3339("2026-11-18T00:00:00Z").value();
constexpr LicenceIds kIds{.store = 7, .product = 9};

std::string answer(const std::string& valid, const std::string& status, int product,
                   const std::string& expires = "null") {
  return R"({"valid":)" + valid + R"(,"error":null,"license_key":{"status":")" + status +
         R"(","expires_at":)" + expires + R"(},"meta":{"store_id":7,"product_id":)" +
         std::to_string(product) + "}}";
}

LicenceAnswer check(int status, const std::string& body) {
  return read_validation(status, body, kIds, kNow).answer;
}

TEST(Licence, reads_the_answers_of_the_service) {
  EXPECT_EQ(check(200, answer("true", "active", 9)), LicenceAnswer::good);
  EXPECT_EQ(check(200, answer("true", "active", 8)), LicenceAnswer::bad);
  EXPECT_EQ(check(200, answer("false", "expired", 9)), LicenceAnswer::bad);
  EXPECT_EQ(check(200, answer("false", "disabled", 9)), LicenceAnswer::bad);
  EXPECT_EQ(check(200, answer("true", "inactive", 9)), LicenceAnswer::bad);
  EXPECT_EQ(check(404, R"({"valid":false,"error":"license_key not found."})"), LicenceAnswer::bad);
  EXPECT_EQ(check(200, answer("true", "active", 9, R"("2026-11-17T00:00:00Z")")),
            LicenceAnswer::bad);
  EXPECT_EQ(check(500, "oops"), LicenceAnswer::unreachable);
  EXPECT_EQ(check(429, ""), LicenceAnswer::unreachable);
  EXPECT_EQ(check(200, "<html>log in to the hotel</html>"), LicenceAnswer::unreachable);
}

TEST(Licence, an_unreachable_service_has_72_hours_of_grace) {
  LicenceState state = after_check({}, {LicenceAnswer::good, "licensed"}, kNow);
  EXPECT_EQ(standing_of(state, kNow).reason, "Licensed");
  state = after_check(state, {LicenceAnswer::unreachable, "down"}, kNow + std::chrono::hours(1));
  EXPECT_TRUE(standing_of(state, kNow + std::chrono::hours(71)).admits);
  EXPECT_EQ(standing_of(state, kNow + std::chrono::hours(71)).reason, "Grace");
  EXPECT_FALSE(standing_of(state, kNow + std::chrono::hours(72)).admits);
  state = after_check(state, {LicenceAnswer::good, "licensed"}, kNow + std::chrono::hours(80));
  EXPECT_TRUE(standing_of(state, kNow + std::chrono::hours(80)).admits);
}

TEST(Licence, a_rejection_ends_the_grace_at_once) {
  LicenceState state = after_check({}, {LicenceAnswer::good, ""}, kNow);
  state = after_check(state, {LicenceAnswer::bad, "disabled"}, kNow);
  EXPECT_EQ(standing_of(state, kNow).reason, "LicenceRejected");
  state = after_check(state, {LicenceAnswer::unreachable, "down"}, kNow);
  EXPECT_FALSE(standing_of(state, kNow).admits);
}

TEST(Licence, nobody_starts_with_grace) {
  const LicenceState state = after_check({}, {LicenceAnswer::unreachable, "down"}, kNow);
  EXPECT_EQ(standing_of(state, kNow).reason, "LicenceUnknown");
  EXPECT_FALSE(standing_of(LicenceState(), kNow).admits);
}

TEST(Licence, a_clock_that_was_set_back_is_noticed) {
  const LicenceState state = after_check({}, {LicenceAnswer::good, ""}, kNow);
  EXPECT_TRUE(standing_of(state, kNow - std::chrono::minutes(5)).admits);
  EXPECT_EQ(standing_of(state, kNow - std::chrono::minutes(11)).reason, "ClockSetBack");
}

class LicenceFile : public testing::Test {
 protected:
  LicenceFile() : key_(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"), &EVP_PKEY_free) {
    std::size_t size = 32;
    public_key.resize(size);
    EVP_PKEY_get_raw_public_key(key_.get(), reinterpret_cast<unsigned char*>(public_key.data()),
                                &size);
  }
  std::string file(const std::string& claims) const {
    const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                          &EVP_MD_CTX_free);
    std::array<unsigned char, 64> signature{};
    std::size_t size = signature.size();
    EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key_.get());
    EVP_DigestSign(context.get(), signature.data(), &size,
                   reinterpret_cast<const unsigned char*>(claims.data()), claims.size());
    return R"({"claims":")" + to_base64(claims) + R"(","signature":")" +
           to_base64({reinterpret_cast<const char*>(signature.data()), size}) + "\"}";
  }
  std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key_;
  std::string public_key;
};

TEST_F(LicenceFile, is_good_only_with_its_signature_and_in_its_time) {
  const std::string good = file(
      R"({"customer":"ACME","notBefore":"2026-01-01T00:00:00Z","notAfter":"2027-01-01T00:00:00Z"})");
  const auto check_at = [&](const std::string& text, const char* time) {
    return read_licence_file(text, public_key, parse_rfc3339(time).value()).answer;
  };
  EXPECT_EQ(check_at(good, "2026-06-01T00:00:00Z"), LicenceAnswer::good);
  EXPECT_EQ(check_at(good, "2027-01-01T00:00:00Z"), LicenceAnswer::bad);
  EXPECT_EQ(check_at(good, "2025-12-31T00:00:00Z"), LicenceAnswer::bad);
  EXPECT_EQ(check_at("{}", "2026-06-01T00:00:00Z"), LicenceAnswer::bad);
  EXPECT_EQ(check_at("", "2026-06-01T00:00:00Z"), LicenceAnswer::bad);
  const std::string longer =
      R"({"customer":"ACME","notBefore":"2026-01-01T00:00:00Z","notAfter":"2099-01-01T00:00:00Z"})";
  const std::string signature = good.substr(good.find("\",\"signature"));
  EXPECT_EQ(check_at(R"({"claims":")" + to_base64(longer) + signature, "2026-06-01T00:00:00Z"),
            LicenceAnswer::bad);
  EXPECT_EQ(read_licence_file(good, std::string(32, 'x'), kNow).answer, LicenceAnswer::bad);
  EXPECT_EQ(read_licence_file(good, "short", kNow).answer, LicenceAnswer::bad);
}

}  // namespace
}  // namespace codeflare::usage
