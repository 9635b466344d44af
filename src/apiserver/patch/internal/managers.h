#pragma once

#include "apiserver/patch/internal/field_set.h"
#include "base/result.h"
#include "base/time.h"
#include "json/value.h"

#include <string>
#include <string_view>
#include <vector>

// metadata.managedFields.
namespace codeflare::apiserver::internal {

// One entry. Texts are views into the object it was read from, or into an arena.
struct Manager {
  std::string_view name;
  std::string_view api_version;
  std::string_view subresource;
  std::string_view time;  // empty: none
  bool applied = false;
  FieldSet fields;  // once `parsed`
  // What `fields` was read from, as long as it is unchanged: written back as it is.
  const json::Value* encoded = nullptr;
  bool parsed = true;

  void set_fields(FieldSet changed) {
    encoded = changed.same(fields) ? encoded : nullptr;
    fields = changed;
  }
};

using Managers = std::vector<Manager>;

// Two entries are the same manager when these texts are equal; conflicts are sorted by them.
std::string identifier(const Manager& manager);
bool same_manager(const Manager& a, const Manager& b);
Manager* find_manager(Managers& managers, const Manager& like);

// Of an array (or null: none). The sets are not read yet.
Result<Managers> read_managers(const json::Value* entries);
// Reads the set unless that has been done.
Result<void> parse_fields(json::Arena& arena, Manager& manager);
Result<void> parse_fields(json::Arena& arena, Managers& managers);

// Of a set as we write it, without reading it: some member of `set` is in it; all are.
bool has_any(const json::Value& encoded, FieldSet set);
bool has_all(const json::Value& encoded, FieldSet set);
// Sorted as upstream does; null when there is none. Everything lives in the arena.
json::Value write_managers(json::Arena& arena, Managers& managers);

// No more than ten entries of updates: the oldest are joined, one entry per version. All sets have
// been read.
bool has_too_many_updates(const Managers& managers);
void cap_updates(json::Arena& arena, Managers& managers);

// `"kubectl" with subresource "status" using apps/v1`
std::string describe(const Manager& manager);

}  // namespace codeflare::apiserver::internal
