#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace codeflare::json {

// Makes JSON readable whose strings hold invalid text, as Go's reader does it: each byte that
// belongs to no UTF-8 sequence, and each escape that is half of a surrogate pair, becomes U+FFFD.
// Nothing when there is nothing to replace. Other mistakes in the JSON stay.
std::optional<std::string> with_replaced_text(std::string_view text);

}  // namespace codeflare::json
