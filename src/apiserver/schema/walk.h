#pragma once

#include "apiserver/schema/field_errors.h"
#include "apiserver/schema/schema.h"
#include "base/result.h"
#include "json/value.h"

#include <string>
#include <vector>

namespace codeflare::apiserver::schema {

// Removes what the schema does not know. With `unknown`, the paths of the first hundred that were
// removed are added ("spec.containers[0].foo"), sorted. At the root of an object apiVersion, kind
// and metadata are known.
void prune(const Node& node, json::Value& value, std::vector<std::string>* unknown);

// Fills in the defaults of absent fields, top down. A null where the schema does not allow one
// takes the default or goes away, as if it had not been said.
void apply_defaults(const Node& node, json::Arena& arena, json::Value& value);

// Shapes: the value is what the schema says everywhere. The error is as kube-apiserver words failed
// decoding of built-in kinds, without what it puts in front of it (`Pod in version "v1" cannot be
// handled as a Pod: `): invalid_argument,
// `json: cannot unmarshal string into Go struct field PodSpec.spec.hostNetwork of type bool`.
Result<void> check_shapes(const Node& node, const json::Value& value);

// Everything a structural schema can say, in upstream's words; `old` (or null) lets unchanged
// values pass that an earlier schema allowed. Rules run when nothing else is wrong that could
// mislead them. Nothing for built-in kinds (nodes with a type name): check_shapes() and their
// strategies say all there is.
void validate(const Node& node, const json::Value& value, const json::Value* old,
              FieldErrors& errors);

}  // namespace codeflare::apiserver::schema
