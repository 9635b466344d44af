#include "sdk/job_name.h"

#include <algorithm>
#include <cstddef>
#include <string>

namespace codeflare::sdk {

Result<void> check_job_name(std::string_view name) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  };
  constexpr std::size_t kNameMax = 128;
  if (name.empty() || name.size() > kNameMax || name.starts_with('.') ||
      !std::ranges::all_of(name, is_plain)) {
    return fail(invalid_argument("job name '" + std::string(name) +
                                 "' is not a valid name; use 1 to 128 letters, digits, '-', '_' "
                                 "or '.', not beginning with '.'"));
  }
  return {};
}

}  // namespace codeflare::sdk
