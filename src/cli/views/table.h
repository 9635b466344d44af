#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace codeflare::cli {

// Columns as wide as their widest cell and three blanks apart, as kubectl prints them.
class Table {
 public:
  explicit Table(std::vector<std::string> header) : header_(std::move(header)) {}

  void add_column(std::string name) { header_.push_back(std::move(name)); }
  // As many cells as there are columns. Line breaks and control characters become blanks; an empty
  // cell is shown as such.
  void add_row(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }

  // Lines without blanks at their ends.
  std::string to_text() const;

 private:
  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> rows_;
};

// Columns on a screen: code points, not bytes.
std::size_t width_of(std::string_view text);
// At most so many columns; what was cut ends with "...".
std::string cut_to_width(std::string_view text, std::size_t columns);
// For one line of a terminal or table: control characters become blanks.
std::string one_line(std::string_view text);

}  // namespace codeflare::cli
