#include "apiserver/kinds/podspec/checks.h"

namespace codeflare::apiserver::podspec {

void check_label_name(const Field& field, std::string_view key, std::string_view name) {
  field.add(model::check_qualified_name(name), key, name);
}

void check_labels(const Field& labels) {
  for (const json::Member& label : labels.value().members()) {
    check_label_name(labels, "", label.key);
    if (label.value.is_string()) {
      labels.add(model::check_label_value(label.value.as_string()), "", label.value.as_string());
    }
  }
}

void check_expression(const Field& expression, const ExpressionRules& rules) {
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
  const Field listed = expression["values"];
  listed.each([&](const Field& value) {
    if (rules.values_too) {
      value.add(model::check_label_value(value.text()), "", value.text());
    }
  });
}

void check_selector(const Field& selector) {
  check_labels(selector["matchLabels"]);
  const Field expressions = selector["matchExpressions"];
  expressions.each([](const Field& expression) { check_expression(expression, {}); });
}

}  // namespace codeflare::apiserver::podspec
