#pragma once

#include "apiserver/schema/schema.h"
#include "base/result.h"
#include "base/time.h"
#include "json/value.h"

#include <string>
#include <string_view>

namespace codeflare::apiserver {

// Who writes, as recorded in metadata.managedFields.
struct ManagerId {
  std::string name;         // fieldManager, or the User-Agent up to its first "/"
  std::string api_version;  // of the request
  std::string subresource{};
};

// Records a create, update or patch: what changed from `live` to `object` (live may be null) is now
// owned by the manager, by nobody else; sets metadata.managedFields of `object`. Times change only
// with the sets.
void track_update(const schema::Node& node, json::Arena& arena, const json::Value* live,
                  json::Value& object, const ManagerId& manager, WallTime now);

// Server-side apply of `applied` onto `live` (null: create). The result is the merged object with
// its managedFields. Conflicts with other managers: `conflict` with a Status whose causes name
// fields and managers, unless `force`.
Result<json::Value> apply(const schema::Node& node, json::Arena& arena, const json::Value* live,
                          const json::Value& applied, const ManagerId& manager, bool force,
                          WallTime now);

}  // namespace codeflare::apiserver
