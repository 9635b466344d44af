#include "apiserver/patch/internal/compare.h"

#include "apiserver/patch/internal/typed.h"
#include "json/member_index.h"

#include <algorithm>
#include <span>
#include <vector>

namespace codeflare::apiserver::internal {
namespace {

using json::Member;
using json::Value;
using schema::Node;

// The entries of one level while it is being walked.
struct Level {
  std::vector<FieldEntry> removed;
  std::vector<FieldEntry> modified;
  std::vector<FieldEntry> added;
};

class Comparer {
 public:
  explicit Comparer(json::Arena& arena) : arena_(arena) {}

  // Which sets hold the value itself.
  struct Self {
    bool removed = false;
    bool modified = false;
    bool added = false;
  };
  // Changes below go into the level; one of `from` and `to` may be null: absent.
  Self compare(const Node& node, const Value* from, const Value* to, Level& below);
  Changes finish(Level& level);

 private:
  bool descend(const Node& node, Atom atom, const Value* from, const Value* to, Level& below,
               Self& self);
  void compare_maps(const Node& node, const Value* from, const Value* to, Level& out);
  void compare_lists(const Node& node, const Value* from, const Value* to, Level& out);
  void child(const Node& node, PathElement element, const Value* from, const Value* to, Level& out);
  void items_of(const Node& list, PathElement element, std::span<const std::size_t> old_at,
                std::span<const std::size_t> new_at, std::span<const Value> old_items,
                std::span<const Value> new_items, Level& out);

  json::Arena& arena_;
  int depth_ = 0;  // of the values that child() is called with
};

// Down to here parts are compared as a whole first: most writes leave the spec or the status alone.
// Not everywhere, or a deep value would be gone through once for each of its levels.
constexpr int kWholeParts = 2;

const Value* of_kind(const Value* value, json::Kind kind) {
  return value != nullptr && value->kind() == kind ? value : nullptr;
}

bool is_empty(const Value* value) {
  return value == nullptr || value->size() == 0;
}

// True: the value is a leaf here.
bool Comparer::descend(const Node& node, Atom atom, const Value* from, const Value* to,
                       Level& below, Self& self) {
  json::Kind kind = atom == Atom::list ? json::Kind::array : json::Kind::object;
  const Value* old_children = of_kind(from, kind);
  const Value* new_children = of_kind(to, kind);
  // Nothing on either side keeps the difference between empty, null and absent.
  bool leaf = is_atomic(node, atom) || (is_empty(old_children) && is_empty(new_children));
  if (!leaf) {
    if (atom == Atom::map) {
      compare_maps(node, old_children, new_children, below);
    } else {
      compare_lists(node, old_children, new_children, below);
    }
    return false;
  }
  if (from == nullptr) {
    self.added = true;
  } else if (to == nullptr) {
    self.removed = true;
  } else if (!json::equal(*from, *to)) {
    self.modified = true;
  }
  return true;
}

Comparer::Self Comparer::compare(const Node& node, const Value* from, const Value* to,
                                 Level& below) {
  Self self;
  Atom atom = atom_of(node, to == nullptr ? *from : *to);
  if (from != nullptr && to != nullptr) {
    // Where the schema leaves it open a value may change its nature: what it was is taken apart,
    // then what it is.
    if (Atom old_atom = atom_of(node, *from); old_atom != atom) {
      descend(node, old_atom, from, to, below, self);
    }
  }
  if (!descend(node, atom, from, to, below, self)) {
    self.added = self.added || from == nullptr;
    self.removed = self.removed || to == nullptr;
  }
  return self;
}

void Comparer::child(const Node& node, PathElement element, const Value* from, const Value* to,
                     Level& out) {
  bool both = from != nullptr && to != nullptr;
  bool scalars = both && from->size() == 0 && to->size() == 0;
  if (both && (scalars || depth_ < kWholeParts) && json::equal(*from, *to)) {
    return;
  }
  Level below;
  ++depth_;
  Self self = compare(node, from, to, below);
  --depth_;
  auto add = [&](std::vector<FieldEntry>& entries, bool member, std::vector<FieldEntry>& children) {
    if (member || !children.empty()) {
      entries.push_back({element, member, make_set(arena_, children)});
    }
  };
  add(out.removed, self.removed, below.removed);
  add(out.modified, self.modified, below.modified);
  add(out.added, self.added, below.added);
}

void Comparer::compare_maps(const Node& node, const Value* from, const Value* to, Level& out) {
  std::span<const Member> old_members =
      from == nullptr ? std::span<const Member>() : from->members();
  std::span<const Member> new_members = to == nullptr ? std::span<const Member>() : to->members();
  json::MemberIndex in_new(new_members);
  std::size_t common = 0;
  for (const Member& member : old_members) {
    const Value* now = in_new.find(member.key);
    common += now != nullptr ? 1 : 0;
    child(member_node_or_any(node, member.key), PathElement::field(member.key), &member.value, now,
          out);
  }
  if (common == new_members.size()) {
    return;
  }
  out.added.reserve(out.added.size() + new_members.size() - common);
  json::MemberIndex in_old(old_members);
  for (const Member& member : new_members) {
    if (in_old.find(member.key) == nullptr) {
      child(member_node_or_any(node, member.key), PathElement::field(member.key), nullptr,
            &member.value, out);
    }
  }
}

// Several items with one element are owned together, as if they were atomic.
void Comparer::items_of(const Node& list, PathElement element, std::span<const std::size_t> old_at,
                        std::span<const std::size_t> new_at, std::span<const Value> old_items,
                        std::span<const Value> new_items, Level& out) {
  const Node& node = item_node(list);
  auto old_item = [&]() { return old_at.empty() ? nullptr : &old_items[old_at[0]]; };
  auto new_item = [&]() { return new_at.empty() ? nullptr : &new_items[new_at[0]]; };
  if (old_at.size() <= 1 && new_at.size() <= 1) {
    child(node, element, old_item(), new_item(), out);
  } else if (old_at.size() >= 2 && new_at.size() >= 2) {
    bool same = std::ranges::equal(old_at, new_at, [&](std::size_t a, std::size_t b) {
      return json::equal(old_items[a], new_items[b]);
    });
    if (!same) {
      out.modified.push_back({element, true});
    }
  } else if (old_at.size() >= 2) {
    if (!new_at.empty()) {
      child(node, element, nullptr, new_item(), out);
    }
    out.removed.push_back({element, true});
  } else {
    if (!old_at.empty()) {
      child(node, element, old_item(), nullptr, out);
    }
    out.added.push_back({element, true});
  }
}

void Comparer::compare_lists(const Node& node, const Value* from, const Value* to, Level& out) {
  if (from != nullptr && to != nullptr && json::equal(*from, *to)) {
    return;
  }
  std::span<const Value> old_items = from == nullptr ? std::span<const Value>() : from->items();
  std::span<const Value> new_items = to == nullptr ? std::span<const Value>() : to->items();
  std::vector<PathElement> old_elements = item_elements(arena_, node, old_items);
  std::vector<PathElement> new_elements = item_elements(arena_, node, new_items);
  ItemIndex in_old(old_elements);
  ItemIndex in_new(new_elements);
  for (std::size_t i = 0; i < old_elements.size(); ++i) {
    auto old_at = in_old.find(old_elements[i]);
    if (old_at[0] == i) {
      items_of(node, old_elements[i], old_at, in_new.find(old_elements[i]), old_items, new_items,
               out);
    }
  }
  for (std::size_t i = 0; i < new_elements.size(); ++i) {
    auto new_at = in_new.find(new_elements[i]);
    if (new_at[0] == i && in_old.find(new_elements[i]).empty()) {
      items_of(node, new_elements[i], {}, new_at, old_items, new_items, out);
    }
  }
}

Changes Comparer::finish(Level& level) {
  return {make_set(arena_, level.removed), make_set(arena_, level.modified),
          make_set(arena_, level.added)};
}

class SetMaker {
 public:
  explicit SetMaker(json::Arena& arena) : arena_(arena) {}

  // The paths below; `self`: the value itself is one.
  FieldSet below(const Node& node, const Value& value, bool& self);

 private:
  FieldSet of_map(const Node& node, const Value& map);
  FieldSet of_list(const Node& node, const Value& list);

  json::Arena& arena_;
};

FieldSet SetMaker::below(const Node& node, const Value& value, bool& self) {
  Atom atom = atom_of(node, value);
  self = is_atomic(node, atom);
  if (self) {
    return {};
  }
  return atom == Atom::map ? of_map(node, value) : of_list(node, value);
}

FieldSet SetMaker::of_map(const Node& node, const Value& map) {
  std::vector<FieldEntry> entries;
  entries.reserve(map.size());
  for (const Member& member : map.members()) {
    bool self = false;
    FieldSet children = below(member_node_or_any(node, member.key), member.value, self);
    bool empty_map = member.value.is_object() && member.value.size() == 0;
    self = self || member.value.is_null() || empty_map || !is_named_field(node, member.key);
    entries.push_back({PathElement::field(member.key), self, children});
  }
  return make_set(arena_, entries);
}

FieldSet SetMaker::of_list(const Node& node, const Value& list) {
  std::vector<PathElement> elements = item_elements(arena_, node, list.items());
  ItemIndex index(elements);
  std::vector<FieldEntry> entries;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    auto at = index.find(elements[i]);
    if (at[0] != i) {
      continue;
    }
    bool self = false;
    FieldSet children;
    if (at.size() == 1) {
      children = below(item_node(node), list.items()[i], self);
    }
    entries.push_back({elements[i], true, children});
  }
  return make_set(arena_, entries);
}

}  // namespace

Changes compare_objects(json::Arena& arena, const Node& node, const Value& from, const Value& to) {
  Comparer comparer(arena);
  Level level;
  comparer.compare(node, &from, &to, level);
  return comparer.finish(level);
}

FieldSet set_of_object(json::Arena& arena, const Node& node, const Value& object) {
  bool self = false;
  return SetMaker(arena).below(node, object, self);
}

}  // namespace codeflare::apiserver::internal
