#pragma once

#include "base/async/wait_list.h"
#include "json/value.h"
#include "kube/object.h"
#include "model/gvk.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace codeflare::kube::testing {

// Objects of many collections ("pods", "jobs.batch") under one revision counter, with the history
// of their changes. For tests only.
class ScriptedStore {
 public:
  using Objects = std::map<model::ObjectKey, ObjectRef>;
  struct Change {
    std::uint64_t revision = 0;
    std::string collection;
    ObjectRef before;  // null: it is new
    ObjectRef after;   // of a deleted object its last state, with the revision of the deletion
    bool deleted = false;
  };

  explicit ScriptedStore(std::size_t history_max) : history_max_(history_max) {}

  std::uint64_t revision() const { return revision_; }
  const Objects& objects(const std::string& collection) const;
  ObjectRef find(const std::string& collection, const model::ObjectKey& key) const;
  // As it was at a revision; nothing when that is compacted.
  std::optional<Objects> objects_at(const std::string& collection, std::uint64_t revision) const;

  // Writes the object under a new revision; nothing happens when nothing would change.
  ObjectRef write(const std::string& collection, const json::Value& object);
  void erase(const std::string& collection, const model::ObjectKey& key);

  // Changes after `revision`; it must not be compacted.
  std::deque<Change>::const_iterator changes_after(std::uint64_t revision) const;
  std::deque<Change>::const_iterator changes_end() const { return history_.end(); }
  // Changes up to here are forgotten.
  std::uint64_t compacted() const { return compacted_; }
  void compact();

  WaitList& changed() { return changed_; }
  void set_observer(std::function<void(const Change&)> observer) {
    observer_ = std::move(observer);
  }

 private:
  void commit(Change change);

  std::size_t history_max_;
  std::uint64_t revision_ = 100;
  std::uint64_t compacted_ = 100;
  std::map<std::string, Objects> collections_;
  std::deque<Change> history_;
  WaitList changed_;
  std::function<void(const Change&)> observer_;
};

// The object with another resourceVersion.
ObjectRef with_revision(const json::Value& object, std::uint64_t revision);

}  // namespace codeflare::kube::testing
