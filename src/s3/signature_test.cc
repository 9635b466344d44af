#include "s3/signature.h"

#include <gtest/gtest.h>

namespace codeflare::s3 {
namespace {

Credentials example() {
  return {.key_id = "AKIAIOSFODNN7EXAMPLE",
          .secret = Secret("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
          .session_token = {}};
}

Signing signing() {
  return {.host = "examplebucket.s3.amazonaws.com",
          .region = "us-east-1",
          .payload_sha256 = sha256_hex(""),
          .now = *parse_rfc3339("2013-05-24T00:00:00Z")};
}

// The example that AWS publishes for listing a bucket.
TEST(Signature, is_that_of_the_published_example) {
  net::Request request{.target = "/?max-keys=2&prefix=J"};
  sign(request, example(), signing());
  EXPECT_EQ(request.headers.get("Authorization"),
            "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
            "SignedHeaders=host;x-amz-content-sha256;x-amz-date, "
            "Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
  EXPECT_EQ(request.headers.get("x-amz-date"), "20130524T000000Z");
}

TEST(Signature, is_left_out_without_keys) {
  net::Request request{.target = "/b"};
  sign(request, {}, signing());
  EXPECT_FALSE(request.headers.has("Authorization"));
}

TEST(Signature, covers_a_session_token) {
  Credentials credentials = example();
  credentials.session_token = Secret("token");
  net::Request request{.target = "/b"};
  sign(request, credentials, signing());
  EXPECT_TRUE(request.headers.get("Authorization")->contains("x-amz-security-token,"));
  EXPECT_EQ(request.headers.get("x-amz-security-token"), "token");
}

TEST(Signature, hash_of_pieces_is_the_hash_of_all) {
  Sha256 hash;
  hash.add("ab");
  hash.add("");
  hash.add("c");
  EXPECT_EQ(hash.hex(), sha256_hex("abc"));
}

}  // namespace
}  // namespace codeflare::s3
