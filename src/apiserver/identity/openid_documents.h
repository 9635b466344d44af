#pragma once

#include "apiserver/identity/signing_key.h"

#include <string>
#include <string_view>

namespace codeflare::apiserver {

// The documents that others need to check service-account tokens by themselves.
inline constexpr std::string_view kOpenidConfigurationPath = "/.well-known/openid-configuration";
inline constexpr std::string_view kOpenidKeysPath = "/openid/v1/jwks";
inline constexpr std::string_view kOpenidConfigurationType = "application/json";
inline constexpr std::string_view kOpenidKeysType = "application/jwk-set+json";

// `keys_url`: where the keys are, "https://127.0.0.1:6443/openid/v1/jwks".
struct OpenidOptions {
  std::string issuer;
  std::string keys_url;
};
std::string openid_configuration(const OpenidOptions& options);
std::string openid_keys(const SigningKey& key);

}  // namespace codeflare::apiserver
