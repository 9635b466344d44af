#include "apiserver/patch/internal/typed_merge.h"

#include "apiserver/patch/internal/map_edit.h"
#include "apiserver/patch/internal/typed.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace codeflare::apiserver::internal {
namespace {

using json::Member;
using json::Value;
using schema::Node;

class Merger {
 public:
  explicit Merger(json::Arena& arena) : arena_(arena) {}
  // One of the two may be null. Nothing: no value is left.
  std::optional<Value> merge(const Node& node, const Value* live, const Value* applied);

 private:
  std::optional<Value> merge_maps(const Node& node, const Value* live, const Value* applied);
  std::optional<Value> merge_lists(const Node& node, const Value* live, const Value* applied);

  json::Arena& arena_;
};

std::optional<Value> Merger::merge(const Node& node, const Value* live, const Value* applied) {
  Atom atom = atom_of(node, applied == nullptr ? *live : *applied);
  json::Kind kind = atom == Atom::list ? json::Kind::array : json::Kind::object;
  auto children = [&](const Value* value) {
    return value != nullptr && value->kind() == kind ? value : nullptr;
  };
  const Value* old_children = children(live);
  const Value* new_children = children(applied);
  auto is_empty = [](const Value* value) { return value == nullptr || value->size() == 0; };
  if (is_atomic(node, atom) || (is_empty(old_children) && is_empty(new_children))) {
    return applied != nullptr ? *applied : *live;
  }
  return atom == Atom::map ? merge_maps(node, old_children, new_children)
                           : merge_lists(node, old_children, new_children);
}

std::optional<Value> Merger::merge_maps(const Node& node, const Value* live, const Value* applied) {
  if (applied == nullptr) {
    return *live;
  }
  MapEdit result(live == nullptr ? Value::object() : *live);
  for (const Member& member : applied->members()) {
    const Value* old = result.find(member.key);
    auto merged = merge(member_node_or_any(node, member.key), old, &member.value);
    if (merged) {
      result.set(member.key, *merged);
    } else {
      result.erase(member.key);
    }
  }
  Value map = result.finish(arena_);
  return map.size() == 0 ? std::nullopt : std::optional(map);
}

// Items of `applied` in their order; those that only `live` has stay where they are relative to
// the items that both have.
class ListMerge {
 public:
  ListMerge(const std::vector<PathElement>& live, const std::vector<PathElement>& applied)
      : live_(live), applied_(applied), in_live_(live), in_applied_(applied) {
    for (const PathElement& element : applied) {
      if (!in_live_.find(element).empty()) {
        shared_.push_back(&element);
      }
    }
  }

  // take(live position or -1, applied position or -1): one item of the result, in order.
  template <typename Take>
  void run(Take take) {
    std::vector<bool> merged(applied_.size(), false);
    std::size_t shared = 0;
    std::size_t l = 0;
    std::size_t r = 0;
    auto next_shared = [&]() { return shared < shared_.size() ? shared_[shared] : nullptr; };
    auto take_applied = [&]() {
      merged[r] = true;
      take(only_live_position(applied_[r]), static_cast<std::ptrdiff_t>(r));
    };
    while (l < live_.size() || r < applied_.size()) {
      if (l < live_.size() && r < applied_.size()) {
        if (compare(live_[l], applied_[r]) == 0) {
          take_applied();
          ++l;
          ++r;
          ++shared;
          continue;
        }
        bool wanted = next_shared() != nullptr && compare(*next_shared(), live_[l]) != 0;
        if (wanted && !in_applied_.find(live_[l]).empty()) {
          ++l;  // it comes where the configuration has it
          continue;
        }
      }
      if (l < live_.size()) {
        auto in_applied = in_applied_.find(live_[l]);
        if (in_applied.empty()) {
          take(static_cast<std::ptrdiff_t>(l), -1);
          ++l;
          continue;
        }
        if (merged[in_applied[0]]) {
          ++l;
        }
      }
      if (r < applied_.size()) {
        bool was_shared = next_shared() != nullptr && compare(*next_shared(), applied_[r]) == 0;
        take_applied();
        ++r;
        shared += was_shared ? 1 : 0;
      }
    }
  }

 private:
  // Repeated items are not merged with anything.
  std::ptrdiff_t only_live_position(const PathElement& element) const {
    auto at = in_live_.find(element);
    return at.size() == 1 ? static_cast<std::ptrdiff_t>(at[0]) : -1;
  }

  const std::vector<PathElement>& live_;
  const std::vector<PathElement>& applied_;
  ItemIndex in_live_;
  ItemIndex in_applied_;
  std::vector<const PathElement*> shared_;
};

std::optional<Value> Merger::merge_lists(const Node& node, const Value* live,
                                         const Value* applied) {
  if (applied == nullptr) {
    return *live;
  }
  std::span<const Value> old_items = live == nullptr ? std::span<const Value>() : live->items();
  std::span<const Value> new_items = applied->items();
  std::vector<PathElement> old_elements = item_elements(arena_, node, old_items);
  std::vector<PathElement> new_elements = item_elements(arena_, node, new_items);
  std::vector<Value> result;
  ListMerge(old_elements, new_elements).run([&](std::ptrdiff_t old_at, std::ptrdiff_t new_at) {
    auto at = [](std::span<const Value> items, std::ptrdiff_t position) {
      return position < 0 ? nullptr : &items[static_cast<std::size_t>(position)];
    };
    auto merged = merge(item_node(node), at(old_items, old_at), at(new_items, new_at));
    if (merged) {
      result.push_back(*merged);
    }
  });
  return result.empty() ? std::nullopt : std::optional(make_array(arena_, result));
}

class Remover {
 public:
  explicit Remover(json::Arena& arena) : arena_(arena) {}
  Value remove(const Node& node, const Value& value, FieldSet items);

 private:
  json::Arena& arena_;
};

Value Remover::remove(const Node& node, const Value& value, FieldSet items) {
  Atom atom = atom_of(node, value);
  if (atom == Atom::scalar) {
    return value;
  }
  if (is_atomic(node, atom)) {
    return {};
  }
  if (atom == Atom::map) {
    std::vector<Member> members;
    members.reserve(value.size());
    for (const Member& member : value.members()) {
      const FieldEntry* entry = items.find(PathElement::field(member.key));
      if (entry == nullptr) {
        members.push_back(member);
      } else if (!entry->member) {
        const Node& child = member_node_or_any(node, member.key);
        members.push_back({member.key, remove(child, member.value, entry->children)});
      }
    }
    return members.empty() ? Value() : make_object(arena_, members);
  }
  std::vector<Value> kept;
  std::vector<PathElement> elements = item_elements(arena_, node, value.items());
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const FieldEntry* entry = items.find(elements[i]);
    if (entry == nullptr) {
      kept.push_back(value.items()[i]);
    } else if (!entry->member) {
      kept.push_back(remove(item_node(node), value.items()[i], entry->children));
    }
  }
  return kept.empty() ? Value() : make_array(arena_, kept);
}

// Where an element of a set leads to; null: the schema says nothing of it.
const Node* node_at(const Node* node, const PathElement& element) {
  if (node == nullptr) {
    return nullptr;
  }
  switch (element.kind) {
    case PathElement::Kind::field:
      return node->shape == schema::Shape::list ? nullptr
                                                : member_node(*node, element.what.as_string());
    case PathElement::Kind::key:
    case PathElement::Kind::value:
      return node->shape == schema::Shape::list ? &item_node(*node) : nullptr;
    case PathElement::Kind::index:
      return nullptr;
  }
  return nullptr;
}

FieldSet name_fields(json::Arena& arena, const Node* node, FieldSet set) {
  if (set.empty()) {
    return set;
  }
  std::vector<FieldEntry> entries(set.entries().begin(), set.entries().end());
  for (FieldEntry& entry : entries) {
    bool named = node != nullptr && entry.element.kind == PathElement::Kind::field &&
                 is_named_field(*node, entry.element.what.as_string());
    entry.member = entry.member || named;
    entry.children = name_fields(arena, node_at(node, entry.element), entry.children);
  }
  return make_set(arena, entries);
}

FieldSet reconcile_below(json::Arena& arena, const Node& node, FieldSet set) {
  std::vector<FieldEntry> entries;
  bool changed = false;
  for (const FieldEntry& old : set.entries()) {
    FieldEntry entry = old;
    const Node* child = node_at(&node, old.element);
    if (child != nullptr && !old.children.empty()) {
      bool list = child->shape == schema::Shape::list;
      bool map = child->shape == schema::Shape::structure || child->shape == schema::Shape::map;
      if ((list && is_atomic(*child, Atom::list)) || (map && is_atomic(*child, Atom::map))) {
        entry.member = true;
        entry.children = {};
      } else {
        entry.children = reconcile_below(arena, *child, old.children);
      }
    }
    changed = changed || entry.member != old.member || !entry.children.same(old.children);
    entries.push_back(entry);
  }
  return changed ? make_set(arena, entries) : set;
}

}  // namespace

namespace {

bool shares_children(const Value& a, const Value& b) {
  return a.members().data() == b.members().data() && a.items().data() == b.items().data() &&
         a.size() == b.size();
}

}  // namespace

Value merge_objects(json::Arena& arena, const Node& node, const Value& live, const Value& applied) {
  return Merger(arena).merge(node, &live, &applied).value_or(Value::object());
}

Value remove_items(json::Arena& arena, const Node& node, const Value& object, FieldSet items) {
  if (items.empty()) {
    return object;
  }
  Value result = Remover(arena).remove(node, object, items);
  return result.is_null() ? Value::object() : result;
}

FieldSet with_named_fields(json::Arena& arena, const Node& node, FieldSet set) {
  return name_fields(arena, &node, set);
}

FieldSet reconcile(json::Arena& arena, const Node& node, FieldSet set) {
  return reconcile_below(arena, node, set);
}

Value without_nulls(json::Arena& arena, const Node& node, const Value& value) {
  bool changed = false;
  if (value.is_object()) {
    std::vector<Member> members;
    members.reserve(value.size());
    for (const Member& member : value.members()) {
      const Node& child = member_node_or_any(node, member.key);
      if (member.value.is_null() && !child.nullable && child.shape != schema::Shape::any) {
        changed = true;
        continue;
      }
      Value kept = without_nulls(arena, child, member.value);
      changed = changed || !shares_children(kept, member.value);
      members.push_back({member.key, kept});
    }
    return changed ? make_object(arena, members) : value;
  }
  if (value.is_array()) {
    std::vector<Value> items;
    items.reserve(value.size());
    for (const Value& item : value.items()) {
      Value kept = without_nulls(arena, item_node(node), item);
      changed = changed || !shares_children(kept, item);
      items.push_back(kept);
    }
    return changed ? make_array(arena, items) : value;
  }
  return value;
}

}  // namespace codeflare::apiserver::internal
