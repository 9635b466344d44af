#pragma once

#include "apiserver/patch/internal/field_set.h"
#include "apiserver/schema/schema.h"
#include "json/value.h"

namespace codeflare::apiserver::internal {

// The differences between two objects, by the paths that can be owned.
struct Changes {
  FieldSet removed;
  FieldSet modified;
  FieldSet added;

  bool empty() const { return removed.empty() && modified.empty() && added.empty(); }
};

// Linear in the size of the objects (n log n in a list whose items have keys); equal parts cost a
// comparison and no memory. The sets are in `arena` and refer to both objects.
Changes compare_objects(json::Arena& arena, const schema::Node& node, const json::Value& from,
                        const json::Value& to);

// Every path that the object says something about: what an applied configuration owns.
FieldSet set_of_object(json::Arena& arena, const schema::Node& node, const json::Value& object);

}  // namespace codeflare::apiserver::internal
