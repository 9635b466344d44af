#pragma once

#include "json/value.h"

#include <cstddef>
#include <map>
#include <string_view>
#include <vector>

namespace codeflare::apiserver::internal {

// Many changes to one JSON object, each cheap however large it is. Order is kept, new
// members come last. Keys and values must live as long as the arena given to finish().
class MapEdit {
 public:
  explicit MapEdit(const json::Value& object);

  json::Value* find(std::string_view key);
  void set(std::string_view key, json::Value value);
  void erase(std::string_view key);
  // Visits what is there; `keep(key)` false removes it.
  template <typename Keep>
  void retain(Keep keep) {
    for (Entry& entry : entries_) {
      entry.alive = entry.alive && keep(entry.member.key);
    }
  }
  json::Value finish(json::Arena& arena) const;

 private:
  struct Entry {
    json::Member member;
    bool alive = true;
  };
  Entry* entry(std::string_view key);

  std::vector<Entry> entries_;
  // Positions by key, dead entries too; built when the object is large enough to need it. Not
  // hashed: clients choose the keys.
  std::map<std::string_view, std::size_t> index_;
};

// Arrays and objects over copies of the given children in the arena.
json::Value make_array(json::Arena& arena, const std::vector<json::Value>& items);
json::Value make_object(json::Arena& arena, const std::vector<json::Member>& members);

}  // namespace codeflare::apiserver::internal
