#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace codeflare::kube::internal {

// The texts of one `Warning` header field: `299 - "text" "date", 299 - "more"`. Malformed parts are
// left out.
std::vector<std::string> warning_texts(std::string_view field);

}  // namespace codeflare::kube::internal
