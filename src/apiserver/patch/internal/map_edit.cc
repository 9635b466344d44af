#include "apiserver/patch/internal/map_edit.h"

#include <memory>

namespace codeflare::apiserver::internal {
namespace {

constexpr std::size_t kIndexedFrom = 16;

template <typename T>
std::span<T> copy_to(json::Arena& arena, const std::vector<T>& from) {
  auto* storage = static_cast<T*>(arena.allocate(from.size() * sizeof(T), alignof(T)));
  std::uninitialized_copy(from.begin(), from.end(), storage);
  return {storage, from.size()};
}

}  // namespace

json::Value make_array(json::Arena& arena, const std::vector<json::Value>& items) {
  return items.empty() ? json::Value::array() : json::Value::array_of(copy_to(arena, items));
}

json::Value make_object(json::Arena& arena, const std::vector<json::Member>& members) {
  return members.empty() ? json::Value::object() : json::Value::object_of(copy_to(arena, members));
}

MapEdit::MapEdit(const json::Value& object) {
  entries_.reserve(object.size());
  for (const json::Member& member : object.members()) {
    entries_.push_back({member});
  }
}

MapEdit::Entry* MapEdit::entry(std::string_view key) {
  if (entries_.size() < kIndexedFrom) {
    for (Entry& entry : entries_) {
      if (entry.member.key == key) {
        return &entry;
      }
    }
    return nullptr;
  }
  // Entries are only ever appended: what the index lacks are the newest.
  while (index_.size() < entries_.size()) {
    index_.emplace(entries_[index_.size()].member.key, index_.size());
  }
  auto at = index_.find(key);
  return at == index_.end() ? nullptr : &entries_[at->second];
}

json::Value* MapEdit::find(std::string_view key) {
  Entry* found = entry(key);
  return found == nullptr || !found->alive ? nullptr : &found->member.value;
}

void MapEdit::set(std::string_view key, json::Value value) {
  if (Entry* found = entry(key)) {
    found->member.value = value;
    found->alive = true;
  } else {
    entries_.push_back({{key, value}});
  }
}

void MapEdit::erase(std::string_view key) {
  if (Entry* found = entry(key)) {
    found->alive = false;
  }
}

json::Value MapEdit::finish(json::Arena& arena) const {
  std::vector<json::Member> members;
  members.reserve(entries_.size());
  for (const Entry& entry : entries_) {
    if (entry.alive) {
      members.push_back(entry.member);
    }
  }
  return make_object(arena, members);
}

}  // namespace codeflare::apiserver::internal
