#pragma once

#include "apiserver/schema/schema.h"
#include "base/result.h"
#include "json/value.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace codeflare::apiserver {

namespace cel {
struct Expression;
}

// A compiled rule of x-kubernetes-validations: an expression over `self` and `oldSelf` in the
// Common Expression Language, as far as custom resources use it: literals, operators, the macros
// has, all, exists, exists_one, map, filter, conversions, text and list functions, durations,
// timestamps, quantities, sets and optional values. Types are found out while it runs.
class CelProgram {
 public:
  // invalid_argument with line and column, as cel-go words it, for text outside the supported
  // language or with unknown variables or functions.
  static Result<CelProgram> compile(std::string_view expression);
  CelProgram(CelProgram&&) noexcept;
  CelProgram& operator=(CelProgram&&) noexcept;
  ~CelProgram();

  bool uses_old_self() const { return uses_old_self_; }
  const cel::Expression& root() const { return *root_; }
  const std::string& text() const { return text_; }

  struct Input {
    const json::Value& self;
    const schema::Node* node = nullptr;     // of self: tells 1 from 1.0 and text from times
    const json::Value* old_self = nullptr;  // null: the rule must not use it...
    bool optional_old_self = false;         // ...unless oldSelf is an optional value
  };
  // The value lies in the arena. An error for what CEL calls an error (missing key, wrong type,
  // division by zero), too_large when `cost_max` is exceeded; `cost` says what was spent either
  // way.
  Result<json::Value> evaluate(json::Arena& arena, const Input& input, std::uint64_t cost_max,
                               std::uint64_t& cost) const;

 private:
  CelProgram(std::string text, std::unique_ptr<cel::Expression> root);

  std::string text_;
  std::unique_ptr<cel::Expression> root_;
  bool uses_old_self_ = false;
};

}  // namespace codeflare::apiserver
