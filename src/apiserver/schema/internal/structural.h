#pragma once

#include "apiserver/schema/compile.h"
#include "apiserver/schema/field_errors.h"
#include "json/value.h"

namespace codeflare::apiserver::schema::internal {

// The rules of a structural schema before it can be compiled.
void check_structural(const json::Value& schema, const CompileOptions& options,
                      FieldErrors& errors);
// Its rules: syntax, messages, and no oldSelf where an old value can't be found.
void check_schema_rules(const json::Value& schema, const CompileOptions& options,
                        FieldErrors& errors);

}  // namespace codeflare::apiserver::schema::internal
