#pragma once

#include "base/result.h"

#include <string_view>

namespace codeflare::net {

// Whether TLS can use a PEM text, before it is given to a client or server. Messages say what is
// wrong in a few words and never hold the text.
Result<void> check_certificates(std::string_view pem);
Result<void> check_private_key(std::string_view pem);
// Both must have passed the checks above.
bool key_belongs_to(std::string_view key_pem, std::string_view certificate_pem);

}  // namespace codeflare::net
