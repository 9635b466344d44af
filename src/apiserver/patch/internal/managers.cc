#include "apiserver/patch/internal/managers.h"

#include "apiserver/patch/internal/go_print.h"
#include "apiserver/patch/internal/map_edit.h"
#include "json/member_index.h"
#include "json/write.h"

#include <algorithm>
#include <tuple>

namespace codeflare::apiserver::internal {
namespace {

using json::Value;

constexpr std::size_t kUpdatesMax = 10;
constexpr std::string_view kAncient = "ancient-changes";

std::int64_t seconds_of(const Manager& manager) {
  if (manager.time.empty()) {
    return 0;
  }
  auto time = parse_rfc3339(manager.time);
  if (!time) {
    return 0;
  }
  return std::chrono::floor<std::chrono::seconds>(*time).time_since_epoch().count();
}

Result<Manager> read_manager(const Value& entry, std::size_t position) {
  std::string_view operation = entry.string_or_empty("operation");
  if (operation != "Apply" && operation != "Update") {
    return fail(invalid_argument("operation must be `Apply` or `Update`"));
  }
  Manager manager;
  manager.name = entry.string_or_empty("manager");
  manager.api_version = entry.string_or_empty("apiVersion");
  manager.subresource = entry.string_or_empty("subresource");
  manager.time = entry.string_or_empty("time");
  manager.applied = operation == "Apply";
  if (manager.api_version.empty()) {
    return fail(invalid_argument("apiVersion must not be empty"));
  }
  std::string_view type = entry.string_or_empty("fieldsType");
  if (type != "FieldsV1") {
    std::string problem =
        type.empty() ? "missing fieldsType" : "invalid fieldsType " + go_quote(type);
    return fail(invalid_argument(problem + " in managed fields entry " + std::to_string(position)));
  }
  if (const Value* fields = entry.find("fieldsV1")) {
    manager.encoded = fields;
    manager.parsed = false;
  }
  return manager;
}

Value write_manager(json::Arena& arena, const Manager& manager) {
  auto text = [&](std::string_view value) { return Value::string(arena, value); };
  std::vector<json::Member> members;
  if (!manager.name.empty()) {
    members.push_back({"manager", text(manager.name)});
  }
  members.push_back({"operation", Value::string_view_of(manager.applied ? "Apply" : "Update")});
  members.push_back({"apiVersion", text(manager.api_version)});
  if (!manager.time.empty()) {
    members.push_back({"time", text(manager.time)});
  }
  members.push_back({"fieldsType", Value::string_view_of("FieldsV1")});
  members.push_back({"fieldsV1", manager.encoded != nullptr ? manager.encoded->clone(arena)
                                                            : write_fields(arena, manager.fields)});
  if (!manager.subresource.empty()) {
    members.push_back({"subresource", text(manager.subresource)});
  }
  return make_object(arena, members);
}

}  // namespace

std::string identifier(const Manager& manager) {
  std::string text;
  json::Writer writer(text);
  writer.begin_object();
  writer.member_if_set("manager", manager.name);
  writer.member("operation", manager.applied ? "Apply" : "Update");
  // One who applies stays the same whatever the version.
  writer.member_if_set("apiVersion", manager.applied ? std::string_view() : manager.api_version);
  writer.member_if_set("subresource", manager.subresource);
  writer.end_object();
  return text;
}

bool same_manager(const Manager& a, const Manager& b) {
  return a.name == b.name && a.applied == b.applied && a.subresource == b.subresource &&
         (a.applied || a.api_version == b.api_version);
}

Manager* find_manager(Managers& managers, const Manager& like) {
  auto at = std::ranges::find_if(managers, [&](const Manager& m) { return same_manager(m, like); });
  return at == managers.end() ? nullptr : &*at;
}

Result<Managers> read_managers(const Value* entries) {
  Managers managers;
  if (entries == nullptr) {
    return managers;
  }
  for (std::size_t i = 0; i < entries->size(); ++i) {
    TRY_ASSIGN(Manager manager, read_manager(entries->items()[i], i));
    if (Manager* present = find_manager(managers, manager)) {
      *present = manager;
    } else {
      managers.push_back(manager);
    }
  }
  return managers;
}

Result<void> parse_fields(json::Arena& arena, Manager& manager) {
  if (!manager.parsed) {
    TRY_ASSIGN(manager.fields, parse_fields(arena, *manager.encoded));
    manager.parsed = true;
  }
  return {};
}

Result<void> parse_fields(json::Arena& arena, Managers& managers) {
  for (Manager& manager : managers) {
    TRY(parse_fields(arena, manager));
  }
  return {};
}

namespace {

// Whether the encoded set has the members of `set`: the first answer that equals `until`, else its
// opposite.
bool search(const Value& encoded, FieldSet set, bool until, std::string& key) {
  json::MemberIndex members(encoded.members());
  for (const FieldEntry& entry : set.entries()) {
    key.clear();
    append_element(key, entry.element);
    const Value* below = members.find(key);
    bool member = below != nullptr && (below->size() == 0 || below->find(".") != nullptr);
    if (entry.member && member == until) {
      return until;
    }
    if (entry.children.empty()) {
      continue;
    }
    if (below == nullptr ? !until : search(*below, entry.children, until, key) == until) {
      return until;
    }
  }
  return !until;
}

}  // namespace

bool has_any(const Value& encoded, FieldSet set) {
  std::string key;
  return search(encoded, set, true, key);
}

bool has_all(const Value& encoded, FieldSet set) {
  std::string key;
  return search(encoded, set, false, key);
}

Value write_managers(json::Arena& arena, Managers& managers) {
  if (managers.empty()) {
    return {};
  }
  std::ranges::sort(managers, {}, [](const Manager& m) {
    return std::tuple(!m.applied, seconds_of(m), m.name, m.api_version, m.subresource);
  });
  std::vector<Value> entries;
  entries.reserve(managers.size());
  for (const Manager& manager : managers) {
    entries.push_back(write_manager(arena, manager));
  }
  return make_array(arena, entries);
}

namespace {

std::size_t count_updates(const Managers& managers) {
  return static_cast<std::size_t>(
      std::ranges::count_if(managers, [](const Manager& m) { return !m.applied; }));
}

}  // namespace

bool has_too_many_updates(const Managers& managers) {
  return count_updates(managers) > kUpdatesMax;
}

void cap_updates(json::Arena& arena, Managers& managers) {
  std::size_t count = count_updates(managers);
  // Oldest first; what is applied is not touched and waits at the end.
  std::ranges::sort(managers, {}, [](const Manager& m) {
    return std::tuple(m.applied, seconds_of(m), identifier(m));
  });
  std::vector<Manager> joined;  // the first of each version, with what joined it
  std::size_t taken = 0;
  for (; count > kUpdatesMax && taken < managers.size() && !managers[taken].applied; ++taken) {
    const Manager& oldest = managers[taken];
    auto bucket = std::ranges::find(joined, oldest.api_version, &Manager::api_version);
    if (bucket == joined.end()) {
      joined.push_back(oldest);
      continue;
    }
    bucket->set_fields(set_union(arena, oldest.fields, bucket->fields));
    bucket->name = kAncient;
    bucket->subresource = {};
    bucket->time = oldest.time;
    --count;
  }
  managers.erase(managers.begin(), managers.begin() + static_cast<std::ptrdiff_t>(taken));
  for (const Manager& bucket : joined) {
    // An entry of earlier times may still be among the newer ones.
    if (Manager* present = find_manager(managers, bucket)) {
      present->set_fields(set_union(arena, present->fields, bucket.fields));
    } else {
      managers.push_back(bucket);
    }
  }
}

std::string describe(const Manager& manager) {
  std::string text = go_quote(manager.name);
  if (!manager.subresource.empty()) {
    text += " with subresource " + go_quote(manager.subresource);
  }
  if (!manager.applied) {
    text += " using " + std::string(manager.api_version);
  }
  return text;
}

}  // namespace codeflare::apiserver::internal
