#pragma once

#include "base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace codeflare::platform {

// The words of an options text. Blanks separate them; 'single quotes' keep everything, "double
// quotes" everything but \" and \\, a backslash the next character. Nothing is expanded: $HOME and
// $(date) stay as they are. Fails for a quote without an end.
Result<std::vector<std::string>> split_words(std::string_view text);

// The word for a shell: in single quotes unless it needs none.
std::string quote_word(std::string_view word);

}  // namespace codeflare::platform
