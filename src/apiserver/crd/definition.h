#pragma once

#include "apiserver/registry/resource.h"
#include "apiserver/schema/compile.h"
#include "apiserver/schema/field_errors.h"
#include "apiserver/store/object.h"
#include "base/result.h"
#include "json/value.h"

#include <memory>
#include <string>
#include <vector>

namespace codeflare::apiserver {

// The schemas of a CustomResourceDefinition's versions, in its order; null where there is none.
using CompiledVersions = std::vector<std::shared_ptr<const schema::CompiledSchema>>;

struct DefinitionOptions {
  const schema::Node& object_meta;
  const schema::RuleCompiler* rules = nullptr;
  std::vector<std::string>* warnings = nullptr;
  // Not for what is stored already: a limit that came later takes nothing away.
  bool limit_rule_costs = true;
};

// Checks a CustomResourceDefinition, in upstream's words. `old` (or null) is the stored one:
// group, plural, and once it is established scope and kind, stay. Returns the schemas too.
CompiledVersions validate_definition(const json::Value& definition, const json::Value* old,
                                     const DefinitionOptions& options, FieldErrors& errors);

// The resource that a CustomResourceDefinition defines, under its accepted names. Null when it is
// not established.
std::shared_ptr<const Resource> make_resource(const json::Value& definition,
                                              const CompiledVersions& schemas,
                                              CollectionId collection);

}  // namespace codeflare::apiserver
