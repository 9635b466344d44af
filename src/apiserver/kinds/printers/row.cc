#include "apiserver/kinds/printers/row.h"

#include "apiserver/kinds/printers.h"
#include "base/human_duration.h"
#include "model/labels.h"
#include "model/quantity.h"

#include <algorithm>
#include <utility>

namespace codeflare::apiserver::printing {

Row::Row(const json::Value& printed, WallTime time, json::Arena& memory, json::Value& row_cells)
    : object(printed),
      metadata(object_at(printed, "metadata")),
      spec(object_at(printed, "spec")),
      status(object_at(printed, "status")),
      now(time),
      arena(memory),
      cells_(row_cells) {}

Row& Row::text(std::string_view cell) {
  cells_.push_back(arena, json::Value::string(arena, cell));
  return *this;
}

Row& Row::text_or(std::string_view cell, std::string_view instead) {
  return text(cell.empty() ? instead : cell);
}

Row& Row::integer(std::int64_t cell) {
  cells_.push_back(arena, json::Value::integer(arena, cell));
  return *this;
}

Row& Row::boolean(bool cell) {
  cells_.push_back(arena, json::Value::boolean(cell));
  return *this;
}

std::string Row::since(const json::Value& parent, std::string_view key) const {
  std::optional<WallTime> time = time_at(parent, key);
  return time ? human_duration(now - *time) : std::string(kUnknown);
}

Column name_column() {
  return {.name = "Name", .format = "name"};
}
Column text_column(std::string_view name) {
  return {.name = std::string(name)};
}
Column integer_column(std::string_view name) {
  return {.name = std::string(name), .type = "integer"};
}
Column boolean_column(std::string_view name) {
  return {.name = std::string(name), .type = "boolean"};
}
Column wide_column(std::string_view name) {
  return {.name = std::string(name), .priority = 1};
}
Column age_column() {
  return text_column("Age");
}

std::vector<Column> creation_columns() {
  return {name_column(), {.name = "Created At", .type = "date"}};
}

void print_creation(Row& row) {
  std::optional<WallTime> created = time_at(row.metadata, "creationTimestamp");
  row.name().text(created ? to_rfc3339(*created) : "0001-01-01T00:00:00Z");
}

std::int64_t count_at(const json::Value& parent, std::string_view key) {
  return integer_at(parent, key).value_or(0);
}

std::optional<WallTime> time_at(const json::Value& parent, std::string_view key) {
  std::string_view text = text_at(parent, key);
  if (text.empty()) {
    return std::nullopt;
  }
  Result<WallTime> time = parse_rfc3339(text);
  return time ? std::optional(*time) : std::nullopt;
}

std::string quantity_at(const json::Value& parent, std::string_view key) {
  const json::Value* value = parent.find(key);
  if (value == nullptr || !(value->is_string() || value->is_number())) {
    return "0";
  }
  std::string_view text = value->is_string() ? value->as_string() : value->number();
  Result<model::Quantity> quantity = model::Quantity::parse(text);
  return quantity ? quantity->to_string() : std::string(text);
}

std::size_t size_at(const json::Value& parent, std::string_view key) {
  const json::Value* value = parent.find(key);
  return value == nullptr ? 0 : value->size();
}

const json::Value* condition(const json::Value& status, std::string_view type) {
  for (const json::Value& item : items_at(status, "conditions")) {
    if (text_at(item, "type") == type) {
      return &item;
    }
  }
  return nullptr;
}

bool condition_is_true(const json::Value& status, std::string_view type) {
  const json::Value* found = condition(status, type);
  return found != nullptr && text_at(*found, "status") == "True";
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string out;
  for (const std::string& part : parts) {
    if (&part != parts.data()) {
      out += separator;
    }
    out += part;
  }
  return out;
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

std::vector<std::string> texts_at(const json::Value& parent, std::string_view key) {
  std::vector<std::string> out;
  for (const json::Value& item : items_at(parent, key)) {
    out.emplace_back(item.is_string() ? item.as_string() : std::string_view());
  }
  return out;
}

std::string join_field(const json::Value& parent, std::string_view key, std::string_view field) {
  std::vector<std::string> parts;
  for (const json::Value& item : items_at(parent, key)) {
    parts.emplace_back(text_at(item, field));
  }
  return join(parts);
}

std::string join_some(const std::vector<std::string>& parts, std::size_t max) {
  if (parts.size() <= max) {
    return join(parts);
  }
  return join(std::vector(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(max))) +
         " + " + std::to_string(parts.size() - max) + " more...";
}

std::string labels_text(const json::Value& labels) {
  std::vector<std::string> parts;
  for (const json::Member& label : labels.members()) {
    parts.push_back(std::string(label.key) + "=" + std::string(text_at(labels, label.key)));
  }
  std::ranges::sort(parts);
  return parts.empty() ? std::string(kNone) : join(parts);
}

namespace {

std::optional<model::SelectorOperator> operator_named(std::string_view name) {
  using enum model::SelectorOperator;
  if (name == "In") {
    return in;
  }
  if (name == "NotIn") {
    return not_in;
  }
  if (name == "Exists") {
    return exists;
  }
  if (name == "DoesNotExist") {
    return absent;
  }
  return std::nullopt;
}

// Adds one requirement; false when it is none.
bool add(model::Selector& selector, std::string_view key, model::SelectorOperator op,
         std::vector<std::string> values) {
  Result<model::Requirement> requirement =
      model::Requirement::make(std::string(key), op, std::move(values));
  if (!requirement) {
    return false;
  }
  selector.add(std::move(*requirement));
  return true;
}

}  // namespace

std::string selector_text(const json::Value* selector, std::string_view invalid) {
  if (selector == nullptr || !selector->is_object()) {
    return {};
  }
  model::Selector out;
  const json::Value& labels = object_at(*selector, "matchLabels");
  for (const json::Member& label : labels.members()) {
    if (!add(out, label.key, model::SelectorOperator::equals,
             {std::string(text_at(labels, label.key))})) {
      return std::string(invalid);
    }
  }
  for (const json::Value& expression : items_at(*selector, "matchExpressions")) {
    std::optional<model::SelectorOperator> op = operator_named(text_at(expression, "operator"));
    if (!op || !add(out, text_at(expression, "key"), *op, texts_at(expression, "values"))) {
      return std::string(invalid);
    }
  }
  return out.to_string();
}

std::string selector_cell(const json::Value* selector) {
  std::string text = selector_text(selector, "<error>");
  return text.empty() ? std::string(kNone) : text;
}

}  // namespace codeflare::apiserver::printing
