#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace codeflare::apiserver::schema::internal {

// The number when its text is that of a 64-bit integer: no fraction, no exponent, in range. That is
// how Go tells int64 from float64 in objects without a type.
std::optional<std::int64_t> exact_integer(std::string_view number);

// As Go's %v prints a float64.
std::string show_double(double value);

}  // namespace codeflare::apiserver::schema::internal
