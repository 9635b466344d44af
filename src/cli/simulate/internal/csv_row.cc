#include "cli/simulate/internal/csv_row.h"

#include "cli/simulate/internal/trace_builder.h"

#include <algorithm>

namespace codeflare::cli::simulate {

Result<std::string_view> CsvRow::quoted(std::string_view& rest) {
  const std::size_t begin = unquoted_.size();
  rest.remove_prefix(1);
  while (true) {
    const std::size_t quote = rest.find('"');
    if (quote == std::string_view::npos) {
      return fail(invalid_argument("a quoted cell does not end on its line"));
    }
    unquoted_ += rest.substr(0, quote);
    rest.remove_prefix(quote + 1);
    if (!rest.starts_with('"')) {
      break;
    }
    unquoted_ += '"';
    rest.remove_prefix(1);
  }
  return std::string_view(unquoted_).substr(begin);
}

Result<void> CsvRow::split(std::string_view line) {
  cells_.clear();
  unquoted_.clear();
  unquoted_.reserve(line.size());
  std::string_view rest = line;
  while (true) {
    rest = trim(rest);
    if (rest.starts_with('"')) {
      TRY_ASSIGN(const std::string_view cell, quoted(rest));
      cells_.push_back(cell);
      rest = trim(rest);
      if (!rest.empty() && !rest.starts_with(',')) {
        return fail(invalid_argument("expected a comma after a quoted cell, got " +
                                     shown(rest.substr(0, 1))));
      }
    } else {
      cells_.push_back(trim(rest.substr(0, rest.find(','))));
      rest.remove_prefix(std::min(rest.find(','), rest.size()));
    }
    if (rest.empty()) {
      return {};
    }
    rest.remove_prefix(1);
  }
}

}  // namespace codeflare::cli::simulate
