#pragma once

#include <functional>
#include <string>

namespace codeflare::up {

// Gets a line about a wait again and again while it lasts.
using Progress = std::function<void(const std::string& line)>;

}  // namespace codeflare::up
