#include "apiserver/schema/internal/number.h"

#include "json/value.h"

#include <charconv>

namespace codeflare::apiserver::schema::internal {
std::optional<std::int64_t> exact_integer(std::string_view number) {
  std::int64_t value = 0;
  auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  return error == std::errc() && end == number.data() + number.size() ? std::optional(value)
                                                                      : std::nullopt;
}

std::string show_double(double value) {
  json::Arena arena;
  return std::string(json::Value::real(arena, value).number());
}

}  // namespace codeflare::apiserver::schema::internal
