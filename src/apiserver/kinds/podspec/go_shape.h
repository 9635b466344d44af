#pragma once

#include "json/value.h"

#include <span>
#include <string>
#include <string_view>

namespace codeflare::apiserver::podspec {

// A field of a structure as Go prints it: under its name in the source, with a zero where it is
// absent.
struct GoField {
  std::string_view name;
  std::string_view key;
  std::string_view zero = "null";
  // Of a structure inside.
  std::span<const GoField> fields{};
};

// Where kube-apiserver shows a whole structure in a message, it shows its own, not that of the API.
std::string show_as_go(const json::Value& value, std::span<const GoField> fields);

}  // namespace codeflare::apiserver::podspec
