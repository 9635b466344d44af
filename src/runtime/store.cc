#include "runtime/store.h"

#include "base/check.h"

#include <algorithm>
#include <utility>

namespace codeflare::runtime {

namespace {

// True when `old` already tells all that `object` would: the same version, or a later one of the
// same object (a list from a lagging server).
bool is_news(const kube::Object& old, const kube::Object& object) {
  if (old.uid() != object.uid()) {
    return true;
  }
  if (old.resource_version() == object.resource_version()) {
    return false;
  }
  return old.revision() == 0 || object.revision() == 0 || old.revision() < object.revision();
}

}  // namespace

void Store::add_index(std::string name, IndexFunction function) {
  CHECK(entries_.empty(), "indexes are declared before objects arrive");
  indexes_[std::move(name)].function = std::move(function);
}

ObjectRef Store::get(std::string_view ns, std::string_view name) const {
  auto found = entries_.find(KeyView{ns, name});
  return found == entries_.end() ? nullptr : found->object;
}

std::vector<ObjectRef> Store::list(std::string_view ns) const {
  std::vector<ObjectRef> objects;
  if (ns.empty()) {
    objects.reserve(entries_.size());
  }
  for (const Entry& entry : entries_) {
    if (ns.empty() || entry.object->ns() == ns) {
      objects.push_back(entry.object);
    }
  }
  std::ranges::sort(objects, ByKey());
  return objects;
}

std::vector<ObjectRef> Store::by_index(std::string_view index, std::string_view key) const {
  auto found = indexes_.find(index);
  CHECK(found != indexes_.end(), "no such index");
  std::vector<ObjectRef> objects;
  auto entries = found->second.entries.find(key);
  if (entries != found->second.entries.end()) {
    objects.assign(entries->second.begin(), entries->second.end());
  }
  return objects;
}

Store::Change Store::apply(ObjectRef object) {
  const auto at = entries_.find(key_of(object));
  if (at == entries_.end()) {
    add_to_indexes(object);
    entries_.insert({std::move(object), epoch_});
    return {true, nullptr};
  }
  at->epoch = epoch_;
  if (!is_news(*at->object, *object)) {
    return {false, at->object};
  }
  remove_from_indexes(at->object);
  add_to_indexes(object);
  return {true, std::exchange(at->object, std::move(object))};
}

ObjectRef Store::erase(std::string_view ns, std::string_view name) {
  auto found = entries_.find(KeyView{ns, name});
  if (found == entries_.end()) {
    return nullptr;
  }
  ObjectRef old = found->object;
  remove_from_indexes(old);
  entries_.erase(found);
  return old;
}

void Store::begin_replace() {
  ++epoch_;
}

std::vector<ObjectRef> Store::end_replace() {
  std::vector<ObjectRef> gone;
  for (const Entry& entry : entries_) {
    if (entry.epoch != epoch_) {
      gone.push_back(entry.object);
    }
  }
  std::ranges::sort(gone, ByKey());
  for (const ObjectRef& object : gone) {
    erase(object->ns(), object->name());
  }
  return gone;
}

void Store::add_to_indexes(const ObjectRef& object) {
  std::vector<std::string> keys;
  for (auto& [name, index] : indexes_) {
    keys.clear();
    index.function(*object, keys);
    for (std::string& key : keys) {
      index.entries[std::move(key)].insert(object);
    }
  }
}

void Store::remove_from_indexes(const ObjectRef& object) {
  std::vector<std::string> keys;
  for (auto& [name, index] : indexes_) {
    keys.clear();
    index.function(*object, keys);
    for (const std::string& key : keys) {
      auto entries = index.entries.find(key);
      if (entries == index.entries.end()) {
        continue;
      }
      entries->second.erase(object);
      if (entries->second.empty()) {
        index.entries.erase(entries);
      }
    }
  }
}

}  // namespace codeflare::runtime
