#pragma once

#include "apiserver/schema/field_errors.h"
#include "apiserver/schema/schema.h"
#include "json/value.h"

#include <map>
#include <span>
#include <string>

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

// The old values of the items of a list of type map, by their keys. `old` may be null.
class OldItems {
 public:
  OldItems(const Node& list, const json::Value* old);
  // The first one with the same keys; null if there is none, or the list is not of that type.
  const json::Value* find(const json::Value& item);

 private:
  const Node& list_;
  std::span<const json::Value> items_;
  std::map<std::string, const json::Value*> by_keys_;  // made when first asked
};

}  // namespace codeflare::apiserver::schema::internal
