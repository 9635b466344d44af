#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace codeflare::node {

using VariableMap = std::map<std::string, std::string, std::less<>>;

// "$(NAME)" becomes the variable's value, and stays as it is when there is none; "$$" is one "$".
std::string expand(std::string_view text, const VariableMap& variables);

}  // namespace codeflare::node
