#include "model/labels.h"

#include "json/value.h"
#include "json/write.h"
#include "model/validation.h"

#include <charconv>

namespace codeflare::model {
namespace {

using enum SelectorOperator;

// The way kube-apiserver words a bad field.
Error bad_field(std::string_view field, std::string_view value, std::string_view why) {
  std::string message(field);
  message += ": Invalid value: ";
  json::append_quoted(message, value);
  return invalid_argument(message.append(": ").append(why));
}

std::optional<std::int64_t> to_integer(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return number;
}

Result<void> check_value_count(SelectorOperator op, const std::vector<std::string>& values) {
  switch (op) {
    case in:
    case not_in:
      if (values.empty()) {
        return fail(invalid_argument(
            "values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty"));
      }
      break;
    case equals:
    case double_equals:
    case not_equals:
      if (values.size() != 1) {
        return fail(
            invalid_argument("values: Invalid value: " + std::to_string(values.size()) +
                             " values: exact-match compatibility requires one single value"));
      }
      break;
    case exists:
    case absent:
      if (!values.empty()) {
        return fail(invalid_argument("values: Invalid value: " + std::to_string(values.size()) +
                                     " values: values set must be empty for exists and does not "
                                     "exist"));
      }
      break;
    case greater_than:
    case less_than:
      if (values.size() != 1) {
        return fail(invalid_argument("values: Invalid value: " + std::to_string(values.size()) +
                                     " values: for 'Gt', 'Lt' operators, exactly one value is "
                                     "required"));
      }
      if (!to_integer(values[0])) {
        return fail(bad_field("values[0]", values[0],
                              "for 'Gt', 'Lt' operators, the value must be an integer"));
      }
      break;
  }
  return {};
}

std::string_view symbol(SelectorOperator op) {
  switch (op) {
    case equals:
      return "=";
    case double_equals:
      return "==";
    case not_equals:
      return "!=";
    case in:
      return " in (";
    case not_in:
      return " notin (";
    case greater_than:
      return ">";
    case less_than:
      return "<";
    case exists:
    case absent:
      return "";
  }
  return "";
}

struct NamedOperator {
  std::string_view name;
  SelectorOperator op;
};
constexpr NamedOperator kNamedOperators[] = {{"In", in},           {"NotIn", not_in},
                                             {"Exists", exists},   {"DoesNotExist", absent},
                                             {"Gt", greater_than}, {"Lt", less_than}};

Result<Requirement> to_requirement(const SelectorExpression& expression, bool numbers) {
  for (const NamedOperator& named : kNamedOperators) {
    const bool compares = named.op == greater_than || named.op == less_than;
    if (named.name == expression.op && (numbers || !compares)) {
      return Requirement::make(expression.key, named.op, expression.values);
    }
  }
  std::string message;
  json::append_quoted(message, expression.op);
  return fail(invalid_argument(message + " is not a valid label selector operator"));
}

}  // namespace

Result<Requirement> Requirement::make(std::string key, SelectorOperator op,
                                      std::vector<std::string> values) {
  if (Complaints complaints = check_qualified_name(key); !complaints.empty()) {
    return fail(bad_field("key", key, join(complaints)));
  }
  TRY(check_value_count(op, values));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (Complaints complaints = check_label_value(values[i]); !complaints.empty()) {
      return fail(
          bad_field("values[" + std::to_string(i) + "][" + key + "]", values[i], join(complaints)));
    }
  }
  return Requirement(std::move(key), op, std::move(values));
}

bool Requirement::matches(std::optional<std::string_view> value) const {
  const auto listed = [&] { return std::ranges::find(values_, *value) != values_.end(); };
  switch (op_) {
    case equals:
    case double_equals:
    case in:
      return value && listed();
    case not_equals:
    case not_in:
      return !value || !listed();
    case exists:
      return value.has_value();
    case absent:
      return !value.has_value();
    case greater_than:
    case less_than: {
      const std::optional<std::int64_t> have = value ? to_integer(*value) : std::nullopt;
      const std::optional<std::int64_t> bound = to_integer(values_.front());
      return have && bound && (op_ == greater_than ? *have > *bound : *have < *bound);
    }
  }
  return false;
}

std::string Requirement::to_string() const {
  std::string out;
  if (op_ == absent) {
    out += '!';
  }
  out += key_;
  out += symbol(op_);
  std::vector<std::string_view> sorted(values_.begin(), values_.end());
  std::ranges::sort(sorted);
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (i > 0) {
      out += ',';
    }
    out += sorted[i];
  }
  if (op_ == in || op_ == not_in) {
    out += ')';
  }
  return out;
}

Selector Selector::nothing() {
  Selector selector;
  selector.nothing_ = true;
  return selector;
}

Selector Selector::of_labels(const StringMap& labels) {
  Selector selector;
  for (const auto& [key, value] : labels) {
    selector.requirements_.push_back(Requirement(key, equals, {value}));
  }
  return selector;
}

Selector Selector::of(std::vector<Requirement> requirements) {
  Selector selector;
  for (Requirement& requirement : requirements) {
    selector.add(std::move(requirement));
  }
  return selector;
}

void Selector::add(Requirement requirement) {
  auto after = std::ranges::upper_bound(requirements_, requirement.key_, {}, &Requirement::key_);
  requirements_.insert(after, std::move(requirement));
}

bool Selector::matches(const StringMap& labels) const {
  return matches_with([&](std::string_view key) -> std::optional<std::string_view> {
    auto at = labels.find(key);
    return at == labels.end() ? std::nullopt : std::optional<std::string_view>(at->second);
  });
}

bool Selector::matches(const json::Value* labels) const {
  return matches_with([&](std::string_view key) -> std::optional<std::string_view> {
    const json::Value* value = labels == nullptr ? nullptr : labels->find(key);
    return value == nullptr || !value->is_string() ? std::nullopt
                                                   : std::optional(value->as_string());
  });
}

bool Selector::matches(const std::vector<std::pair<std::string, std::string>>& labels) const {
  return matches_with([&](std::string_view key) -> std::optional<std::string_view> {
    auto at = std::ranges::find(labels, key, &std::pair<std::string, std::string>::first);
    return at == labels.end() ? std::nullopt : std::optional<std::string_view>(at->second);
  });
}

std::optional<std::string_view> Selector::exact_value(std::string_view key) const {
  for (const Requirement& requirement : requirements_) {
    const bool exact =
        requirement.op_ == equals || requirement.op_ == double_equals || requirement.op_ == in;
    if (requirement.key_ == key && exact && requirement.values_.size() == 1) {
      return requirement.values_.front();
    }
  }
  return std::nullopt;
}

std::string Selector::to_string() const {
  std::string out;
  for (const Requirement& requirement : requirements_) {
    if (!out.empty()) {
      out += ',';
    }
    out += requirement.to_string();
  }
  return out;
}

Result<Selector> to_selector(const std::optional<LabelSelector>& selector) {
  if (!selector) {
    return Selector::nothing();
  }
  return to_selector(*selector);
}

Result<Selector> to_selector(const LabelSelector& selector) {
  std::vector<Requirement> requirements;
  for (const auto& [key, value] : selector.match_labels) {
    TRY_ASSIGN(Requirement requirement, Requirement::make(key, equals, {value}));
    requirements.push_back(std::move(requirement));
  }
  for (const SelectorExpression& expression : selector.match_expressions) {
    TRY_ASSIGN(Requirement requirement, to_requirement(expression, /*numbers=*/false));
    requirements.push_back(std::move(requirement));
  }
  return Selector::of(std::move(requirements));
}

Result<Selector> to_node_selector(const std::vector<SelectorExpression>& expressions) {
  std::vector<Requirement> requirements;
  for (const SelectorExpression& expression : expressions) {
    TRY_ASSIGN(Requirement requirement, to_requirement(expression, /*numbers=*/true));
    requirements.push_back(std::move(requirement));
  }
  return Selector::of(std::move(requirements));
}

}  // namespace codeflare::model
