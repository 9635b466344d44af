#pragma once

#include "apiserver/store/object.h"
#include "base/bytes.h"

#include <cstddef>
#include <list>
#include <map>
#include <string>
#include <utility>

namespace codeflare::apiserver::internal {

// Forms of objects that had to be made from their text (tables, other versions), kept for a moment:
// a thousand watchers of one form encode an event once. Bounded; the oldest goes first.
class EncodingCache {
 public:
  explicit EncodingCache(std::size_t bytes_max = 4u << 20) : bytes_max_(bytes_max) {}

  // Null when it is not there. `form` says everything that the bytes depend on besides the object.
  const Bytes* find(const ObjectPtr& object, const std::string& form) const {
    auto at = entries_.find({object.get(), form});
    return at == entries_.end() ? nullptr : &at->second.bytes;
  }

  void add(const ObjectPtr& object, const std::string& form, Bytes bytes) {
    Key key(object.get(), form);
    if (bytes.size() > bytes_max_ / 4 || entries_.contains(key)) {
      return;
    }
    bytes_ += bytes.size();
    entries_.emplace(key, Entry{object, std::move(bytes)});
    order_.push_back(std::move(key));
    while (bytes_ > bytes_max_) {
      auto oldest = entries_.find(order_.front());
      bytes_ -= oldest->second.bytes.size();
      entries_.erase(oldest);
      order_.pop_front();
    }
  }

 private:
  // The entry keeps the object, so that its address is not given to another one meanwhile.
  using Key = std::pair<const Object*, std::string>;
  struct Entry {
    ObjectPtr object;
    Bytes bytes;
  };
  std::map<Key, Entry> entries_;
  std::list<Key> order_;
  std::size_t bytes_ = 0;
  std::size_t bytes_max_;
};

}  // namespace codeflare::apiserver::internal
