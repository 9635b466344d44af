#pragma once

#include "json/value.h"

#include <string>
#include <string_view>

// Upstream's messages show values as Go's fmt prints decoded JSON; clients and tests compare them.
namespace codeflare::apiserver::internal {

// "map[string]interface {}", "[]interface {}", "int64", "%!s(<nil>)"
std::string_view go_type(const json::Value& value);

// A number without fraction and exponent that fits is an int64 there, any other a float64: such
// values differ even where they are equal as numbers.
bool is_go_integer(const json::Value& value);

// "map[name:a ports:[1 2]]", members by name.
std::string go_print(const json::Value& value);
void append_go_print(std::string& out, const json::Value& value);

// As %#v prints it: `map[string]interface {}{"a":1}`.
std::string go_syntax(const json::Value& value);

// Text as %q writes it.
std::string go_quote(std::string_view text);

}  // namespace codeflare::apiserver::internal
