#pragma once

#include "apiserver/schema/compile.h"

namespace codeflare::apiserver {

// Compiles x-kubernetes-validations: rule, message, messageExpression, reason, fieldPath and
// optionalOldSelf. Failures are worded as upstream words them.
class CelRuleCompiler final : public schema::RuleCompiler {
 public:
  Result<Compiled> compile(const json::Value& rule, const Site& place) const override;
  std::uint64_t occurrences_max(const Site& place) const override;
};

}  // namespace codeflare::apiserver
