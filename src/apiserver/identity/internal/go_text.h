#pragma once

#include <string>
#include <vector>

namespace codeflare::apiserver::internal {

// ["a" "b"], as Go's %q shows a list.
std::string quote_list(const std::vector<std::string>& texts);

// Several messages as one: alone as it is, more as [a, b], each once.
std::string joined_errors(const std::vector<std::string>& messages);

}  // namespace codeflare::apiserver::internal
