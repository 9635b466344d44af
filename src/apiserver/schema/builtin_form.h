#pragma once

#include "apiserver/schema/schema.h"
#include "json/value.h"

namespace codeflare::apiserver::schema {

// An object of a built-in kind as upstream has it after decoding, storing and encoding it: what the
// types do not know is gone, nulls and empty values that JSON leaves out are gone, zero values that
// it shows are there (`status: {}`, `resources: {}`), maps are sorted, quantities and times have
// their one spelling. Two bodies that mean the same become equal, so comparing texts finds writes
// that change nothing. The object must have passed check_shapes(); a value of a wrong shape is kept
// as it is. Idempotent; the result shares texts with `object`.
json::Value builtin_form(const Node& kind, const json::Value& object, json::Arena& arena);

// The JSON of a value that was never set: "" or 0 or `{"containers":null}`.
json::Value zero_form(const Node& node, json::Arena& arena);
// The same for an entry of a map, where lists and bytes start empty instead of null.
json::Value zero_entry_form(const Node& node, json::Arena& arena);
// Go's idea of an empty value, which omitempty leaves out.
bool is_empty_form(const json::Value& value);

}  // namespace codeflare::apiserver::schema
