#pragma once

#include <string>
#include <vector>

namespace codeflare::cli {

// KIND NAME...
struct NameFlags {
  std::string kind;
  std::vector<std::string> names;
};

}  // namespace codeflare::cli
