#pragma once

#include "kube/object.h"
#include "model/gvk.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::runtime {

using kube::ObjectRef;
using model::ObjectKey;

// The objects of one kind as last seen, in key order, with secondary indexes. Objects are immutable
// and shared: readers may keep what they got. The store holds one reference per object and no copy
// of its key.
class Store {
 public:
  // Gives the index keys of an object; may give none. The views are copied.
  using IndexFunction = std::function<void(const kube::Object&, std::vector<std::string>& keys)>;

  // Before the first object arrives.
  void add_index(std::string name, IndexFunction function);

  // Null when absent.
  ObjectRef get(std::string_view ns, std::string_view name) const;
  ObjectRef get(const ObjectKey& key) const { return get(key.ns, key.name); }
  // All objects, or those of one namespace, in key order.
  std::vector<ObjectRef> list(std::string_view ns = {}) const;
  std::vector<ObjectRef> by_index(std::string_view index, std::string_view key) const;
  std::size_t size() const { return entries_.size(); }

  // Stores the object unless what is there is the same or newer. `changed` tells; `old` is what
  // was there before.
  struct Change {
    bool changed = false;
    ObjectRef old;
  };
  Change apply(ObjectRef object);
  // Removes and returns what was there; null when nothing was.
  ObjectRef erase(std::string_view ns, std::string_view name);

  // Around the objects of a fresh list: what was not applied in between is gone, and is removed
  // and returned by end_replace(). Nothing is held twice.
  void begin_replace();
  std::vector<ObjectRef> end_replace();

 private:
  struct Entry {
    ObjectRef object;
    // Which replace last saw the object; not part of the order.
    mutable std::uint32_t epoch = 0;
  };
  struct KeyView {
    std::string_view ns;
    std::string_view name;
    friend auto operator<=>(const KeyView&, const KeyView&) = default;
  };
  static KeyView key_of(const Entry& entry) { return {entry.object->ns(), entry.object->name()}; }
  struct ByKey {
    using is_transparent = void;
    bool operator()(const Entry& a, const Entry& b) const { return key_of(a) < key_of(b); }
    bool operator()(const Entry& a, const KeyView& b) const { return key_of(a) < b; }
    bool operator()(const KeyView& a, const Entry& b) const { return a < key_of(b); }
  };
  struct Index {
    IndexFunction function;
    // Ordered by key, so that results are too.
    std::map<std::string, std::set<Entry, ByKey>, std::less<>> entries;
  };

  void add_to_indexes(const ObjectRef& object);
  void remove_from_indexes(const ObjectRef& object);

  std::set<Entry, ByKey> entries_;
  std::map<std::string, Index, std::less<>> indexes_;
  std::uint32_t epoch_ = 0;
};

}  // namespace codeflare::runtime
