#pragma once

#include "base/result.h"

#include <cstdint>
#include <string_view>

namespace codeflare::kube::internal {

enum class PemKind : std::uint8_t { certificates, private_key };

// Whether the text has the blocks wanted, each with sound base64; what is inside is left to TLS.
// Messages say what was expected and found, never the content.
Result<void> check_pem(std::string_view text, PemKind kind);

}  // namespace codeflare::kube::internal
