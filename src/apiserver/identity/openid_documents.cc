#include "apiserver/identity/openid_documents.h"

#include "apiserver/identity/internal/base64url.h"
#include "json/write.h"

namespace codeflare::apiserver {

std::string openid_configuration(const OpenidOptions& options) {
  std::string text;
  json::Writer writer(text);
  writer.begin_object().member("issuer", options.issuer).member("jwks_uri", options.keys_url);
  writer.key("response_types_supported").begin_array().string("id_token").end_array();
  writer.key("subject_types_supported").begin_array().string("public").end_array();
  writer.key("id_token_signing_alg_values_supported").begin_array().string("ES256").end_array();
  writer.end_object();
  return text;
}

std::string openid_keys(const SigningKey& key) {
  std::string text;
  json::Writer writer(text);
  writer.begin_object().key("keys").begin_array().begin_object();
  writer.member("use", "sig").member("kty", "EC").member("kid", key.id()).member("crv", "P-256");
  writer.member("alg", "ES256");
  writer.member("x", internal::to_base64url(key.point().x));
  writer.member("y", internal::to_base64url(key.point().y));
  writer.end_object().end_array().end_object();
  return text;
}

}  // namespace codeflare::apiserver
