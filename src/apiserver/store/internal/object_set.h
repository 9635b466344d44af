#pragma once

#include "apiserver/store/object.h"

#include <compare>
#include <functional>
#include <set>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace codeflare::apiserver {

// The order of lists. Views into whatever names the object.
struct KeyView {
  std::string_view ns;
  std::string_view name;
  friend auto operator<=>(const KeyView&, const KeyView&) = default;
};

inline KeyView key_of(const Object& object) {
  return {object.ns(), object.name()};
}

struct ByKey {
  using is_transparent = void;
  bool operator()(const ObjectPtr& a, const ObjectPtr& b) const { return key_of(*a) < key_of(*b); }
  bool operator()(const ObjectPtr& a, const KeyView& b) const { return key_of(*a) < b; }
  bool operator()(const KeyView& a, const ObjectPtr& b) const { return a < key_of(*b); }
};

// One reference per object and no copy of its key.
using ObjectSet = std::set<ObjectPtr, ByKey>;

// Finds objects by their uid. Its order is never shown.
class UidIndex {
 public:
  ObjectPtr find(std::string_view uid) const {
    auto found = objects_.find(uid);
    return found == objects_.end() ? nullptr : (*found)->shared_from_this();
  }
  // Either may be null. Should two objects have one uid, the later one is found.
  void replace(const Object* before, const Object* after) {
    if (before != nullptr) {
      auto found = objects_.find(before);
      if (found != objects_.end() && *found == before) {
        objects_.erase(found);
      }
    }
    if (after != nullptr && !after->uid().empty()) {
      auto [entry, is_new] = objects_.insert(after);
      if (!is_new) {
        objects_.erase(entry);
        objects_.insert(after);
      }
    }
  }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view uid) const {
      return std::hash<std::string_view>()(uid);
    }
    std::size_t operator()(const Object* object) const { return (*this)(object->uid()); }
  };
  struct Equal {
    using is_transparent = void;
    static std::string_view uid(std::string_view text) { return text; }
    static std::string_view uid(const Object* object) { return object->uid(); }
    bool operator()(const auto& a, const auto& b) const { return uid(a) == uid(b); }
  };
  std::unordered_set<const Object*, Hash, Equal> objects_;
};

}  // namespace codeflare::apiserver
