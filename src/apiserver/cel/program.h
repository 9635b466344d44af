#pragma once

#include "base/result.h"
#include "json/value.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace codeflare::apiserver {

// A compiled rule of x-kubernetes-validations: an expression over `self` and `oldSelf`.
class CelProgram {
 public:
  // invalid_argument with line and column for text that is no expression of the supported
  // language or names unknown variables or functions.
  static Result<CelProgram> compile(std::string_view expression);
  CelProgram(CelProgram&&) noexcept;
  CelProgram& operator=(CelProgram&&) noexcept;
  ~CelProgram();

  bool uses_old_self() const;

  struct Outcome {
    json::Value value;       // in the arena that was passed
    std::uint64_t cost = 0;  // as the cost limit counts it
  };
  // `old_self` null: the rule must not use it. An error for what CEL calls an error (missing key,
  // wrong type, division by zero) and when `cost_max` is exceeded (too_large).
  Result<Outcome> evaluate(json::Arena& arena, const json::Value& self, const json::Value* old_self,
                           std::uint64_t cost_max) const;

 private:
  struct Expression;
  explicit CelProgram(std::unique_ptr<Expression> root);
  std::unique_ptr<Expression> root_;
};

}  // namespace codeflare::apiserver
