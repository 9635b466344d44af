#include "apiserver/identity/jwt.h"

#include "apiserver/identity/internal/base64url.h"
#include "json/parse.h"
#include "json/value.h"
#include "json/write.h"

#include <cmath>
#include <utility>

namespace codeflare::apiserver {

namespace {

using internal::from_base64url;
using internal::to_base64url;

// Real tokens have about a kilobyte.
constexpr std::size_t kBytesMax = 64u << 10;

Error malformed() {
  return invalid_argument("malformed token");
}

Result<json::Document> decode_part(std::string_view part) {
  auto bytes = from_base64url(part);
  if (!bytes) {
    return fail(malformed());
  }
  // Claims that stand twice could mean one thing to us and another to the next reader.
  std::vector<std::string> repeated;
  auto document = json::parse(*bytes, {.max_depth = 16, .duplicate_keys = &repeated});
  if (!document || !document->root.is_object() || !repeated.empty()) {
    return fail(malformed());
  }
  return document;
}

Result<std::string> read_text(const json::Value& object, std::string_view key) {
  const json::Value* value = object.find(key);
  if (value == nullptr || value->is_null()) {
    return std::string();
  }
  if (!value->is_string()) {
    return fail(malformed());
  }
  return std::string(value->as_string());
}

Result<std::optional<std::int64_t>> read_time(const json::Value& object, std::string_view key) {
  const json::Value* value = object.find(key);
  if (value == nullptr || value->is_null()) {
    return std::nullopt;
  }
  if (auto whole = value->to_int64()) {
    return whole;
  }
  auto real = value->to_double();
  if (!real || !(std::abs(*real) < 1e15)) {
    return fail(malformed());
  }
  return static_cast<std::int64_t>(std::floor(*real));
}

Result<std::optional<TokenClaims::Ref>> read_ref(const json::Value& object, std::string_view key) {
  const json::Value* value = object.find(key);
  if (value == nullptr || value->is_null()) {
    return std::nullopt;
  }
  if (!value->is_object()) {
    return fail(malformed());
  }
  TokenClaims::Ref ref;
  TRY_ASSIGN(ref.name, read_text(*value, "name"));
  TRY_ASSIGN(ref.uid, read_text(*value, "uid"));
  return ref;
}

Result<std::vector<std::string>> read_audiences(const json::Value& claims) {
  std::vector<std::string> audiences;
  const json::Value* value = claims.find("aud");
  if (value == nullptr || value->is_null()) {
    return audiences;
  }
  if (value->is_string()) {
    audiences.emplace_back(value->as_string());
    return audiences;
  }
  if (!value->is_array()) {
    return fail(malformed());
  }
  for (const json::Value& item : value->items()) {
    if (!item.is_string()) {
      return fail(malformed());
    }
    audiences.emplace_back(item.as_string());
  }
  return audiences;
}

Result<void> read_bindings(const json::Value& kubernetes, TokenClaims& claims) {
  if (!kubernetes.is_object()) {
    return fail(malformed());
  }
  TRY_ASSIGN(claims.ns, read_text(kubernetes, "namespace"));
  TRY_ASSIGN(auto account, read_ref(kubernetes, "serviceaccount"));
  claims.service_account = std::move(account).value_or(TokenClaims::Ref());
  TRY_ASSIGN(claims.pod, read_ref(kubernetes, "pod"));
  TRY_ASSIGN(claims.secret, read_ref(kubernetes, "secret"));
  TRY_ASSIGN(claims.node, read_ref(kubernetes, "node"));
  TRY_ASSIGN(claims.warn_after, read_time(kubernetes, "warnafter"));
  return {};
}

Result<TokenClaims> read_claims(const json::Value& root) {
  TokenClaims claims;
  TRY_ASSIGN(claims.issuer, read_text(root, "iss"));
  TRY_ASSIGN(claims.subject, read_text(root, "sub"));
  TRY_ASSIGN(claims.audiences, read_audiences(root));
  TRY_ASSIGN(claims.expires, read_time(root, "exp"));
  TRY_ASSIGN(claims.not_before, read_time(root, "nbf"));
  TRY_ASSIGN(claims.issued_at, read_time(root, "iat"));
  TRY_ASSIGN(claims.id, read_text(root, "jti"));
  if (const json::Value* kubernetes = root.find("kubernetes.io")) {
    TRY(read_bindings(*kubernetes, claims));
  }
  return claims;
}

void write_time(json::Writer& writer, std::string_view key,
                const std::optional<std::int64_t>& time) {
  if (time) {
    writer.key(key).integer(*time);
  }
}

void write_ref(json::Writer& writer, std::string_view key, const TokenClaims::Ref& ref) {
  writer.key(key).begin_object();
  writer.member_if_set("name", ref.name).member_if_set("uid", ref.uid).end_object();
}

// Members in the order of their names, as upstream's tokens have them.
std::string payload_of(const TokenClaims& claims) {
  std::string text;
  json::Writer writer(text);
  writer.begin_object().key("aud").begin_array();
  for (const std::string& audience : claims.audiences) {
    writer.string(audience);
  }
  writer.end_array();
  write_time(writer, "exp", claims.expires);
  write_time(writer, "iat", claims.issued_at);
  writer.member("iss", claims.issuer).member_if_set("jti", claims.id);
  writer.key("kubernetes.io").begin_object().member_if_set("namespace", claims.ns);
  if (claims.node) {
    write_ref(writer, "node", *claims.node);
  }
  if (claims.pod) {
    write_ref(writer, "pod", *claims.pod);
  }
  if (claims.secret) {
    write_ref(writer, "secret", *claims.secret);
  }
  write_ref(writer, "serviceaccount", claims.service_account);
  write_time(writer, "warnafter", claims.warn_after);
  writer.end_object();
  write_time(writer, "nbf", claims.not_before);
  writer.member("sub", claims.subject).end_object();
  return text;
}

}  // namespace

Result<ParsedToken> parse_token(std::string_view text) {
  std::size_t first = text.find('.');
  std::size_t second = first == std::string_view::npos ? first : text.find('.', first + 1);
  if (second == std::string_view::npos || text.find('.', second + 1) != std::string_view::npos ||
      text.size() > kBytesMax) {
    return fail(malformed());
  }
  TRY_ASSIGN(json::Document header, decode_part(text.substr(0, first)));
  TRY_ASSIGN(json::Document payload, decode_part(text.substr(first + 1, second - first - 1)));
  ParsedToken token;
  // Extensions that must be understood are not.
  if (header.root.find("crit") != nullptr) {
    return fail(malformed());
  }
  TRY_ASSIGN(token.algorithm, read_text(header.root, "alg"));
  TRY_ASSIGN(token.key_id, read_text(header.root, "kid"));
  TRY_ASSIGN(token.claims, read_claims(payload.root));
  auto signature = from_base64url(text.substr(second + 1));
  if (!signature) {
    return fail(malformed());
  }
  token.signature = *std::move(signature);
  token.signed_part = text.substr(0, second);
  return token;
}

std::string sign_token(const SigningKey& key, const TokenClaims& claims) {
  std::string header;
  json::Writer(header).begin_object().member("alg", "ES256").member("kid", key.id()).end_object();
  std::string text = to_base64url(header) + '.' + to_base64url(payload_of(claims));
  std::string signature = to_base64url(key.sign(text));
  return text + '.' + signature;
}

}  // namespace codeflare::apiserver
