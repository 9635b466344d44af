#pragma once

#include "base/text_map.h"
#include "kube/object.h"
#include "model/key_map.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace codeflare::runtime {

using kube::ObjectRef;
using model::ObjectKey;

// The objects of one kind as last seen, with secondary indexes. Objects are immutable
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
  // Neither part of the order nor of the hash: an object is replaced by one of the same key.
  struct Entry {
    mutable ObjectRef object;
    mutable std::uint32_t epoch = 0;  // which replace last saw it
  };
  struct KeyView {
    std::string_view ns;
    std::string_view name;
    friend auto operator<=>(const KeyView&, const KeyView&) = default;
  };
  static KeyView key_of(const ObjectRef& object) { return {object->ns(), object->name()}; }
  static KeyView key_of(const Entry& entry) { return key_of(entry.object); }
  static KeyView key_of(const KeyView& key) { return key; }
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(const auto& each) const {
      const KeyView key = key_of(each);
      return model::key_hash(key.ns, key.name);
    }
  };
  struct SameKey {
    using is_transparent = void;
    bool operator()(const auto& a, const auto& b) const { return key_of(a) == key_of(b); }
  };
  struct ByKey {
    bool operator()(const ObjectRef& a, const ObjectRef& b) const { return key_of(a) < key_of(b); }
  };
  struct Index {
    IndexFunction function;
    // Ordered by key, so that results are too.
    TextMap<std::set<ObjectRef, ByKey>> entries;
  };

  void add_to_indexes(const ObjectRef& object);
  void remove_from_indexes(const ObjectRef& object);

  std::unordered_set<Entry, Hash, SameKey> entries_;
  std::map<std::string, Index, std::less<>> indexes_;
  std::uint32_t epoch_ = 0;
};

}  // namespace codeflare::runtime
