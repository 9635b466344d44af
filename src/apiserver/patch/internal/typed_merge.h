#pragma once

#include "apiserver/patch/internal/field_set.h"
#include "apiserver/schema/schema.h"
#include "base/result.h"
#include "json/value.h"

#include <string>
#include <vector>

// The value changes of an apply.
namespace codeflare::apiserver::internal {

// `live` with everything that `applied` says. Items of keyed lists and sets are joined; those of
// `applied` keep their order. Shares memory with both.
json::Value merge_objects(json::Arena& arena, const schema::Node& node, const json::Value& live,
                          const json::Value& applied);

// The object without the members and items of the set. A list or map that loses everything becomes
// null, as upstream leaves it. Shares memory with the object.
json::Value remove_items(json::Arena& arena, const schema::Node& node, const json::Value& object,
                         FieldSet items);

// Everything named on the way to a path becomes a member itself where it is a field of a structure:
// removing a path also removes the structures that held nothing else.
FieldSet with_named_fields(json::Arena& arena, const schema::Node& node, FieldSet set);

// A set that was written when the schema owned things item by item that are now owned as a whole.
FieldSet reconcile(json::Arena& arena, const schema::Node& node, FieldSet set);

// The value without null members that the schema does not allow. Shares memory with the value.
json::Value without_nulls(json::Arena& arena, const schema::Node& node, const json::Value& value);

// Problems that make an applied configuration unusable: unknown fields, wrong kinds, repeated keys.
// One text per problem, with its path.
std::vector<std::string> check_applied(json::Arena& arena, const schema::Node& node,
                                       const json::Value& applied);

}  // namespace codeflare::apiserver::internal
