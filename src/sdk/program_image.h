#pragma once

#include "base/env/env.h"

#include <string>
#include <string_view>

namespace codeflare::sdk {

// Of this library and of the program that it is part of: "0.1.0".
std::string_view version();

// The image of our own program, whose entry point is `codeflare`: CODEFLARE_PROGRAM_IMAGE, else
// "codeflare:VERSION", which nodes of `codeflare up` and joined nodes have by themselves.
std::string program_image(const Variables& variables);

}  // namespace codeflare::sdk
