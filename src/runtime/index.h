#pragma once

#include "model/gvk.h"
#include "runtime/informer.h"

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace codeflare::runtime {

// Digests of the objects of one kind, grouped by a key and kept in step with an informer, so that
// a group of a thousand objects need not be read again after each change of one of them.
//   Index<ObjectKey, JobPod> pods(informer, read_job_pod, [&](const auto& change) { ... });
template <typename Key, typename Digest>
class Index {
 public:
  struct Entry {
    Key key;
    Digest digest;
  };
  // Reads `change.now`, which is there. `before` is the digest that the index has of the object, or
  // null. Without an answer the object is not kept. Every object of the kind passes here.
  using Reader = std::function<std::optional<Entry>(const ObjectChange&, const Digest* before)>;

  struct GroupChange {
    const Key& key;
    std::size_t size;      // of the group, after the change
    const Digest* before;  // null: the object is new in the group
    const Digest* now;     // null: it has left the group
  };
  using Changed = std::function<void(const GroupChange&)>;

  Index(Informer& informer, Reader reader, Changed changed = {})
      : reader_(std::move(reader)), changed_(std::move(changed)) {
    informer.add_handler([this](const ObjectChange& change) { apply(change); });
  }
  Index(const Index&) = delete;
  Index& operator=(const Index&) = delete;

  using Group = std::map<model::ObjectKey, Digest>;
  const std::map<Key, Group>& groups() const { return groups_; }

  // In the order of their names.
  std::vector<Digest> of(const Key& key) const {
    std::vector<Digest> digests;
    if (const auto group = groups_.find(key); group != groups_.end()) {
      digests.reserve(group->second.size());
      for (const auto& [name, digest] : group->second) {
        digests.push_back(digest);
      }
    }
    return digests;
  }

 private:
  void apply(const ObjectChange& change) {
    const model::ObjectKey object = (change.now ? change.now : change.old)->key();
    const auto known = key_of_.find(object);
    const Digest* before = known == key_of_.end() ? nullptr : &groups_.at(known->second).at(object);
    std::optional<Entry> entry = change.now ? reader_(change, before) : std::nullopt;
    if (known != key_of_.end() && (!entry || entry->key != known->second)) {
      leave(object, known->second);
      key_of_.erase(known);
    }
    if (entry) {
      enter(object, *std::move(entry));
    }
  }

  void leave(const model::ObjectKey& object, const Key& key) {
    const auto group = groups_.find(key);
    const auto digest = group->second.extract(object);
    tell({.key = key, .size = group->second.size(), .before = &digest.mapped(), .now = nullptr});
    if (group->second.empty()) {
      groups_.erase(group);
    }
  }

  void enter(const model::ObjectKey& object, Entry entry) {
    Group& group = groups_[entry.key];
    const auto [at, fresh] = group.try_emplace(object);
    const std::optional<Digest> before =
        fresh ? std::nullopt : std::optional(std::move(at->second));
    at->second = std::move(entry.digest);
    const auto [key, moved] = key_of_.insert_or_assign(object, std::move(entry.key));
    tell({.key = key->second,
          .size = group.size(),
          .before = before ? &*before : nullptr,
          .now = &at->second});
  }

  void tell(const GroupChange& change) const {
    if (changed_) {
      changed_(change);
    }
  }

  Reader reader_;
  Changed changed_;
  std::map<Key, Group> groups_;
  std::map<model::ObjectKey, Key> key_of_;
};

}  // namespace codeflare::runtime
