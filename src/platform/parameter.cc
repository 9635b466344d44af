#include "platform/parameter.h"

#include "json/parse.h"
#include "model/list.h"

#include <re2/re2.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>

namespace codeflare::platform {

namespace {

std::string_view type_of(const model::ParameterSpec& parameter) {
  return parameter.type.empty() ? std::string_view("string") : std::string_view(parameter.type);
}

template <typename Number>
std::optional<Number> read_number(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return number;
}

std::optional<double> read_finite(std::string_view text) {
  const std::optional<double> number = read_number<double>(text);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

std::optional<std::string> scalar_text(const json::Value& value) {
  switch (value.kind()) {
    case json::Kind::string:
      return std::string(value.as_string());
    case json::Kind::number:
      return std::string(value.number());
    case json::Kind::boolean:
      return value.as_bool() ? "true" : "false";
    default:
      return std::nullopt;
  }
}

std::string number_text(double number) {
  json::Arena arena;
  return std::string(json::Value::real(arena, number).number());
}

std::vector<std::string> enum_texts(const model::ParameterSpec& parameter) {
  std::vector<std::string> texts;
  if (parameter.enum_values.empty()) {
    return texts;
  }
  const Result<json::Document> values = json::parse(parameter.enum_values.text);
  if (values) {
    for (const json::Value& value : values->root.items()) {
      if (auto text = scalar_text(value)) {
        texts.push_back(*std::move(text));
      }
    }
  }
  return texts;
}

RE2::Options quiet() {
  RE2::Options options;
  options.set_log_errors(false);
  return options;
}

std::string one_complaint(const model::ParameterSpec& parameter, const std::string& text) {
  const std::string_view type = type_of(parameter);
  const std::string shown = "'" + text + "'";
  std::optional<double> number;
  if (type == "integer") {
    const std::optional<std::int64_t> whole = read_number<std::int64_t>(text);
    if (!whole) {
      return shown + " is not an integer; write a number such as 3";
    }
    number = static_cast<double>(*whole);
  } else if (type == "number") {
    number = read_finite(text);
    if (!number) {
      return shown + " is not a number; write a number such as 0.5";
    }
  } else if (type == "boolean" && text != "true" && text != "false") {
    return shown + " is not a boolean; write true or false";
  }
  if (number && parameter.minimum && *number < *parameter.minimum) {
    return text + " is below the minimum " + number_text(*parameter.minimum);
  }
  if (number && parameter.maximum && *number > *parameter.maximum) {
    return text + " is above the maximum " + number_text(*parameter.maximum);
  }
  const std::vector<std::string> allowed = enum_texts(parameter);
  if (!allowed.empty() && std::ranges::find(allowed, text) == allowed.end()) {
    std::string list;
    for (const std::string& each : allowed) {
      list += (list.empty() ? "" : ", ") + each;
    }
    return shown + " is not one of the allowed values: " + list;
  }
  if (!parameter.pattern.empty()) {
    const RE2 pattern(parameter.pattern, quiet());
    if (pattern.ok() && !RE2::FullMatch(text, pattern)) {
      return shown + " does not match the pattern " + parameter.pattern;
    }
  }
  return {};
}

}  // namespace

std::string_view flag_word(const model::ParameterSpec& parameter) {
  std::string_view flag = parameter.flag;
  if (flag.ends_with('=')) {
    flag.remove_suffix(1);
  }
  return flag;
}

bool is_boolean(const model::ParameterSpec& parameter) {
  return type_of(parameter) == "boolean";
}

bool is_list(const model::ParameterSpec& parameter) {
  return type_of(parameter) == "list";
}

std::optional<ParameterTexts> texts_of(const model::ParameterSpec& parameter,
                                       const json::Value& value) {
  const std::string_view type = type_of(parameter);
  if (type == "list") {
    if (!value.is_array()) {
      return std::nullopt;
    }
    ParameterTexts texts;
    for (const json::Value& item : value.items()) {
      auto text = scalar_text(item);
      if (!text) {
        return std::nullopt;
      }
      texts.push_back(*std::move(text));
    }
    return texts;
  }
  const bool fits = type == "boolean"   ? value.is_boolean()
                    : type == "integer" ? value.is_number() && value.to_int64().has_value()
                    : type == "number"  ? value.is_number()
                                        : value.is_string();
  if (!fits) {
    return std::nullopt;
  }
  // An integer may come as 3.0.
  return ParameterTexts{type == "integer" ? std::to_string(*value.to_int64())
                                          : *scalar_text(value)};
}

std::string expected_of(const model::ParameterSpec& parameter) {
  const std::string_view type = type_of(parameter);
  return type == "integer"   ? "an integer such as 3"
         : type == "number"  ? "a number such as 0.5"
         : type == "boolean" ? "true or false"
         : type == "list"    ? "a list such as [a, b]"
                             : "a text; put it in quotes";
}

std::string complaint(const model::ParameterSpec& parameter, const ParameterTexts& texts) {
  for (const std::string& text : texts) {
    if (text.contains('\0')) {
      return "the value has a NUL character, which no command line can hold";
    }
    if (std::string wrong = one_complaint(parameter, text); !wrong.empty()) {
      return wrong;
    }
  }
  return {};
}

std::string schema_complaint(const model::ParameterSpec& parameter) {
  constexpr std::string_view kTypes[] = {"string", "integer", "number", "boolean", "list"};
  if (std::ranges::find(kTypes, type_of(parameter)) == std::end(kTypes)) {
    return "type '" + parameter.type + "' is not one of string, integer, number, boolean and list";
  }
  if (parameter.flag.empty() == !parameter.position.has_value()) {
    return "set flag or position";
  }
  if (!parameter.flag.empty() && (!parameter.flag.starts_with('-') || flag_word(parameter) == "-" ||
                                  flag_word(parameter) == "--")) {
    return "flag '" + parameter.flag + "' does not begin with - and a letter";
  }
  if (is_boolean(parameter) && parameter.position) {
    return "a boolean needs a flag";
  }
  if (!parameter.pattern.empty()) {
    if (const RE2 pattern(parameter.pattern, quiet()); !pattern.ok()) {
      return "pattern " + parameter.pattern + " is not a regular expression: " + pattern.error();
    }
  }
  if (parameter.minimum && parameter.maximum && *parameter.minimum > *parameter.maximum) {
    return "minimum " + number_text(*parameter.minimum) + " is above maximum " +
           number_text(*parameter.maximum);
  }
  if (!parameter.default_value.empty()) {
    const Result<json::Document> value = json::parse(parameter.default_value.text);
    const auto texts = value ? texts_of(parameter, value->root) : std::nullopt;
    if (!texts) {
      return "default: expected " + expected_of(parameter);
    }
    if (const std::string wrong = complaint(parameter, *texts); !wrong.empty()) {
      return "default: " + wrong;
    }
  }
  return {};
}

}  // namespace codeflare::platform
