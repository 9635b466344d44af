#pragma once

#include "base/time.h"
#include "model/extra.h"
#include "model/gvk.h"
#include "model/list.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::model {

// metav1.Time: whole seconds on the wire.
using Time = WallTime;

// metav1.MicroTime: always six fraction digits on the wire.
struct MicroTime {
  WallTime time;
  friend auto operator<=>(const MicroTime&, const MicroTime&) = default;
};

struct OwnerReference {
  std::string api_version;
  std::string kind;
  std::string name;
  std::string uid;
  std::optional<bool> controller;
  std::optional<bool> block_owner_deletion;
  Extra extra;

  friend bool operator==(const OwnerReference&, const OwnerReference&) = default;
};

struct ManagedFieldsEntry {
  std::string manager;
  std::string operation;  // "Apply" or "Update"
  std::string api_version;
  std::optional<Time> time;
  std::string fields_type;  // "FieldsV1"
  RawJson fields_v1;
  std::string subresource;
  Extra extra;

  friend bool operator==(const ManagedFieldsEntry&, const ManagedFieldsEntry&) = default;
};

struct ObjectMeta {
  std::string name;
  std::string generate_name;
  std::string ns;
  std::string uid;
  std::string resource_version;  // opaque: compare for equality only
  std::int64_t generation = 0;
  std::optional<Time> creation_timestamp;
  std::optional<Time> deletion_timestamp;
  std::optional<std::int64_t> deletion_grace_period_seconds;
  StringMap labels;
  StringMap annotations;
  List<OwnerReference> owner_references;
  List<std::string> finalizers;
  List<ManagedFieldsEntry> managed_fields;
  Extra extra;

  ObjectKey key() const { return {ns, name}; }
  bool deleting() const { return deletion_timestamp.has_value(); }
  friend bool operator==(const ObjectMeta&, const ObjectMeta&) = default;
};

struct ListMeta {
  std::string resource_version;
  std::string continue_token;
  std::optional<std::int64_t> remaining_item_count;
  Extra extra;

  friend bool operator==(const ListMeta&, const ListMeta&) = default;
};

// The owner that manages this object, or nullptr: at most one reference may say `controller: true`.
const OwnerReference* controller_of(const ObjectMeta& meta);
// True when the object with this uid is among the owners, whatever its role.
bool is_owned_by(const ObjectMeta& meta, std::string_view uid);
// The value, or an empty view.
std::string_view find_or_empty(const StringMap& map, std::string_view key);

}  // namespace codeflare::model
