#pragma once

#include "apiserver/schema/schema.h"
#include "base/result.h"
#include "base/time.h"
#include "json/value.h"

#include <string>
#include <string_view>
#include <vector>

namespace codeflare::apiserver {

// The writer, as recorded in metadata.managedFields.
struct ManagerId {
  std::string name;         // fieldManager, or the User-Agent up to its first "/"
  std::string api_version;  // of the request
  std::string subresource{};
  // Paths that this endpoint takes from the stored object whatever is sent ("status" on the main
  // resource, "spec" and "metadata.labels" on /status): never owned through it.
  std::vector<std::string_view> reset_fields{};
};

// Records a create, update or patch: what changed from `live` to `object` (live may be null) is now
// owned by the manager, by nobody else; sets metadata.managedFields of `object`. The managedFields
// that the caller sent are still in `object`: [{}] resets, absent or empty means "as in live".
// Times change only with the sets. Call it on what will be stored, after defaults and admission.
// Linear in the size of the object; when nothing changed the entries of `live` are taken over
// unread. Built-in kinds are expected to show the structures that upstream always writes
// (`resources: {}`): they are part of the sets.
void track_update(const schema::Node& node, json::Arena& arena, const json::Value* live,
                  json::Value& object, const ManagerId& manager, WallTime now);

// Server-side apply of `applied` onto `live` (null: create). The result is the merged object with
// its managedFields, all of it in the arena; defaults have not been filled in. Conflicts with other
// managers: `conflict` with a Status whose causes name fields and managers, unless `force`.
// Entries of other versions are compared with the object as it is: where versions differ by more
// than their name, ownership is only followed for what they have in common.
Result<json::Value> apply(const schema::Node& node, json::Arena& arena, const json::Value* live,
                          const json::Value& applied, const ManagerId& manager, bool force,
                          WallTime now);

}  // namespace codeflare::apiserver
