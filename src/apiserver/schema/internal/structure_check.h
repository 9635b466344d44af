#pragma once

#include "apiserver/schema/field_errors.h"
#include "apiserver/schema/schema.h"
#include "json/value.h"

namespace codeflare::apiserver::schema::internal {

// The passes of validate(), in their order.

// Types, bounds, patterns, required fields, branches.
void check_values(const Node& node, const json::Value& value, const json::Value* old,
                  FieldErrors& errors);
// apiVersion, kind and metadata of embedded resources.
void check_embedded(const Node& node, const json::Value& value, FieldErrors& errors);
// No two items of a set are equal, no two items of a list of type map share their keys.
void check_lists(const Node& node, const json::Value& value, FieldErrors& errors);
// x-kubernetes-validations.
void check_rules(const Node& node, const json::Value& value, const json::Value* old,
                 FieldErrors& errors);

// The old value of an item in a list of type map: the one with the same keys; null if there is
// none.
const json::Value* find_old_item(const Node& list, const json::Value* old_list,
                                 const json::Value& item);

}  // namespace codeflare::apiserver::schema::internal
