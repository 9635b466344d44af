#pragma once

#include "apiserver/cel/internal/value.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace codeflare::apiserver::cel {

// One function for one type of its first argument (or any). Methods get their receiver first.
struct Function {
  std::string_view name;
  bool method = true;
  bool global = false;
  std::size_t arguments_min = 1;
  std::size_t arguments_max = 1;
  std::optional<Type> first{};
  Result<Value> (*call)(Context&, std::span<const Value>) = nullptr;
};

std::span<const Function> conversion_functions();  // int(), string(), size(), optional.of()...
std::span<const Function> text_functions();
std::span<const Function> list_functions();  // lists and sets
std::span<const Function> time_functions();  // durations, timestamps, quantities

}  // namespace codeflare::apiserver::cel
