#pragma once

#include "cli/views/table.h"

#include <string>
#include <utility>
#include <vector>

namespace codeflare::cli {

// A table with the namespace in front, when there are several.
class NamespacedTable {
 public:
  NamespacedTable(bool with_ns, std::vector<std::string> header)
      : with_ns_(with_ns), table_(with(std::move(header), "NAMESPACE")) {}
  void add(const std::string& ns, std::vector<std::string> cells) {
    table_.add_row(with(std::move(cells), ns));
  }
  std::string text() const { return table_.to_text(); }

 private:
  std::vector<std::string> with(std::vector<std::string> cells, const std::string& first) const {
    if (with_ns_) {
      cells.insert(cells.begin(), first);
    }
    return cells;
  }
  bool with_ns_;
  Table table_;
};

}  // namespace codeflare::cli
