#pragma once

#include "apiserver/patch/internal/path_element.h"
#include "base/result.h"
#include "json/value.h"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Sets of field paths: who owns what of an object (FieldsV1).
namespace codeflare::apiserver::internal {

struct FieldEntry;

// An immutable trie in an arena; copies share everything. Entries are sorted, and none is without
// a meaning: it is a member or has children.
class FieldSet {
 public:
  FieldSet() = default;
  // Sorted entries without repeats, already in an arena.
  explicit FieldSet(std::span<const FieldEntry> entries);

  std::span<const FieldEntry> entries() const;
  bool empty() const { return size_ == 0; }
  // The same storage, so certainly the same set.
  bool same(const FieldSet& other) const { return data_ == other.data_ && size_ == other.size_; }
  const FieldEntry* find(const PathElement& element) const;

 private:
  const FieldEntry* data_ = nullptr;
  std::uint32_t size_ = 0;
};

struct FieldEntry {
  PathElement element;
  bool member = false;
  FieldSet children{};
};

inline FieldSet::FieldSet(std::span<const FieldEntry> entries)
    : data_(entries.data()), size_(static_cast<std::uint32_t>(entries.size())) {}
inline std::span<const FieldEntry> FieldSet::entries() const {
  return {data_, size_};
}

// Sorts, joins equal elements, drops what means nothing.
FieldSet make_set(json::Arena& arena, std::vector<FieldEntry>& entries);

// Operations return one of their operands where that is the result.
FieldSet set_union(json::Arena& arena, FieldSet a, FieldSet b);
FieldSet set_intersection(json::Arena& arena, FieldSet a, FieldSet b);
// Members of `a` that are not members of `b`; what lies below a member of `b` stays.
FieldSet set_difference(json::Arena& arena, FieldSet a, FieldSet b);
// As set_difference, and everything below a member of `b` goes as well.
FieldSet set_subtract_below(json::Arena& arena, FieldSet a, FieldSet b);

bool equal(FieldSet a, FieldSet b);
bool has_path(FieldSet set, std::span<const PathElement> path);

// From dotted names: "metadata.labels".
FieldSet set_of_names(json::Arena& arena, std::span<const std::string_view> paths);

using FieldPath = std::vector<PathElement>;
std::string to_text(const FieldPath& path);
// In upstream's order: the members of a level, then what is below.
void for_each_path(FieldSet set, const std::function<void(const FieldPath&)>& visit);

// FieldsV1 to set and back. Unknown kinds of elements are dropped; malformed ones are an error.
Result<FieldSet> parse_fields(json::Arena& arena, const json::Value& fields);
// Everything of the result lives in the arena.
json::Value write_fields(json::Arena& arena, FieldSet set);

}  // namespace codeflare::apiserver::internal
