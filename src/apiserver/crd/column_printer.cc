#include "apiserver/crd/column_printer.h"

#include "apiserver/crd/json_path.h"
#include "apiserver/schema/field_errors.h"
#include "base/human_duration.h"
#include "base/time.h"

#include <cmath>
#include <optional>

namespace codeflare::apiserver {
namespace {

constexpr std::string_view kNameDescription = "Name must be unique within a namespace.";

class ColumnPrinter final : public TablePrinter {
 public:
  explicit ColumnPrinter(const json::Value* columns) {
    columns_.push_back({.name = "Name",
                        .type = "string",
                        .format = "name",
                        .description = std::string(kNameDescription)});
    if (columns == nullptr || columns->size() == 0) {
      add({.name = "Age", .type = "date"}, ".metadata.creationTimestamp");
      return;
    }
    for (const json::Value& column : columns->items()) {
      const json::Value* priority = column.find("priority");
      add({.name = std::string(column.string_or_empty("name")),
           .type = std::string(column.string_or_empty("type")),
           .format = std::string(column.string_or_empty("format")),
           .description = std::string(column.string_or_empty("description")),
           .priority =
               priority == nullptr ? 0 : static_cast<int>(priority->to_int64().value_or(0))},
          column.string_or_empty("jsonPath"));
    }
  }

  const std::vector<Column>& columns() const override { return columns_; }

  void print(const json::Value& object, WallTime now, json::Arena& arena,
             json::Value& cells) const override {
    const json::Value* name = object.get({"metadata", "name"});
    cells.push_back(arena, name != nullptr ? *name : json::Value::string_view_of(""));
    for (std::size_t i = 0; i < paths_.size(); ++i) {
      const json::Value* value = paths_[i] ? paths_[i]->first(object) : nullptr;
      cells.push_back(arena, value == nullptr || value->is_null()
                                 ? json::Value()
                                 : cell(columns_[i + 1].type, *value, now, arena));
    }
  }

 private:
  void add(Column column, std::string_view path) {
    if (column.description.empty()) {
      column.description =
          "Custom resource definition column (in JSONPath format): " + std::string(path);
    }
    columns_.push_back(std::move(column));
    auto parsed = JsonPath::parse(path);
    paths_.push_back(parsed ? std::optional(*std::move(parsed)) : std::nullopt);
  }

  static json::Value cell(std::string_view type, const json::Value& value, WallTime now,
                          json::Arena& arena) {
    if (type == "string") {
      return value.is_string() ? value : json::Value::string(arena, show(value));
    }
    if (type == "integer" && value.is_number()) {
      double number = std::trunc(value.to_double().value_or(0));
      return value.to_int64() ? json::Value::integer(arena, *value.to_int64())
                              : json::Value::real(arena, number);
    }
    if ((type == "number" && value.is_number()) || (type == "boolean" && value.is_boolean())) {
      return value;
    }
    if (type == "date" && value.is_string()) {
      auto time = parse_rfc3339(value.as_string());
      return json::Value::string(arena, time ? human_duration(now - *time) : "<invalid>");
    }
    return {};
  }

  std::vector<Column> columns_;
  std::vector<std::optional<JsonPath>> paths_;  // of all columns but the first
};

}  // namespace

std::shared_ptr<const TablePrinter> make_column_printer(const json::Value* columns) {
  return std::make_shared<ColumnPrinter>(columns);
}

}  // namespace codeflare::apiserver
