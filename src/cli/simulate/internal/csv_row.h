#pragma once

#include "base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace codeflare::cli::simulate {

// The cells of one line of CSV (RFC 4180, one line a record): separated by commas, blanks around
// them dropped, in double quotes where they hold commas or quotes.
class CsvRow {
 public:
  Result<void> split(std::string_view line);
  // Valid until the next split; views into the line where nothing had to be unquoted.
  const std::vector<std::string_view>& cells() const { return cells_; }

 private:
  Result<std::string_view> quoted(std::string_view& rest);

  std::vector<std::string_view> cells_;
  // Reserved for a whole line before views point into it.
  std::string unquoted_;
};

}  // namespace codeflare::cli::simulate
