#include "apiserver/kinds/edit.h"
#include "apiserver/kinds/pod_spec.h"
#include "apiserver/kinds/podspec/checks.h"
#include "json/member_index.h"

#include <algorithm>

namespace codeflare::apiserver {

namespace podspec {

void check_label_name(const Spot& spot, std::string_view key, std::string_view name) {
  spot.add(model::check_qualified_name(name), key, name);
}

void check_labels(const Spot& labels) {
  for (const json::Member& label : labels.value().members()) {
    check_label_name(labels, "", label.key);
    if (label.value.is_string()) {
      labels.add(model::check_label_value(label.value.as_string()), "", label.value.as_string());
    }
  }
}

void check_expression(const Spot& expression, const ExpressionRules& rules) {
  const std::string_view op = expression.text("operator");
  const std::size_t values = expression.count("values");
  if (op == "In" || op == "NotIn") {
    if (values == 0) {
      expression.required("values", "must be specified when `operator` is 'In' or 'NotIn'");
    }
  } else if (op == "Exists" || op == "DoesNotExist") {
    if (values > 0) {
      expression.forbidden("values",
                           "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    }
  } else if (rules.compares && (op == "Gt" || op == "Lt")) {
    if (values != 1) {
      expression.required("values",
                          "must be specified single value when `operator` is 'Lt' or 'Gt'");
    }
  } else {
    expression.invalid_text("operator", op, "not a valid selector operator");
  }
  check_label_name(expression, "key", expression.text("key"));
  const Spot listed = expression["values"];
  listed.each([&](const Spot& value) {
    if (rules.values_too) {
      value.add(model::check_label_value(value.text()), "", value.text());
    }
  });
}

void check_selector(const Spot& selector) {
  check_labels(selector["matchLabels"]);
  const Spot expressions = selector["matchExpressions"];
  expressions.each([](const Spot& expression) { check_expression(expression, {}); });
}

}  // namespace podspec

void validate_labels(const json::Value& labels, std::string_view path, FieldErrors& errors) {
  podspec::check_labels(Spot(labels, path, errors));
}

bool validate_label_selector(const json::Value& selector, std::string_view path,
                             FieldErrors& errors) {
  const std::size_t before = errors.causes().size();
  podspec::check_selector(Spot(selector, path, errors));
  return errors.causes().size() == before;
}

bool selector_matches(const json::Value& selector, const json::Value& labels) {
  json::MemberIndex by_key(labels.members());
  for (const json::Member& member : object_at(selector, "matchLabels").members()) {
    const json::Value* value = by_key.find(member.key);
    if (value == nullptr || !json::equal(*value, member.value)) {
      return false;
    }
  }
  for (const json::Value& expression : items_at(selector, "matchExpressions")) {
    const json::Value* value = by_key.find(text_at(expression, "key"));
    const std::string_view op = text_at(expression, "operator");
    const bool listed = value != nullptr && std::ranges::any_of(items_at(expression, "values"),
                                                                [&](const json::Value& item) {
                                                                  return json::equal(item, *value);
                                                                });
    if ((op == "In" && !listed) || (op == "NotIn" && listed) ||
        (op == "Exists" && value == nullptr) || (op == "DoesNotExist" && value != nullptr)) {
      return false;
    }
  }
  return true;
}

}  // namespace codeflare::apiserver
