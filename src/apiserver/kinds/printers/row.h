#pragma once

#include "apiserver/registry/edit.h"
#include "apiserver/registry/resource.h"
#include "base/time.h"
#include "json/value.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::apiserver::printing {

// One row in the making: the object and the cells so far, left to right.
class Row {
 public:
  Row(const json::Value& printed, WallTime time, json::Arena& memory, json::Value& row_cells);

  Row& text(std::string_view cell);
  // `cell`, or a word that stands for nothing when it is empty.
  Row& text_or(std::string_view cell, std::string_view instead);
  Row& integer(std::int64_t cell);
  Row& boolean(bool cell);
  Row& name() { return text(text_at(metadata, "name")); }
  Row& age() { return text(since(metadata, "creationTimestamp")); }

  // How long ago parent.key was; "<unknown>" when it is absent.
  std::string since(const json::Value& parent, std::string_view key) const;
  json::Value& cells() { return cells_; }
  bool deleting() const { return !absent(metadata, "deletionTimestamp"); }

  const json::Value& object;
  const json::Value& metadata;
  const json::Value& spec;    // empty when the kind has none
  const json::Value& status;  // the same
  const WallTime now;
  json::Arena& arena;

 private:
  json::Value& cells_;
};

// The printer of one resource.
struct KindPrinter {
  std::string_view group;
  std::string_view plural;
  std::vector<Column> columns;
  void (*print)(Row& row);
  std::string_view version{};  // empty: all
};

// By family; printers.cc puts them together.
std::vector<KindPrinter> pod_printers();
std::vector<KindPrinter> workload_printers();
std::vector<KindPrinter> autoscaler_printers();
std::vector<KindPrinter> cluster_printers();
std::vector<KindPrinter> event_printers();
std::vector<KindPrinter> config_printers();
std::vector<KindPrinter> network_printers();
std::vector<KindPrinter> storage_printers();
std::vector<KindPrinter> access_printers();
std::vector<KindPrinter> admission_printers();

Column name_column();
Column text_column(std::string_view name);
Column integer_column(std::string_view name);
Column boolean_column(std::string_view name);
Column wide_column(std::string_view name);  // text, shown with -o wide
Column age_column();

// Name and the moment of creation, for kinds that upstream has no columns of their own for.
std::vector<Column> creation_columns();
void print_creation(Row& row);

inline constexpr std::string_view kNone = "<none>";
inline constexpr std::string_view kUnset = "<unset>";
inline constexpr std::string_view kUnknown = "<unknown>";

std::int64_t count_at(const json::Value& parent, std::string_view key);  // 0 when absent
std::optional<WallTime> time_at(const json::Value& parent, std::string_view key);
// An amount in its canonical form; "0" when it is absent, the text itself when it is not an amount.
std::string quantity_at(const json::Value& parent, std::string_view key);
std::size_t size_at(const json::Value& parent, std::string_view key);  // of an array or object

// The condition of this type, the first one; null when there is none.
const json::Value* condition(const json::Value& status, std::string_view type);
bool condition_is_true(const json::Value& status, std::string_view type);

std::string join(const std::vector<std::string>& parts, std::string_view separator = ",");
std::string lower(std::string_view text);
// The text of the items, e.g. of an array of strings.
std::vector<std::string> texts_at(const json::Value& parent, std::string_view key);
// The member `field` of each item of parent.key: names of containers.
std::string join_field(const json::Value& parent, std::string_view key, std::string_view field);
// "a,b,c + 2 more..." for a list that was cut at `max`.
std::string join_some(const std::vector<std::string>& parts, std::size_t max);

// "a=b,c=d" sorted; <none> without any.
std::string labels_text(const json::Value& labels);
// A LabelSelector (null: absent) as selector text, empty for everything and for nothing;
// `invalid` when it is none.
std::string selector_text(const json::Value* selector, std::string_view invalid);
// The same for a cell: <none> when it is empty.
std::string selector_cell(const json::Value* selector);

}  // namespace codeflare::apiserver::printing
