#pragma once

#include "cli/views/table.h"

#include <cstddef>
#include <string>
#include <string_view>

// The fields of one object as lines of text; pure.
namespace codeflare::cli {

inline std::string or_dash(const std::string& text) {
  return text.empty() ? "-" : text;
}

// "Status:      Ready"; nothing for a field without a value.
inline void add_field(std::string& out, std::string_view name, const std::string& value) {
  constexpr std::size_t kWidth = 13;
  if (!value.empty()) {
    out += std::string(name) + ":" + std::string(kWidth - name.size() - 1, ' ') + one_line(value) +
           "\n";
  }
}

}  // namespace codeflare::cli
