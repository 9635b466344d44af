#pragma once

#include "apiserver/identity/internal/openssl.h"
#include "base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace codeflare::apiserver::internal {

// Whose certificate a request (PKCS #10) asks for, and the key that it is for.
struct ReadRequest {
  std::string common_name;
  std::vector<std::string> organizations;
  KeyPtr key;
};

// Fails unless it is signed by its own key.
Result<ReadRequest> read_certificate_request(std::string_view pem);

}  // namespace codeflare::apiserver::internal
