#include "apiserver/identity/jwt.h"

#include "apiserver/identity/internal/base64url.h"

#include <gtest/gtest.h>

#include <string>

namespace codeflare::apiserver {
namespace {

using internal::from_base64url;
using internal::to_base64url;

TokenClaims some_claims() {
  return {.issuer = "https://issuer",
          .subject = "system:serviceaccount:a:b",
          .audiences = {"x", "y"},
          .expires = 2000,
          .not_before = 1000,
          .issued_at = 1000,
          .id = "the-id",
          .ns = "a",
          .service_account = {.name = "b", .uid = "u1"},
          .pod = TokenClaims::Ref{.name = "p", .uid = "u2"},
          .node = TokenClaims::Ref{.name = "n", .uid = "u3"},
          .warn_after = 1500};
}

std::string token_of(std::string_view header, std::string_view payload) {
  return to_base64url(header) + '.' + to_base64url(payload) + '.' + to_base64url("sig");
}

TEST(Base64Url, has_one_spelling_for_each_value) {
  for (std::string bytes : {std::string(), std::string("\xff\xfe\xfd"), std::string("ab"),
                            std::string("\0x", 2), std::string("hello")}) {
    EXPECT_EQ(from_base64url(to_base64url(bytes)).value_or("?"), bytes);
  }
  EXPECT_EQ(to_base64url("\xfb\xff\xfe"), "-__-");
  for (std::string_view bad : {"a", "ab==", "a+b/", "YWJ\nj", "YWK", "é"}) {
    EXPECT_FALSE(from_base64url(bad).has_value()) << bad;
  }
}

TEST(SigningKey, verifies_what_it_signed_and_nothing_else) {
  auto key = SigningKey::generate();
  auto other = SigningKey::generate();
  ASSERT_TRUE(key && other);
  std::string signature = key->sign("data");
  EXPECT_EQ(signature.size(), 64u);
  EXPECT_TRUE(key->verify("data", signature));
  EXPECT_FALSE(key->verify("datb", signature));
  EXPECT_FALSE(other->verify("data", signature));
  EXPECT_FALSE(key->verify("data", signature.substr(1)));
  EXPECT_FALSE(key->verify("data", std::string(64, '\0')));
  EXPECT_FALSE(key->verify("data", std::string(64, '\xff')));
  EXPECT_NE(key->id(), other->id());
  EXPECT_EQ(key->point().x.size(), 32u);
}

TEST(SigningKey, comes_back_from_its_pem_form) {
  auto key = SigningKey::generate();
  ASSERT_TRUE(key);
  auto again = SigningKey::from_pem(key->to_pem());
  ASSERT_TRUE(again);
  EXPECT_EQ(again->id(), key->id());
  EXPECT_TRUE(again->verify("x", key->sign("x")));
  auto bad = SigningKey::from_pem(Secret("-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n"));
  ASSERT_FALSE(bad);
  EXPECT_FALSE(bad.error().message.contains("c2VjcmV0"));
}

TEST(Token, comes_back_as_it_was_signed) {
  auto key = SigningKey::generate();
  ASSERT_TRUE(key);
  std::string text = sign_token(*key, some_claims());
  auto token = parse_token(text);
  ASSERT_TRUE(token);
  EXPECT_EQ(token->claims, some_claims());
  EXPECT_EQ(token->algorithm, "ES256");
  EXPECT_EQ(token->key_id, key->id());
  EXPECT_TRUE(key->verify(token->signed_part, token->signature));
}

TEST(Token, has_upstreams_payload) {
  auto key = SigningKey::generate();
  ASSERT_TRUE(key);
  std::string text = sign_token(*key, some_claims());
  std::size_t first = text.find('.');
  std::string payload = text.substr(first + 1, text.find('.', first + 1) - first - 1);
  EXPECT_EQ(from_base64url(payload).value_or(""),
            R"({"aud":["x","y"],"exp":2000,"iat":1000,"iss":"https://issuer","jti":"the-id",)"
            R"("kubernetes.io":{"namespace":"a","node":{"name":"n","uid":"u3"},)"
            R"("pod":{"name":"p","uid":"u2"},"serviceaccount":{"name":"b","uid":"u1"},)"
            R"("warnafter":1500},"nbf":1000,"sub":"system:serviceaccount:a:b"})");
}

TEST(Token, accepts_what_other_issuers_write) {
  auto token = parse_token(token_of(R"({"alg":"RS256","typ":"JWT"})",
                                    R"({"aud":"one","exp":12.75,"iss":"i","more":{"a":[1]}})"));
  ASSERT_TRUE(token);
  EXPECT_EQ(token->claims.audiences, std::vector<std::string>{"one"});
  EXPECT_EQ(token->claims.expires, 12);
  EXPECT_EQ(token->key_id, "");
}

TEST(Token, refuses_what_is_malformed_without_showing_it) {
  const std::string header = R"({"alg":"ES256"})";
  std::vector<std::string> bad = {
      "",
      "secret",
      "a.b",
      "..",
      "a.b.c.d",
      token_of(header, "[]"),
      token_of("7", "{}"),
      token_of(header, R"({"exp":"soon"})"),
      token_of(header, R"({"exp":1e300})"),
      token_of(header, R"({"aud":[1]})"),
      token_of(header, R"({"aud":{}})"),
      token_of(header, R"({"iss":1})"),
      token_of(header, R"({"kubernetes.io":[]})"),
      token_of(header, R"({"kubernetes.io":{"pod":"x"}})"),
      token_of(header, R"({"iss":"a","iss":"b"})"),
      token_of(R"({"alg":"ES256","crit":["x"]})", "{}"),
      token_of(header, R"({"secret":)"),
      token_of(header, "{}") + "=",
      token_of(header, "{}" + std::string(100'000, ' ')),
      token_of(header, std::string(100, '[')),
  };
  for (const std::string& text : bad) {
    auto token = parse_token(text);
    ASSERT_FALSE(token) << text;
    EXPECT_EQ(token.error().message, "malformed token");
  }
}

}  // namespace
}  // namespace codeflare::apiserver
