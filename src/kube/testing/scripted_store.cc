#include "kube/testing/scripted_store.h"

#include "base/check.h"

#include <algorithm>
#include <utility>

namespace codeflare::kube::testing {

ObjectRef with_revision(const json::Value& object, std::uint64_t revision) {
  json::Document copy;
  copy.root = object.clone(copy.arena);
  json::Value* metadata = copy.root.find("metadata");
  CHECK(metadata != nullptr, "an object without metadata");
  metadata->set(copy.arena, "resourceVersion",
                json::Value::string(copy.arena, std::to_string(revision)));
  Result<ObjectRef> made = Object::from_value(copy.root);
  CHECK(made.has_value(), "an object without a name");
  return *std::move(made);
}

const ScriptedStore::Objects& ScriptedStore::objects(const std::string& collection) const {
  static const Objects kNone;
  auto at = collections_.find(collection);
  return at == collections_.end() ? kNone : at->second;
}

ObjectRef ScriptedStore::find(const std::string& collection, const model::ObjectKey& key) const {
  const Objects& all = objects(collection);
  auto at = all.find(key);
  return at == all.end() ? nullptr : at->second;
}

std::optional<ScriptedStore::Objects> ScriptedStore::objects_at(const std::string& collection,
                                                                std::uint64_t revision) const {
  if (revision < compacted_) {
    return std::nullopt;
  }
  Objects state = objects(collection);
  for (auto change = history_.rbegin(); change != history_.rend() && change->revision > revision;
       ++change) {
    if (change->collection != collection) {
      continue;
    }
    if (change->before == nullptr) {
      state.erase(change->after->key());
    } else {
      state[change->before->key()] = change->before;
    }
  }
  return state;
}

ObjectRef ScriptedStore::write(const std::string& collection, const json::Value& object) {
  const ObjectRef next = with_revision(object, revision_ + 1);
  ObjectRef before = find(collection, next->key());
  if (before != nullptr) {
    Result<json::Document> old = before->parse();
    const ObjectRef unchanged = with_revision(object, before->revision());
    if (json::equal(old->root, unchanged->parse()->root)) {
      return before;
    }
  }
  collections_[collection][next->key()] = next;
  commit({0, collection, std::move(before), next, false});
  return next;
}

void ScriptedStore::erase(const std::string& collection, const model::ObjectKey& key) {
  ObjectRef before = find(collection, key);
  CHECK(before != nullptr, "erasing what is not there");
  ObjectRef last = with_revision(before->parse()->root, revision_ + 1);
  collections_[collection].erase(key);
  commit({0, collection, std::move(before), std::move(last), true});
}

void ScriptedStore::commit(Change change) {
  change.revision = ++revision_;
  history_.push_back(std::move(change));
  if (observer_) {
    observer_(history_.back());
  }
  if (history_.size() > history_max_) {
    compacted_ = history_.front().revision;
    history_.pop_front();
  }
  changed_.notify_all();
}

std::deque<ScriptedStore::Change>::const_iterator ScriptedStore::changes_after(
    std::uint64_t revision) const {
  CHECK(revision >= compacted_, "these changes are forgotten");
  return std::ranges::upper_bound(history_, revision, {}, &Change::revision);
}

void ScriptedStore::compact() {
  history_.clear();
  compacted_ = revision_;
}

}  // namespace codeflare::kube::testing
