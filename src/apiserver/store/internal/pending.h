#pragma once

#include "apiserver/store/internal/object_set.h"
#include "apiserver/store/store.h"

#include <set>
#include <tuple>
#include <utility>

namespace codeflare::apiserver {

// The newest sequenced state of every object that has writes under way.
class Pending {
 public:
  struct State {
    ObjectPtr object;  // of a removal: the last state under the removal's revision
    bool exists = true;
  };

  const State* find(CollectionId collection, const KeyView& key) const {
    auto found = states_.find(FullKey{collection, key});
    return found == states_.end() ? nullptr : &*found;
  }
  void put(State state) {
    auto found = states_.find(key_of_state(state));
    if (found == states_.end()) {
      states_.insert(std::move(state));
      return;
    }
    // The key is a view into the object, so both change together.
    auto node = states_.extract(found);
    node.value() = std::move(state);
    states_.insert(std::move(node));
  }
  // The write of this object has ended; a newer one stays.
  void resolve(const ObjectPtr& object) {
    auto found = states_.find(FullKey{object->collection(), key_of(*object)});
    if (found != states_.end() && found->object == object) {
      states_.erase(found);
    }
  }
  void clear() { states_.clear(); }
  bool empty() const { return states_.empty(); }

 private:
  using FullKey = std::pair<CollectionId, KeyView>;
  static FullKey key_of_state(const State& state) {
    return {state.object->collection(), key_of(*state.object)};
  }
  struct Order {
    using is_transparent = void;
    static FullKey key(const State& state) { return key_of_state(state); }
    static const FullKey& key(const FullKey& full) { return full; }
    bool operator()(const auto& a, const auto& b) const { return key(a) < key(b); }
  };
  std::set<State, Order> states_;
};

}  // namespace codeflare::apiserver
