#pragma once

#include <string>
#include <vector>

namespace codeflare::sdk {

// One word is a command for the shell as it stands; the words of several are quoted where the shell
// would read them differently.
std::string shell_command(const std::vector<std::string>& words);

}  // namespace codeflare::sdk
