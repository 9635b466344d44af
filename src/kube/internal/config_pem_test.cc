#include "kube/internal/config_pem.h"

#include "kube/internal/config_testing.h"

#include <gtest/gtest.h>

namespace codeflare::kube::internal {
namespace {

using kube::testing::expect_clean;
using kube::testing::pem;

std::string complaint(std::string_view text, PemKind kind) {
  Result<void> valid = check_pem(text, kind);
  if (valid) {
    return "good";
  }
  expect_clean(valid.error().message);
  return valid.error().message;
}

TEST(Pem, accepts_chains_keys_and_text_around_them) {
  std::string chain = "# comment\n" + pem("CERTIFICATE", "a") + "\n" + pem("CERTIFICATE", "b");
  EXPECT_EQ(complaint(chain, PemKind::certificates), "good");
  EXPECT_EQ(complaint(pem("TRUSTED CERTIFICATE", "a"), PemKind::certificates), "good");
  for (std::string_view label : {"PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY"}) {
    EXPECT_EQ(complaint(pem("EC PARAMETERS", "p") + pem(label, "sEcReT"), PemKind::private_key),
              "good");
  }
  std::string windows = "-----BEGIN CERTIFICATE-----\r\nQUJD\r\n-----END CERTIFICATE-----\r\n";
  EXPECT_EQ(complaint(windows, PemKind::certificates), "good");
}

TEST(Pem, says_what_is_wrong) {
  const std::string key = "expected PEM with a PRIVATE KEY block";
  EXPECT_EQ(complaint("", PemKind::private_key), key + ", found no PEM block");
  EXPECT_EQ(complaint("-----BEGIN PRIVATE KEY-----\nsEcReT", PemKind::private_key),
            key + ", its PRIVATE KEY block has no end");
  EXPECT_EQ(complaint("-----BEGIN PRIVATE KEY-----\nsEcReT!\n-----END PRIVATE KEY-----",
                      PemKind::private_key),
            key + ", its PRIVATE KEY block is not valid base64");
  EXPECT_EQ(
      complaint("-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----", PemKind::private_key),
      key + ", its PRIVATE KEY block is not valid base64");
  EXPECT_EQ(complaint("-----BEGIN PRIVATE KEY-----\nQUJD\n-----END CERTIFICATE-----",
                      PemKind::private_key),
            key + ", its PRIVATE KEY block ends under another name");
  EXPECT_EQ(complaint("-----BEGIN RSA PRIVATE KEY-----\n"
                      "Proc-Type: 4,ENCRYPTED\n"
                      "DEK-Info: x\n"
                      "\n"
                      "QUJD\n"
                      "-----END RSA PRIVATE KEY-----",
                      PemKind::private_key),
            key + " without a passphrase, found an encrypted one");
}

}  // namespace
}  // namespace codeflare::kube::internal
