#pragma once

#include "apiserver/schema/checks.h"
#include "apiserver/schema/field_errors.h"
#include "apiserver/schema/schema.h"
#include "base/result.h"
#include "json/value.h"

#include <cstddef>
#include <cstdint>
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
    // Most that one evaluation can cost, by the bounds of the schema.
    std::uint64_t cost_max = 0;
    std::uint64_t message_cost_max = 0;
  };
  struct Site {
    const json::Value& schema;  // the JSON schema that carries the rule
    bool root = false;          // of the definition: apiVersion, kind and metadata are known
  };
  // The error's text is what upstream shows behind the rule: "compilation failed: ERROR:
  // <input>:1:6: ...".
  virtual Result<Compiled> compile(const json::Value& rule, const Site& place) const = 0;
  // How many values of this schema the largest request can hold.
  virtual std::uint64_t occurrences_max(const Site& place) const = 0;
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
  // Null: rules are rejected.
  const RuleCompiler* rules = nullptr;
  // Rules that may cost too much are rejected; not those of a schema that is in use already.
  bool limit_rule_costs = true;
  // Where the schema stands, for errors: "spec.versions[0].schema.openAPIV3Schema".
  std::string path{};
  // Formats of strings that nobody checks, for warnings.
  std::vector<std::string>* unknown_formats = nullptr;
};

// Compiles the JSON of an openAPIV3Schema. Schemas that are not structural are rejected in
// upstream's words, and the result is null.
std::shared_ptr<const CompiledSchema> compile(const json::Value& schema,
                                              const CompileOptions& options, FieldErrors& errors);

}  // namespace codeflare::apiserver::schema
