#include "json/internal/tree_builder.h"

#include "json/parse.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <span>

namespace codeflare::json::internal {

namespace {

// Up to here each key is compared with its likely twins; beyond, keys are sorted, so that a
// hostile object cannot cost quadratic time.
constexpr std::size_t kSmallObject = 48;

// One of 64 bits by length and the ends of the key: twins share it, different keys seldom do.
std::uint64_t bit_of(std::string_view key) {
  if (key.empty()) {
    return 1;
  }
  auto first = static_cast<unsigned char>(key.front());
  auto last = static_cast<unsigned char>(key.back());
  return std::uint64_t{1} << ((key.size() * 7 + first * 5u + last * 3u) & 63);
}

}  // namespace

void TreeBuilder::end_object() {
  std::size_t start = frames_.back().start;
  resolve_duplicates(start);
  std::size_t count = stack_.size() - start;
  Value result = Value::object();
  if (count > 0) {
    auto* members = static_cast<Member*>(arena_.allocate(count * sizeof(Member), alignof(Member)));
    std::uninitialized_copy_n(stack_.data() + start, count, members);
    result = Value::object_of({members, count});
  }
  stack_.resize(start);
  frames_.pop_back();
  value(result);
}

void TreeBuilder::end_array() {
  std::size_t start = frames_.back().start;
  std::size_t count = stack_.size() - start;
  Value result = Value::array();
  if (count > 0) {
    auto* items = static_cast<Value*>(arena_.allocate(count * sizeof(Value), alignof(Value)));
    for (std::size_t i = 0; i < count; ++i) {
      new (items + i) Value(stack_[start + i].value);
    }
    result = Value::array_of({items, count});
  }
  stack_.resize(start);
  frames_.pop_back();
  value(result);
}

// Leaves one member per key: at the place of the first, with the value of the last.
void TreeBuilder::resolve_duplicates(std::size_t start) {
  std::size_t count = stack_.size() - start;
  if (count > kSmallObject) {
    resolve_duplicates_sorted(start);
    return;
  }
  std::uint64_t seen = 0;
  std::size_t kept = start;
  for (std::size_t i = start; i < stack_.size(); ++i) {
    std::string_view key = stack_[i].key;
    std::uint64_t bit = bit_of(key);
    if ((seen & bit) != 0) {
      auto begin = stack_.begin() + static_cast<std::ptrdiff_t>(start);
      auto end = stack_.begin() + static_cast<std::ptrdiff_t>(kept);
      auto twin = std::find_if(begin, end, [&](const Member& m) { return m.key == key; });
      if (twin != end) {
        twin->value = stack_[i].value;
        report(key);
        continue;
      }
    }
    seen |= bit;
    if (kept != i) {
      stack_[kept] = stack_[i];
    }
    ++kept;
  }
  stack_.resize(kept);
}

void TreeBuilder::resolve_duplicates_sorted(std::size_t start) {
  std::span<Member> members(stack_.begin() + static_cast<std::ptrdiff_t>(start), stack_.end());
  std::vector<std::uint32_t> order(members.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    order[i] = i;
  }
  std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) {
    int compared = members[a].key.compare(members[b].key);
    return compared < 0 || (compared == 0 && a < b);
  });
  std::vector<bool> dropped(members.size());
  bool any = false;
  for (std::size_t i = 0; i < order.size();) {
    std::size_t first = i;
    while (++i < order.size() && members[order[i]].key == members[order[first]].key) {
      members[order[first]].value = members[order[i]].value;
      dropped[order[i]] = true;
      any = true;
    }
  }
  if (!any) {
    return;
  }
  std::size_t kept = start;
  for (std::size_t i = 0; i < dropped.size(); ++i) {
    if (dropped[i]) {
      report(members[i].key);
    } else {
      stack_[kept++] = members[i];
    }
  }
  stack_.resize(kept);
}

void TreeBuilder::report(std::string_view key) {
  if (duplicate_keys_ != nullptr && duplicate_keys_->size() < kDuplicateKeysMax) {
    duplicate_keys_->push_back(path_of(key));
  }
}

std::string TreeBuilder::path_of(std::string_view key) const {
  std::string path;
  for (std::size_t i = 0; i + 1 < frames_.size(); ++i) {
    std::uint32_t child_start = frames_[i + 1].start;
    if (frames_[i].is_object) {
      path += path.empty() ? "" : ".";
      path += stack_[child_start - 1].key;
    } else {
      path += '[' + std::to_string(child_start - frames_[i].start) + ']';
    }
  }
  path += path.empty() ? "" : ".";
  path += key;
  return path;
}

}  // namespace codeflare::json::internal
