#include "apiserver/patch/internal/field_set.h"

#include "apiserver/patch/internal/map_edit.h"

#include <algorithm>
#include <memory>

namespace codeflare::apiserver::internal {
namespace {

FieldSet store(json::Arena& arena, const std::vector<FieldEntry>& entries) {
  if (entries.empty()) {
    return {};
  }
  std::size_t bytes = entries.size() * sizeof(FieldEntry);
  auto* storage = static_cast<FieldEntry*>(arena.allocate(bytes, alignof(FieldEntry)));
  std::uninitialized_copy(entries.begin(), entries.end(), storage);
  return FieldSet({storage, entries.size()});
}

bool before(const FieldEntry& a, const FieldEntry& b) {
  return compare(a.element, b.element) < 0;
}

// Walks two sets in step: only_a, only_b or both per element.
template <typename OnlyA, typename OnlyB, typename Both>
void zip(FieldSet a, FieldSet b, OnlyA only_a, OnlyB only_b, Both both) {
  auto left = a.entries();
  auto right = b.entries();
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < left.size() || j < right.size()) {
    auto order = i == left.size()    ? std::weak_ordering::greater
                 : j == right.size() ? std::weak_ordering::less
                                     : compare(left[i].element, right[j].element);
    if (order < 0) {
      only_a(left[i++]);
    } else if (order > 0) {
      only_b(right[j++]);
    } else {
      both(left[i++], right[j++]);
    }
  }
}

void keep(std::vector<FieldEntry>& out, const FieldEntry& entry) {
  if (entry.member || !entry.children.empty()) {
    out.push_back(entry);
  }
}

bool same(const FieldEntry& a, const FieldEntry& b) {
  return a.member == b.member && a.children.same(b.children);
}

FieldSet subtract(json::Arena& arena, FieldSet a, FieldSet b, bool below) {
  if (a.empty() || b.empty()) {
    return a;
  }
  std::vector<FieldEntry> out;
  bool changed = false;
  zip(
      a, b, [&](const FieldEntry& entry) { out.push_back(entry); }, [](const FieldEntry&) {},
      [&](const FieldEntry& left, const FieldEntry& right) {
        FieldEntry entry = left;
        entry.member = left.member && !right.member;
        entry.children = below && right.member
                             ? FieldSet()
                             : subtract(arena, left.children, right.children, below);
        changed = changed || !same(entry, left);
        keep(out, entry);
      });
  return changed ? store(arena, out) : a;
}

// Entries of one element as one. All children at once: joined one after the other, many entries
// would cost quadratic time.
FieldEntry joined(json::Arena& arena, std::span<const FieldEntry> same_element) {
  FieldEntry result = same_element.front();
  if (same_element.size() == 1) {
    return result;
  }
  std::vector<FieldEntry> children;
  for (const FieldEntry& entry : same_element) {
    result.member = result.member || entry.member;
    children.insert(children.end(), entry.children.entries().begin(),
                    entry.children.entries().end());
  }
  result.children = make_set(arena, children);
  return result;
}

void visit_paths(FieldSet set, FieldPath& path,
                 const std::function<void(const FieldPath&)>& visit) {
  for (const FieldEntry& entry : set.entries()) {
    if (entry.member) {
      path.push_back(entry.element);
      visit(path);
      path.pop_back();
    }
  }
  for (const FieldEntry& entry : set.entries()) {
    path.push_back(entry.element);
    visit_paths(entry.children, path, visit);
    path.pop_back();
  }
}

}  // namespace

const FieldEntry* FieldSet::find(const PathElement& element) const {
  auto at = std::lower_bound(
      data_, data_ + size_, element,
      [](const FieldEntry& entry, const PathElement& e) { return compare(entry.element, e) < 0; });
  return at == data_ + size_ || compare(at->element, element) != 0 ? nullptr : at;
}

FieldSet make_set(json::Arena& arena, std::vector<FieldEntry>& entries) {
  std::erase_if(entries, [](const FieldEntry& e) { return !e.member && e.children.empty(); });
  if (!std::ranges::is_sorted(entries, before)) {
    std::ranges::sort(entries, before);
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < entries.size();) {
    std::size_t end = i + 1;
    while (end < entries.size() && compare(entries[i].element, entries[end].element) == 0) {
      ++end;
    }
    entries[kept++] = joined(arena, std::span(entries).subspan(i, end - i));
    i = end;
  }
  entries.resize(kept);
  return store(arena, entries);
}

FieldSet set_union(json::Arena& arena, FieldSet a, FieldSet b) {
  if (b.empty() || a.same(b)) {
    return a;
  }
  if (a.empty()) {
    return b;
  }
  std::vector<FieldEntry> out;
  bool changed = false;
  zip(
      a, b, [&](const FieldEntry& entry) { out.push_back(entry); },
      [&](const FieldEntry& entry) {
        changed = true;
        out.push_back(entry);
      },
      [&](const FieldEntry& left, const FieldEntry& right) {
        FieldEntry entry{left.element, left.member || right.member,
                         set_union(arena, left.children, right.children)};
        changed = changed || !same(entry, left);
        out.push_back(entry);
      });
  return changed ? store(arena, out) : a;
}

FieldSet set_intersection(json::Arena& arena, FieldSet a, FieldSet b) {
  if (a.empty() || b.empty()) {
    return {};
  }
  std::vector<FieldEntry> out;
  auto ignore = [](const FieldEntry&) {};
  zip(a, b, ignore, ignore, [&](const FieldEntry& left, const FieldEntry& right) {
    keep(out, {left.element, left.member && right.member,
               set_intersection(arena, left.children, right.children)});
  });
  return store(arena, out);
}

FieldSet set_difference(json::Arena& arena, FieldSet a, FieldSet b) {
  return subtract(arena, a, b, false);
}

FieldSet set_subtract_below(json::Arena& arena, FieldSet a, FieldSet b) {
  return subtract(arena, a, b, true);
}

bool equal(FieldSet a, FieldSet b) {
  if (a.same(b)) {
    return true;
  }
  return std::ranges::equal(a.entries(), b.entries(), [](const FieldEntry& x, const FieldEntry& y) {
    return x.member == y.member && compare(x.element, y.element) == 0 &&
           equal(x.children, y.children);
  });
}

bool has_path(FieldSet set, std::span<const PathElement> path) {
  const FieldEntry* entry = nullptr;
  for (const PathElement& element : path) {
    entry = set.find(element);
    if (entry == nullptr) {
      return false;
    }
    set = entry->children;
  }
  return entry != nullptr && entry->member;
}

FieldSet set_of_names(json::Arena& arena, std::span<const std::string_view> paths) {
  std::vector<FieldEntry> entries;
  for (std::string_view path : paths) {
    std::size_t dot = path.find('.');
    FieldEntry entry{PathElement::field(path.substr(0, dot)), dot == path.npos};
    if (dot != path.npos) {
      std::string_view rest = path.substr(dot + 1);
      entry.children = set_of_names(arena, {&rest, 1});
    }
    entries.push_back(entry);
  }
  return make_set(arena, entries);
}

std::string to_text(const FieldPath& path) {
  std::string text;
  for (const PathElement& element : path) {
    append_display(text, element);
  }
  return text;
}

void for_each_path(FieldSet set, const std::function<void(const FieldPath&)>& visit) {
  FieldPath path;
  visit_paths(set, path, visit);
}

Result<FieldSet> parse_fields(json::Arena& arena, const json::Value& fields) {
  std::vector<FieldEntry> entries;
  entries.reserve(fields.size());
  for (const json::Member& member : fields.members()) {
    if (member.key == ".") {
      continue;
    }
    auto element = parse_element(arena, member.key);
    if (!element) {
      bool unknown = member.key.size() >= 2 && member.key[1] == ':' &&
                     std::string_view("fkvi").find(member.key[0]) == std::string_view::npos;
      if (unknown) {
        continue;
      }
      return fail(invalid_argument("\"" + std::string(member.key) + "\" is not a path element"));
    }
    TRY_ASSIGN(FieldSet children, parse_fields(arena, member.value));
    // An element with nothing below it stands for itself.
    bool is_member = children.empty() || member.value.find(".") != nullptr;
    entries.push_back({*element, is_member, children});
  }
  return make_set(arena, entries);
}

json::Value write_fields(json::Arena& arena, FieldSet set) {
  std::vector<json::Member> members;
  std::string key;
  auto entries = set.entries();
  members.reserve(entries.size());
  for (const FieldEntry& entry : entries) {
    key.clear();
    append_element(key, entry.element);
    json::Value below = write_fields(arena, entry.children);
    if (entry.member && !entry.children.empty()) {
      std::vector<json::Member> with_self = {{".", json::Value::object()}};
      with_self.insert(with_self.end(), below.members().begin(), below.members().end());
      below = make_object(arena, with_self);
    }
    members.push_back({arena.copy(key), below});
  }
  return make_object(arena, members);
}

}  // namespace codeflare::apiserver::internal
