#pragma once

#include <string>

namespace codeflare::json::internal {

// Floating-point numbers as Go prints them: what kubectl sends and shows. Always the shortest
// digits that read back as the same number.

// As encoding/json: 1000000, 0.5, 1e+21, 1e-7. The value must be finite.
std::string go_json_number(double value);

// As %g of fmt: 100000, 1e+06, 0.0001, 1e-05; ".inf", "-.inf" and ".nan" as in YAML.
std::string go_general_number(double value);
std::string go_general_number(float value);

}  // namespace codeflare::json::internal
