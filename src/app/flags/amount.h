#pragma once

#include "base/result.h"
#include "model/quantity.h"

#include <string>

namespace codeflare {

// A flag's value for a resource; the error names the flag.
inline Result<model::Quantity> amount(const char* flag, const std::string& text) {
  Result<model::Quantity> quantity = model::Quantity::parse(text);
  if (!quantity || quantity->sign() < 0) {
    return fail(invalid_argument(std::string(flag) + " " + text +
                                 ": expected an amount such as 8, 500m or 32Gi"));
  }
  return quantity;
}

// Of things that nobody gets half of.
inline Result<model::Quantity> whole_amount(const char* flag, const std::string& text) {
  Result<model::Quantity> quantity = model::Quantity::parse(text);
  if (!quantity || quantity->sign() < 0 || !quantity->exact_value()) {
    return fail(invalid_argument(std::string(flag) + " " + text + ": expected a whole number"));
  }
  return quantity;
}

}  // namespace codeflare
