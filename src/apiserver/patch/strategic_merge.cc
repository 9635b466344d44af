#include "apiserver/patch/strategic_merge.h"

#include "apiserver/patch/internal/go_print.h"
#include "apiserver/patch/internal/list_order.h"
#include "apiserver/patch/internal/map_edit.h"
#include "apiserver/patch/internal/patch_errors.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::apiserver {
namespace {

using internal::bad_format;
using internal::bad_patch_type;
using internal::bad_type;
using internal::ElementIndex;
using internal::go_print;
using internal::go_type;
using internal::make_array;
using internal::MapEdit;
using internal::no_merge_key;
using internal::unexpected;
using internal::Values;
using json::Arena;
using json::Member;
using json::Value;
using schema::Node;
using schema::PatchStrategy;
using schema::Shape;

constexpr std::string_view kPatch = "$patch";
constexpr std::string_view kRetainKeys = "$retainKeys";
constexpr std::string_view kDeletePrefix = "$deleteFromPrimitiveList";
constexpr std::string_view kOrderPrefix = "$setElementOrder";
constexpr std::string_view kMapType = "map[string]interface {}";
constexpr std::string_view kListType = "[]interface {}";

bool is_text(const Value& value, std::string_view text) {
  return value.is_string() && value.as_string() == text;
}

Values to_vector(const Value& list) {
  return {list.items().begin(), list.items().end()};
}

// "$setElementOrder/containers" to "containers".
Result<std::string_view> list_name(std::string_view key, std::string_view prefix) {
  std::size_t slash = key.find('/');
  if (slash == key.npos || key.substr(0, slash) != prefix) {
    return fail(bad_format(prefix == kDeletePrefix ? "primitive list" : "setElementOrder list"));
  }
  return key.substr(slash + 1);
}

// The definition of a member whose value is a map or list on both sides.
Result<const Node*> lookup(const Node& node, std::string_view key) {
  if (node.shape == Shape::map) {
    return fail(
        unexpected("merging an object in json but data type is not struct, instead is: map"));
  }
  const schema::Field* field = node.shape == Shape::structure ? node.find(key) : nullptr;
  if (field == nullptr) {
    std::string_view name = node.type_name.substr(node.type_name.rfind('.') + 1);
    return fail(unexpected("unable to find api field in struct " + std::string(name) +
                           " for the json field " + internal::go_quote(key)));
  }
  return field->node;
}

Result<const Node*> lookup_list(const Node& node, std::string_view key) {
  TRY_ASSIGN(const Node* list, lookup(node, key));
  if (list->shape != Shape::list) {
    return fail(unexpected("expected slice or array type, but got: struct"));
  }
  if (list->items != nullptr && list->items->shape == Shape::list) {
    return fail(unexpected("unexpected slice of slice"));
  }
  return list;
}

// The value as it enters a document: without maps that are directives and, if asked, without null
// members. Nothing when the value itself is a directive.
std::optional<Value> without_directives(Arena& arena, const Value& value, bool drop_nulls) {
  if (value.is_object()) {
    if (value.find(kPatch) != nullptr) {
      return std::nullopt;
    }
    std::vector<Member> members;
    members.reserve(value.size());
    for (const Member& member : value.members()) {
      if (drop_nulls && member.value.is_null()) {
        continue;
      }
      if (auto kept = without_directives(arena, member.value, drop_nulls)) {
        members.push_back({arena.copy(member.key), *kept});
      }
    }
    return internal::make_object(arena, members);
  }
  if (value.is_array()) {
    Values items;
    items.reserve(value.size());
    for (const Value& item : value.items()) {
      if (auto kept = without_directives(arena, item, drop_nulls)) {
        items.push_back(*kept);
      }
    }
    return make_array(arena, items);
  }
  return value.clone(arena);
}

// All elements of both lists have one type, which is not a list.
Result<void> check_element_types(const Value& original, const Value& patch, bool& maps) {
  const Value* first = nullptr;
  for (const Value* list : {&original, &patch}) {
    for (const Value& element : list->items()) {
      first = first == nullptr ? &element : first;
      if (first->is_array()) {
        return fail(internal::list_of_lists());
      }
      if (first->is_null() || go_type(element) != go_type(*first)) {
        return fail(unexpected("list element types are not identical: [" + go_print(original) +
                               " " + go_print(patch) + "]"));
      }
    }
  }
  if (first == nullptr) {
    return fail(unexpected("no elements in any of the given slices"));
  }
  maps = first->is_object();
  return {};
}

// The patch list follows the order that it declares, and declares an order for all it holds.
Result<void> check_declared_order(const Value& patch, const Value& order,
                                  std::string_view merge_key) {
  if (order.size() == 0 || patch.size() == 0) {
    return {};
  }
  std::size_t at = 0;
  for (const Value& element : patch.items()) {
    if (!merge_key.empty() && !element.is_object()) {
      return fail(bad_type(kMapType, element));
    }
  }
  for (const Value& element : patch.items()) {
    // A deletion needs no place; any other directive is not looked at either, unless the order
    // has been used up before it.
    const Value* directive = merge_key.empty() ? nullptr : element.find(kPatch);
    if (directive != nullptr && (is_text(*directive, "delete") || at < order.size())) {
      continue;
    }
    bool found = false;
    while (at < order.size() && !found) {
      const Value& declared = order.items()[at++];
      if (!merge_key.empty()) {
        if (!declared.is_object()) {
          return fail(bad_type(kMapType, declared));
        }
        if (element.find(merge_key) == nullptr) {
          return fail(no_merge_key(element, merge_key));
        }
        if (declared.find(merge_key) == nullptr) {
          return fail(no_merge_key(declared, merge_key));
        }
      }
      auto key = internal::element_key(element, merge_key);
      found = key && key == internal::element_key(declared, merge_key);
    }
    if (!found) {
      return fail(unexpected("The order in patch list:\n" + go_print(patch) + "\n doesn't match " +
                             std::string(kOrderPrefix) + " list:\n" + go_print(order) + "\n"));
    }
  }
  return {};
}

std::size_t count_values(const Value& value) {
  std::size_t count = 1;
  for (const Value& item : value.items()) {
    count += count_values(item);
  }
  for (const Member& member : value.members()) {
    count += count_values(member.value);
  }
  return count;
}

class Merger {
 public:
  // `work`: how many values may be merged. A patch can name one element of a list many times, and
  // each time all of it is merged.
  Merger(Arena& arena, std::size_t work) : arena_(arena), work_left_(work) {}

  Result<Value> merge_map(const Node& node, const Value& original, const Value& patch);

 private:
  Result<void> spend(std::size_t work) {
    if (work > work_left_) {
      return fail(too_large("the patch costs too much work: it changes one element many times"));
    }
    work_left_ -= work;
    return {};
  }

  struct Patch {
    const Value& value;
    std::vector<bool> done;  // members that directives have dealt with
  };

  Value from_patch(const Value& directive_map);
  Result<void> retain_keys(MapEdit& target, Patch& patch);
  Result<void> order_lists(const Node& node, MapEdit& target, Patch& patch);
  Result<void> order_list(const Node& node, MapEdit& target, Patch& patch, const Member& directive);
  Result<void> merge_member(const Node& node, MapEdit& target, const Member& change);
  void take(MapEdit& target, std::string_view key, const Value& value);
  Result<Value> merge_list(const Node& list, const Value& original, const Value& patch,
                           bool is_deletion, Values* server_order = nullptr);
  Result<Values> merge_elements(const Node& list, Values& original, Values& patch);
  Result<void> apply_special(const Value& list, std::string_view merge_key, Values& original,
                             Values& patch);
  std::string_view key(std::string_view text) { return arena_.copy(text); }

  Arena& arena_;
  std::size_t work_left_;
};

// {"$patch": "replace", ...}: everything else as it is.
Value Merger::from_patch(const Value& directive_map) {
  std::vector<Member> members;
  for (const Member& member : directive_map.members()) {
    if (member.key != kPatch) {
      members.push_back({key(member.key), member.value.clone(arena_)});
    }
  }
  return internal::make_object(arena_, members);
}

Result<void> Merger::retain_keys(MapEdit& target, Patch& patch) {
  const Value* list = patch.value.find(kRetainKeys);
  if (list == nullptr) {
    return {};
  }
  if (!list->is_array()) {
    return fail(bad_format("retainKeys"));
  }
  std::set<std::string_view> retained;
  for (const Value& name : list->items()) {
    if (name.is_string()) {
      retained.insert(name.as_string());
    }
  }
  for (std::size_t i = 0; i < patch.value.size(); ++i) {
    const Member& member = patch.value.members()[i];
    if (member.key == kRetainKeys) {
      patch.done[i] = true;
      continue;
    }
    bool exempt = member.value.is_null() || member.key.starts_with(kDeletePrefix) ||
                  member.key.starts_with(kOrderPrefix);
    if (!exempt && !retained.contains(member.key)) {
      return fail(bad_format("retainKeys"));
    }
  }
  target.retain([&](std::string_view name) { return retained.contains(name); });
  return {};
}

Result<void> Merger::order_lists(const Node& node, MapEdit& target, Patch& patch) {
  for (std::size_t i = 0; i < patch.value.size(); ++i) {
    const Member& member = patch.value.members()[i];
    if (member.key.starts_with(kOrderPrefix)) {
      patch.done[i] = true;
      TRY(order_list(node, target, patch, member));
    }
  }
  return {};
}

Result<void> Merger::order_list(const Node& node, MapEdit& target, Patch& patch,
                                const Member& directive) {
  const Value& order = directive.value;
  if (!order.is_array()) {
    return fail(bad_type(kListType, order));
  }
  TRY_ASSIGN(std::string_view name, list_name(directive.key, kOrderPrefix));
  const Value* original = target.find(name);
  const Value* change = nullptr;
  std::size_t change_at = 0;
  for (std::size_t i = 0; i < patch.value.size(); ++i) {
    if (patch.value.members()[i].key == name && !patch.done[i]) {
      change = &patch.value.members()[i].value;
      change_at = i;
    }
  }
  if (original != nullptr && !original->is_array()) {
    return fail(bad_type(kListType, *original));
  }
  if (change != nullptr && !change->is_array()) {
    return fail(bad_type(kListType, *change));
  }
  TRY_ASSIGN(const Node* list, lookup_list(node, name));
  static const Value kEmpty = Value::array();
  const Value& original_list = original == nullptr ? kEmpty : *original;
  const Value& change_list = change == nullptr ? kEmpty : *change;
  TRY(check_declared_order(change_list, order, list->merge_key));
  if (original == nullptr && change == nullptr) {
    return {};
  }
  Value merged = original_list;
  Values server_order = to_vector(original_list);
  if (original == nullptr) {
    merged = without_directives(arena_, change_list, false).value_or(Value::array());
  } else if (change != nullptr) {
    TRY_ASSIGN(merged, merge_list(*list, original_list, change_list, false, &server_order));
  }
  bool maps = false;
  TRY(check_element_types(original_list, change_list, maps));
  if (maps && list->merge_key.empty()) {
    return fail(unexpected("cannot order a list of maps without merge key"));
  }
  TRY_ASSIGN(Values all, internal::normalize_order(to_vector(merged), to_vector(order),
                                                   server_order, list->merge_key));
  target.set(key(name), make_array(arena_, all));
  if (change != nullptr) {
    patch.done[change_at] = true;
  }
  return {};
}

void Merger::take(MapEdit& target, std::string_view name, const Value& value) {
  if (auto kept = without_directives(arena_, value, true)) {
    target.set(key(name), *kept);
  } else {
    target.erase(name);
  }
}

Result<void> Merger::merge_member(const Node& node, MapEdit& target, const Member& change) {
  std::string_view name = change.key;
  bool is_deletion = name.starts_with(kDeletePrefix);
  if (is_deletion) {
    TRY_ASSIGN(std::string_view plain, list_name(name, kDeletePrefix));
    name = plain.empty() ? name : plain;
  }
  if (change.value.is_null()) {
    target.erase(name);
    return {};
  }
  Value* original = target.find(name);
  if (original == nullptr || go_type(*original) != go_type(change.value)) {
    if (!is_deletion) {
      take(target, name, change.value);
    }
    return {};
  }
  if (change.value.is_object()) {
    TRY_ASSIGN(const Node* child, lookup(node, name));
    if (child->patch == PatchStrategy::replace) {
      *original = change.value.clone(arena_);
      return {};
    }
    TRY_ASSIGN(*original, merge_map(*child, *original, change.value));
  } else if (change.value.is_array()) {
    TRY_ASSIGN(const Node* list, lookup_list(node, name));
    TRY_ASSIGN(*original, merge_list(*list, *original, change.value, is_deletion));
  } else {
    *original = change.value.clone(arena_);
  }
  return {};
}

Result<Value> Merger::merge_map(const Node& node, const Value& original, const Value& patch) {
  TRY(spend(original.size() + patch.size()));
  if (const Value* directive = patch.find(kPatch)) {
    if (is_text(*directive, "replace")) {
      return from_patch(patch);
    }
    if (is_text(*directive, "delete")) {
      return Value::object();
    }
    return fail(bad_patch_type(*directive, patch));
  }
  MapEdit target(original);
  Patch rest{patch, std::vector<bool>(patch.size(), false)};
  TRY(retain_keys(target, rest));
  TRY(order_lists(node, target, rest));
  for (std::size_t i = 0; i < patch.size(); ++i) {
    if (!rest.done[i]) {
      TRY(merge_member(node, target, patch.members()[i]));
    }
  }
  return target.finish(arena_);
}

// The order of the server as upstream sees it after a merge: that works in the memory of the
// original list, where new elements take the places at the end that deletions left free.
Values order_after(const Value& original, const Values& kept, const Values& merged) {
  Values order = kept;
  for (std::size_t i = kept.size(); i < std::min(original.size(), merged.size()); ++i) {
    order.push_back(merged[i]);
  }
  return order;
}

// Elements with $patch: deletions happen, "replace" makes the rest of the patch the new list.
Result<void> Merger::apply_special(const Value& list, std::string_view merge_key, Values& original,
                                   Values& patch) {
  bool replace = false;
  std::set<std::string> deleted;
  for (const Value& element : list.items()) {
    const Value* directive = element.find(kPatch);
    if (directive == nullptr) {
      patch.push_back(element.clone(arena_));
    } else if (is_text(*directive, "delete")) {
      if (element.find(merge_key) == nullptr) {
        return fail(no_merge_key(element, merge_key));
      }
      if (auto deleted_key = internal::element_key(element, merge_key)) {
        deleted.insert(*std::move(deleted_key));
      }
    } else if (is_text(*directive, "replace")) {
      replace = true;
    } else if (is_text(*directive, "merge")) {
      return fail(unexpected("merging lists cannot yet be specified in the patch"));
    } else {
      return fail(bad_patch_type(*directive, element));
    }
  }
  if (replace) {
    original = std::move(patch);
    patch.clear();
  } else if (!deleted.empty()) {
    std::erase_if(original, [&](const Value& element) {
      auto present = element.find(merge_key) == nullptr ? std::nullopt
                                                        : internal::element_key(element, merge_key);
      return present && deleted.contains(*present);
    });
  }
  return {};
}

Result<Values> Merger::merge_elements(const Node& list, Values& original, Values& patch) {
  static constexpr Node kAny;
  const Node& items = list.items == nullptr ? kAny : *list.items;
  Values merged = original;
  ElementIndex index(merged, list.merge_key);
  for (const Value& element : patch) {
    if (element.find(list.merge_key) == nullptr) {
      return fail(no_merge_key(element, list.merge_key));
    }
    std::ptrdiff_t found = index.find(element);
    if (found >= 0) {
      Value& present = merged[static_cast<std::size_t>(found)];
      TRY_ASSIGN(present, merge_map(items, present, element));
    } else {
      index.add(element, merged.size());
      merged.push_back(element);
    }
  }
  return merged;
}

Values without_duplicates(const Values& list) {
  ElementIndex seen({}, {});
  Values result;
  for (const Value& element : list) {
    if (seen.find(element) < 0) {
      seen.add(element, result.size());
      result.push_back(element);
    }
  }
  return result;
}

Result<Value> Merger::merge_list(const Node& list, const Value& original, const Value& patch,
                                 bool is_deletion, Values* server_order) {
  TRY(spend(original.size() + patch.size()));
  if (list.patch != PatchStrategy::merge && !is_deletion) {
    return patch.clone(arena_);
  }
  if (original.size() == 0 && patch.size() == 0) {
    return original;
  }
  bool maps = false;
  TRY(check_element_types(original, patch, maps));
  Values old = to_vector(original);
  Values added;
  Values merged;
  if (maps) {
    if (list.merge_key.empty()) {
      return fail(unexpected("cannot merge lists without merge key for struct"));
    }
    TRY(apply_special(patch, list.merge_key, old, added));
    TRY_ASSIGN(merged, merge_elements(list, old, added));
    if (server_order != nullptr && !added.empty()) {
      *server_order = order_after(original, old, merged);
    }
  } else {
    added = to_vector(patch.clone(arena_));
    if (is_deletion) {
      ElementIndex deleted(added, {});
      std::erase_if(old, [&](const Value& element) { return deleted.find(element) >= 0; });
      return make_array(arena_, old);
    }
    merged = old;
    merged.insert(merged.end(), added.begin(), added.end());
    merged = without_duplicates(merged);
  }
  TRY_ASSIGN(Values all, internal::normalize_order(merged, added, old, list.merge_key));
  return make_array(arena_, all);
}

}  // namespace

Result<void> strategic_merge(const Node& node, Arena& arena, Value& target, const Value& patch) {
  if (patch.is_null()) {
    return {};
  }
  if (!patch.is_object()) {
    return fail(internal::bad_document(patch));
  }
  // Elements that are named once are merged once.
  constexpr std::size_t kRepeats = 4;
  constexpr std::size_t kAlways = 10'000;
  Merger merger(arena, kRepeats * (count_values(target) + count_values(patch)) + kAlways);
  TRY_ASSIGN(target, merger.merge_map(node, target, patch));
  return {};
}

}  // namespace codeflare::apiserver
