#include "cli/views/table.h"

#include "base/check.h"

#include <algorithm>
#include <utility>

namespace codeflare::cli {

namespace {

constexpr std::size_t kGap = 3;

void append_line(std::string& out, const std::vector<std::string>& cells,
                 const std::vector<std::size_t>& widths) {
  const std::size_t begin = out.size();
  for (std::size_t i = 0; i < cells.size(); ++i) {
    out += cells[i];
    if (i + 1 < cells.size()) {
      out.append(widths[i] - width_of(cells[i]) + kGap, ' ');
    }
  }
  while (out.size() > begin && out.back() == ' ') {
    out.pop_back();
  }
  out += '\n';
}

}  // namespace

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string cut_to_width(std::string_view text, std::size_t columns) {
  constexpr std::string_view kCut = "...";
  if (width_of(text) <= columns) {
    return std::string(text);
  }
  const std::size_t kept = columns > kCut.size() ? columns - kCut.size() : 0;
  std::size_t bytes = 0;
  for (std::size_t seen = 0; bytes < text.size(); ++bytes) {
    const bool begins = (static_cast<unsigned char>(text[bytes]) & 0xc0) != 0x80;
    if (begins && seen++ == kept) {
      break;
    }
  }
  return std::string(text.substr(0, bytes)).append(kCut.substr(0, columns));
}

std::string one_line(std::string_view text) {
  std::string out(text);
  std::ranges::replace_if(
      out, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
  return out;
}

void Table::add_row(std::vector<std::string> cells) {
  CHECK(cells.size() == header_.size(), "a cell for each column");
  for (std::string& cell : cells) {
    cell = one_line(cell);
  }
  rows_.push_back(std::move(cells));
}

std::string Table::to_text() const {
  std::vector<std::size_t> widths;
  for (const std::string& name : header_) {
    widths.push_back(width_of(name));
  }
  for (const std::vector<std::string>& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], width_of(row[i]));
    }
  }
  std::string out;
  append_line(out, header_, widths);
  for (const std::vector<std::string>& row : rows_) {
    append_line(out, row, widths);
  }
  return out;
}

}  // namespace codeflare::cli
