#include "json/merge_patch.h"

#include "json/member_index.h"

#include <memory>
#include <vector>

namespace codeflare::json {

namespace {

Value make_object(Arena& arena, const std::vector<Member>& members) {
  if (members.empty()) {
    return Value::object();
  }
  std::size_t bytes = members.size() * sizeof(Member);
  auto* storage = static_cast<Member*>(arena.allocate(bytes, alignof(Member)));
  std::uninitialized_copy(members.begin(), members.end(), storage);
  return Value::object_of({storage, members.size()});
}

Value merged(Arena& arena, const Value& target, const Value& patch) {
  if (!patch.is_object()) {
    return patch.clone(arena);
  }
  MemberIndex in_target(target.members());  // no members when the target is not an object
  MemberIndex in_patch(patch.members());
  std::vector<Member> result;
  result.reserve(target.members().size() + patch.size());
  for (const Member& old : target.members()) {
    const Value* change = in_patch.find(old.key);
    if (change == nullptr) {
      result.push_back({arena.copy(old.key), old.value.clone(arena)});
    } else if (!change->is_null()) {
      result.push_back({arena.copy(old.key), merged(arena, old.value, *change)});
    }
  }
  for (const Member& change : patch.members()) {
    if (!change.value.is_null() && in_target.find(change.key) == nullptr) {
      result.push_back({arena.copy(change.key), merged(arena, Value(), change.value)});
    }
  }
  return make_object(arena, result);
}

Value difference(Arena& arena, const Value& from, const Value& to) {
  MemberIndex in_from(from.members());
  MemberIndex in_to(to.members());
  std::vector<Member> patch;
  for (const Member& old : from.members()) {
    const Value* now = in_to.find(old.key);
    if (!old.value.is_null() && (now == nullptr || now->is_null())) {
      patch.push_back({arena.copy(old.key), Value()});
    }
  }
  for (const Member& now : to.members()) {
    const Value* old = in_from.find(now.key);
    if (now.value.is_null() || (old != nullptr && equal(*old, now.value))) {
      continue;
    }
    bool both_objects = old != nullptr && old->is_object() && now.value.is_object();
    // Applying a patch to nothing drops its nulls: the way null members count as absent.
    Value change =
        both_objects ? difference(arena, *old, now.value) : merged(arena, Value(), now.value);
    bool only_nulls_differ = both_objects && change.size() == 0;
    if (!only_nulls_differ) {
      patch.push_back({arena.copy(now.key), change});
    }
  }
  return make_object(arena, patch);
}

}  // namespace

Document apply_merge_patch(const Value& target, const Value& patch) {
  Document document;
  document.root = merged(document.arena, target, patch);
  return document;
}

Value apply_merge_patch(Arena& arena, const Value& target, const Value& patch) {
  return merged(arena, target, patch);
}

Document merge_diff(const Value& from, const Value& to) {
  Document document;
  document.root = from.is_object() && to.is_object() ? difference(document.arena, from, to)
                                                     : merged(document.arena, Value(), to);
  return document;
}

}  // namespace codeflare::json
