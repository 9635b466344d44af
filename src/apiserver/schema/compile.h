#pragma once

#include "apiserver/schema/checks.h"
#include "apiserver/schema/field_errors.h"
#include "apiserver/schema/schema.h"
#include "base/result.h"
#include "json/value.h"

#include <cstddef>
#include <memory>
#include <string>

namespace codeflare::apiserver::schema {

// Turns one entry of x-kubernetes-validations into a rule.
class RuleCompiler {
 public:
  virtual ~RuleCompiler() = default;
  struct Compiled {
    std::shared_ptr<const Rule> rule;
    bool uses_old_self = false;
  };
  // `schema` is the JSON schema that carries the rule. The error's text is what upstream shows
  // behind the rule: "compilation failed: ERROR: <input>:1:6: ...".
  virtual Result<Compiled> compile(const json::Value& rule, const json::Value& schema) const = 0;
};

// The nodes of one structural schema and the memory they live in. Equal parts are one node: the
// pod templates of an operator's custom resources are mostly the same.
class CompiledSchema {
 public:
  virtual ~CompiledSchema() = default;
  virtual const Node& root() const = 0;
  virtual std::size_t node_count() const = 0;
};

struct CompileOptions {
  // Of the root and of embedded resources.
  const Node& object_meta;
  // Null: rules are refused.
  const RuleCompiler* rules = nullptr;
  // Where the schema stands, for errors: "spec.versions[0].schema.openAPIV3Schema".
  std::string path{};
  // Formats of strings that nobody checks, for warnings.
  std::vector<std::string>* unknown_formats = nullptr;
};

// Compiles the JSON of an openAPIV3Schema. What upstream refuses in a structural schema is refused
// in its words, and the result is null.
std::shared_ptr<const CompiledSchema> compile(const json::Value& schema,
                                              const CompileOptions& options, FieldErrors& errors);

}  // namespace codeflare::apiserver::schema
