#include "apiserver/patch/field_manager.h"

#include "apiserver/patch/internal/compare.h"
#include "apiserver/patch/internal/conflicts.h"
#include "apiserver/patch/internal/last_applied.h"
#include "apiserver/patch/internal/managers.h"
#include "apiserver/patch/internal/map_edit.h"
#include "apiserver/patch/internal/patch_errors.h"
#include "apiserver/patch/internal/typed.h"
#include "apiserver/patch/internal/typed_merge.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace codeflare::apiserver {
namespace {

using internal::Changes;
using internal::FieldConflict;
using internal::FieldPath;
using internal::FieldSet;
using internal::Manager;
using internal::Managers;
using json::Arena;
using json::Member;
using json::Value;
using schema::Node;

// The server's own: nobody owns these.
constexpr std::array<std::string_view, 12> kNeverOwned = {"apiVersion",
                                                          "kind",
                                                          "metadata",
                                                          "metadata.name",
                                                          "metadata.namespace",
                                                          "metadata.creationTimestamp",
                                                          "metadata.selfLink",
                                                          "metadata.uid",
                                                          "metadata.clusterName",
                                                          "metadata.generation",
                                                          "metadata.managedFields",
                                                          "metadata.resourceVersion"};
constexpr std::string_view kBeforeFirstApply = "before-first-apply";

FieldSet never_owned() {
  struct Constant {
    Arena arena;
    FieldSet set = internal::set_of_names(arena, kNeverOwned);
  };
  static const Constant kConstant;
  return kConstant.set;
}

// One request: who writes, and scratch memory for sets.
struct Writing {
  Arena scratch;
  const Node& node;
  const ManagerId& id;
  FieldSet reset;
  FieldSet never = never_owned();
  std::string time;

  Writing(const Node& node_in, const ManagerId& id_in, WallTime now)
      : node(node_in),
        id(id_in),
        reset(internal::set_of_names(scratch, id_in.reset_fields)),
        time(to_rfc3339(now)) {}

  Manager manager(std::string_view name, bool applied) const {
    Manager manager;
    manager.name = name.empty() ? std::string_view("unknown") : name;
    manager.api_version = id.api_version;
    manager.subresource = id.subresource;
    manager.applied = applied;
    return manager;
  }

  // The differences that can be owned through this endpoint.
  Changes changes(const Value& from, const Value& to) {
    Changes all = internal::compare_objects(scratch, node, from, to);
    auto own = [&](FieldSet set) {
      set = internal::set_subtract_below(scratch, set, reset);
      return internal::set_difference(scratch, set, never);
    };
    return {own(all.removed), own(all.modified), own(all.added)};
  }
};

const Value* entries_of(const Value* object) {
  return object == nullptr ? nullptr : object->get({"metadata", "managedFields"});
}

// [{}] or []: the client wants none.
bool is_reset(const Value* entries) {
  if (entries == nullptr || !entries->is_array()) {
    return false;
  }
  return entries->size() == 0 || (entries->size() == 1 && entries->items()[0].is_object() &&
                                  entries->items()[0].size() == 0);
}

void drop_empty(Managers& managers) {
  std::erase_if(managers, [](const Manager& m) { return m.parsed && m.fields.empty(); });
}

void reconcile_all(Writing& writing, Managers& managers) {
  for (Manager& manager : managers) {
    manager.set_fields(internal::reconcile(writing.scratch, writing.node, manager.fields));
  }
}

// An entry that cannot be read owns nothing.
void load(Writing& writing, Manager& manager) {
  if (!internal::parse_fields(writing.scratch, manager)) {
    manager.encoded = nullptr;
    manager.parsed = true;
  }
}

void cap(Writing& writing, Managers& managers) {
  if (internal::has_too_many_updates(managers)) {
    std::ranges::for_each(managers, [&](Manager& manager) { load(writing, manager); });
    internal::cap_updates(writing.scratch, managers);
  }
}

// Most writes touch fields that few own, or that the writer owns already: such entries are kept
// without reading them.
bool is_untouched(const Manager& manager, bool is_self, FieldSet taken, FieldSet removed) {
  if (manager.parsed || internal::has_any(*manager.encoded, removed)) {
    return false;
  }
  return is_self ? internal::has_all(*manager.encoded, taken)
                 : !internal::has_any(*manager.encoded, taken);
}

// The writer now owns the changed fields, alone.
void record_update(Writing& writing, Managers& managers, const Changes& changes,
                   std::string_view name) {
  Arena& scratch = writing.scratch;
  FieldSet taken = internal::set_union(scratch, changes.modified, changes.added);
  Manager self = writing.manager(name, false);
  for (Manager& manager : managers) {
    bool is_self = internal::same_manager(manager, self);
    if (is_untouched(manager, is_self, taken, changes.removed)) {
      continue;
    }
    load(writing, manager);
    FieldSet fields = internal::reconcile(scratch, writing.node, manager.fields);
    fields = internal::set_difference(scratch, fields, changes.removed);
    manager.set_fields(is_self ? internal::set_union(scratch, fields, taken)
                               : internal::set_difference(scratch, fields, taken));
  }
  drop_empty(managers);
  if (!taken.empty()) {
    Manager* present = internal::find_manager(managers, self);
    if (present == nullptr) {
      present = &managers.emplace_back(self);
      present->set_fields(taken);
    }
    present->time = writing.time;
  }
  cap(writing, managers);
}

void store_entries(Arena& arena, Value& object, const Value& entries) {
  Value* metadata = object.find("metadata");
  if (entries.is_null() || entries.size() == 0) {
    metadata->erase("managedFields");
  } else {
    metadata->set_static(arena, "managedFields", entries);
  }
}

}  // namespace

void track_update(const Node& node, Arena& arena, const Value* live, Value& object,
                  const ManagerId& manager, WallTime now) {
  Value* metadata = object.find("metadata");
  if (metadata == nullptr || !metadata->is_object()) {
    return;
  }
  // A subresource cannot change managedFields itself.
  const Value* sent = manager.subresource.empty() ? metadata->find("managedFields") : nullptr;
  bool reset = is_reset(sent);
  Value given = sent == nullptr ? Value() : *sent;
  metadata->erase("managedFields");
  const Value* known = reset ? nullptr : entries_of(live);
  Writing writing(node, manager, now);
  Managers managers;
  bool from_client = false;
  if (!reset && given.size() > 0) {
    auto read = internal::read_managers(&given);
    from_client = read && internal::parse_fields(writing.scratch, *read) && !read->empty();
    managers = from_client ? *std::move(read) : Managers();
    for (Manager& entry : managers) {
      entry.encoded = nullptr;  // a client may have written it in another order
    }
  }
  bool untracked = !from_client && (known == nullptr || known->size() == 0);
  if (untracked && live != nullptr) {
    return;  // it never was, or is no longer wanted
  }
  Changes changes = writing.changes(
      live == nullptr ? internal::zero_object(writing.scratch, node) : *live, object);
  if (changes.empty() && !from_client) {
    store_entries(arena, object, known == nullptr ? Value() : known->clone(arena));
    return;
  }
  if (!from_client) {
    managers = internal::read_managers(known).value_or(Managers());
    if (managers.empty() && live != nullptr) {
      return;
    }
  }
  record_update(writing, managers, changes, manager.name);
  store_entries(arena, object, internal::write_managers(arena, managers));
}

namespace {

// Removes what this manager applied last time and no longer does, unless somebody else owns it.
Value prune(Writing& writing, const Value& merged, const Managers& managers, FieldSet last) {
  if (last.empty()) {
    return merged;
  }
  Arena& scratch = writing.scratch;
  const Node& node = writing.node;
  auto named = [&](FieldSet set) { return internal::with_named_fields(scratch, node, set); };
  auto set_of = [&](const Value& value) {
    return named(internal::set_of_object(scratch, node, value));
  };
  FieldSet named_last = named(last);
  FieldSet in_merged = set_of(merged);
  Value pruned = internal::remove_items(scratch, node, merged, named_last);
  FieldSet owned;
  for (const Manager& manager : managers) {
    owned = internal::set_union(scratch, owned, manager.fields);
  }
  FieldSet wanted = internal::set_union(scratch, set_of(pruned), named(owned));
  pruned = internal::remove_items(scratch, node, merged,
                                  internal::set_difference(scratch, in_merged, wanted));
  // Fields without an owner, or owned by updaters alone, stay.
  FieldSet gone = internal::set_difference(scratch, in_merged, set_of(pruned));
  return internal::remove_items(scratch, node, merged,
                                internal::set_intersection(scratch, gone, named_last));
}

struct Outcome {
  Value object;
  Managers managers;
  std::vector<FieldConflict> conflicts;  // when there are any, nothing else counts
};

Outcome apply_once(Writing& writing, const Value& live, const Value& applied, Managers managers,
                   bool force) {
  Arena& scratch = writing.scratch;
  reconcile_all(writing, managers);
  Manager self = writing.manager(writing.id.name, true);
  FieldSet last;
  if (const Manager* present = internal::find_manager(managers, self)) {
    last = present->fields;
    self.time = present->time;
    std::erase_if(managers, [&](const Manager& m) { return internal::same_manager(m, self); });
  }
  self.fields = internal::set_subtract_below(
      scratch, internal::set_of_object(scratch, writing.node, applied), writing.reset);
  managers.push_back(self);

  Outcome outcome;
  Value merged = internal::merge_objects(scratch, writing.node, live, applied);
  outcome.object = prune(writing, merged, managers, last);
  Changes changes = writing.changes(live, outcome.object);
  FieldSet taken = internal::set_union(scratch, changes.modified, changes.added);
  for (Manager& manager : managers) {
    if (internal::same_manager(manager, self)) {
      continue;
    }
    FieldSet lost = internal::set_intersection(scratch, manager.fields, taken);
    if (!force) {
      internal::for_each_path(
          lost, [&](const FieldPath& path) { outcome.conflicts.push_back({manager, path}); });
    }
    FieldSet left = internal::set_difference(scratch, manager.fields, lost);
    manager.set_fields(internal::set_difference(scratch, left, changes.removed));
  }
  Manager& own = *internal::find_manager(managers, self);
  own.set_fields(internal::set_difference(scratch, own.fields, writing.never));
  if (!json::equal(live, outcome.object)) {
    own.time = writing.time;
  }
  drop_empty(managers);
  outcome.managers = std::move(managers);
  return outcome;
}

Result<Managers> read_all(Writing& writing, const Value* live) {
  auto read = internal::read_managers(entries_of(live));
  auto parsed = read ? internal::parse_fields(writing.scratch, *read) : Result<void>();
  if (!read || !parsed) {
    const Error& error = read ? parsed.error() : read.error();
    return fail(internal::unexpected("failed to decode managed fields: " + error.message));
  }
  return read;
}

// managedFields are looked at apart from the rest.
Value without_entries(Arena& arena, const Value& object) {
  const Value* metadata = object.find("metadata");
  if (entries_of(&object) == nullptr) {
    return object;
  }
  std::vector<Member> rest;
  for (const Member& member : metadata->members()) {
    if (member.key != "managedFields") {
      rest.push_back(member);
    }
  }
  std::vector<Member> members(object.members().begin(), object.members().end());
  std::ranges::find(members, "metadata", &Member::key)->value = internal::make_object(arena, rest);
  return internal::make_object(arena, members);
}

std::string kind_of(const Value& object) {
  std::string_view api_version = object.string_or_empty("apiVersion");
  std::string group_version =
      (api_version.find('/') == api_version.npos ? "/" : "") + std::string(api_version);
  return group_version + ", Kind=" + std::string(object.string_or_empty("kind"));
}

// Of the object that is there, or of the built-in kind; empty when neither says it.
std::string_view expected_kind(const Node& node, const Value* live) {
  return live != nullptr ? live->string_or_empty("kind")
                         : node.type_name.substr(node.type_name.rfind('.') + 1);
}

Result<void> check_configuration(Writing& writing, const Value* live, const Value& applied) {
  std::string_view kind = expected_kind(writing.node, live);
  if (applied.string_or_empty("apiVersion") != writing.id.api_version ||
      (!kind.empty() && applied.string_or_empty("kind") != kind)) {
    return fail(invalid_argument("invalid object type: " + kind_of(applied)));
  }
  const Value* entries = entries_of(&applied);
  if (entries != nullptr && !entries->is_null()) {
    return fail(invalid_argument("metadata.managedFields must be nil"));
  }
  auto problems = internal::check_applied(writing.scratch, writing.node, applied);
  if (problems.empty()) {
    return {};
  }
  const Value* metadata = applied.find("metadata");
  auto name_of = [&](std::string_view key) {
    return std::string(metadata == nullptr ? std::string_view() : metadata->string_or_empty(key));
  };
  std::string message = "failed to create typed patch object (" + name_of("namespace") + "/" +
                        name_of("name") + "; " + kind_of(applied) + "): ";
  message += problems.size() == 1 ? problems[0] : "errors:";
  for (const std::string& problem : problems.size() == 1 ? std::vector<std::string>() : problems) {
    message += "\n  " + problem;
  }
  return fail(internal::unexpected(std::move(message)));
}

// Conflicts about kubectl's own annotation do not count.
bool drop_allowed(Writing& writing, const Value& live, std::vector<FieldConflict>& conflicts) {
  auto owned =
      internal::owned_by_last_applied(writing.scratch, writing.node, live, writing.id.api_version);
  if (!owned) {
    return false;
  }
  std::erase_if(conflicts,
                [&](const FieldConflict& c) { return internal::has_path(*owned, c.path); });
  return conflicts.empty();
}

}  // namespace

Result<Value> apply(const Node& node, Arena& arena, const Value* live, const Value& applied,
                    const ManagerId& manager, bool force, WallTime now) {
  Writing writing(node, manager, now);
  TRY(check_configuration(writing, live, applied));
  Value before = live == nullptr ? Value::object() : without_entries(writing.scratch, *live);
  TRY_ASSIGN(Managers managers, read_all(writing, live));
  if (managers.empty() && live != nullptr) {
    Value zero = internal::zero_object(writing.scratch, node);
    record_update(writing, managers, writing.changes(zero, before), kBeforeFirstApply);
  }
  Outcome outcome = apply_once(writing, before, applied, managers, force);
  if (!outcome.conflicts.empty()) {
    bool allowed = manager.name == "kubectl" && drop_allowed(writing, before, outcome.conflicts);
    if (!allowed) {
      return fail(internal::conflict_error(std::move(outcome.conflicts)));
    }
    outcome = apply_once(writing, before, applied, std::move(managers), true);
  }
  Value result = internal::without_nulls(writing.scratch, node, outcome.object).clone(arena);
  if (manager.name == "kubectl") {
    internal::update_last_applied(arena, result, applied);
  }
  if (result.find("metadata") == nullptr) {
    result.set_static(arena, "metadata", Value::object());
  }
  store_entries(arena, result, internal::write_managers(arena, outcome.managers));
  return result;
}

}  // namespace codeflare::apiserver
