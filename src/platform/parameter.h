#pragma once

#include "json/value.h"
#include "model/application.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::platform {

// A value of a parameter: one text, or those of a list. A boolean is "true" or "false".
using ParameterTexts = std::vector<std::string>;

// The flag without the "=" that joins it to its value.
std::string_view flag_word(const model::ParameterSpec& parameter);
bool is_boolean(const model::ParameterSpec& parameter);
bool is_list(const model::ParameterSpec& parameter);

// The texts of a JSON value of the parameter's type; nothing when it is of another type.
std::optional<ParameterTexts> texts_of(const model::ParameterSpec& parameter,
                                       const json::Value& value);
// "an integer such as 3"
std::string expected_of(const model::ParameterSpec& parameter);

// The problem of a value (type, enum, bounds, pattern) and what to do; empty when it is good.
std::string complaint(const model::ParameterSpec& parameter, const ParameterTexts& texts);

// The problem of the parameter itself; empty when it is good.
std::string schema_complaint(const model::ParameterSpec& parameter);

}  // namespace codeflare::platform
