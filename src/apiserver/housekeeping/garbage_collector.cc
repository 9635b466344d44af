#include "apiserver/housekeeping/garbage_collector.h"

#include "apiserver/registry/edit.h"
#include "base/check.h"
#include "json/parse.h"
#include "json/scan.h"
#include "json/write.h"
#include "model/gvk.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <ranges>
#include <utility>

namespace codeflare::apiserver {

namespace {

constexpr std::size_t kWorkers = 16;
constexpr std::string_view kForeground = "foregroundDeletion";
constexpr std::string_view kOrphan = "orphan";

// Patches name the version they were made from: who writes in between wins, and we look again.
void begin_patch(json::Writer& writer, const Object& object) {
  writer.begin_object().key("metadata").begin_object();
  writer.member("uid", object.uid());
  writer.member("resourceVersion", std::to_string(object.revision()));
}

// Without a tree of the whole object, which may be large.
std::vector<std::string> finalizers_of(const Object& object) {
  constexpr std::array<std::string_view, 1> kPath = {"metadata.finalizers"};
  std::array<std::string_view, 1> raw;
  CHECK(json::scan(object.json(), kPath, raw).has_value());
  std::vector<std::string> finalizers;
  if (raw[0].starts_with('[')) {
    const Result<json::Document> parsed = json::parse(raw[0]);
    CHECK(parsed.has_value());
    for (const json::Value& item : parsed->root.items()) {
      if (item.is_string()) {
        finalizers.emplace_back(item.as_string());
      }
    }
  }
  return finalizers;
}

bool lists(const std::vector<std::string>& finalizers, std::string_view finalizer) {
  return std::ranges::find(finalizers, finalizer) != finalizers.end();
}

// The policy that the object itself asks for.
std::string policy_of(const Object& object) {
  const std::vector<std::string> finalizers = finalizers_of(object);
  return lists(finalizers, kOrphan)       ? "Orphan"
         : lists(finalizers, kForeground) ? "Foreground"
                                          : "Background";
}

}  // namespace

GarbageCollector::GarbageCollector(Env env, TaskGroup& group, Logger log, Store& store,
                                   const Registry& registry, net::HttpService& api)
    : store_(store),
      registry_(registry),
      definitions_(store.collection("customresourcedefinitions.apiextensions.k8s.io")),
      api_(api),
      work_(env, group, std::move(log), kWorkers,
            [this](std::string key) { return look_at(std::move(key)); }) {
  for (const CollectionId collection : store.collections()) {
    CHECK(store
              .visit(collection, {},
                     [&](const ObjectPtr& object) {
                       changed(collection, {.op = Write::Op::create, .object = object});
                       return true;
                     })
              .has_value());
  }
  store.on_commit(
      [this](CollectionId collection, const Event& event) { changed(collection, event); });
}

std::string GarbageCollector::key_of(CollectionId collection, std::string_view ns,
                                     std::string_view name) {
  return std::to_string(collection) + "/" + std::string(ns) + "/" + std::string(name);
}

std::vector<GarbageCollector::Reference> GarbageCollector::references_of(const Object& object) {
  std::vector<Reference> references;
  if (object.owner_references().empty()) {
    return references;
  }
  const Result<json::Document> parsed = json::parse(object.owner_references());
  CHECK(parsed.has_value());
  for (const json::Value& reference : parsed->root.items()) {
    references.push_back({.api_version = std::string(text_at(reference, "apiVersion")),
                          .kind = std::string(text_at(reference, "kind")),
                          .name = std::string(text_at(reference, "name")),
                          .uid = std::string(text_at(reference, "uid")),
                          .blocks = true_at(reference, "blockOwnerDeletion")});
  }
  std::ranges::sort(references);
  const auto equal = std::ranges::unique(references);
  references.erase(equal.begin(), equal.end());
  return references;
}

void GarbageCollector::index(CollectionId collection, const Object& object,
                             const std::vector<Reference>& references) {
  for (const Reference& reference : references) {
    Dependents& dependents = dependents_[reference.uid];
    bool& blocks = dependents.blocks[Dependent(collection, object.ns(), object.name())];
    dependents.blocking += reference.blocks && !blocks ? 1 : 0;
    blocks = blocks || reference.blocks;
  }
}

void GarbageCollector::unindex(CollectionId collection, const Object& object,
                               const std::vector<Reference>& references) {
  for (const Reference& reference : references) {
    const auto owner = dependents_.find(reference.uid);
    if (owner == dependents_.end()) {
      continue;
    }
    Dependents& dependents = owner->second;
    const auto found = dependents.blocks.find(Dependent(collection, object.ns(), object.name()));
    if (found == dependents.blocks.end()) {
      continue;  // by another reference to the same owner
    }
    dependents.blocking -= found->second ? 1 : 0;
    dependents.blocks.erase(found);
    if (dependents.blocks.empty()) {
      dependents_.erase(owner);
    }
  }
}

void GarbageCollector::changed(CollectionId collection, const Event& event) {
  if (collection == definitions_) {
    for (const std::string& key : unsure_) {
      work_.add(key);
    }
  }
  const bool removed = event.op == Write::Op::remove;
  if (removed || event.before == nullptr ||
      event.before->owner_references() != event.object->owner_references()) {
    references_changed(collection, event);
  }
  if (removed) {
    object_removed(collection, *event.object);
  } else {
    deletion_changed(collection, *event.object);
  }
}

void GarbageCollector::references_changed(CollectionId collection, const Event& event) {
  const Object& object = *event.object;
  std::vector<Reference> before;
  std::vector<Reference> after;
  if (event.before != nullptr) {
    before = references_of(*event.before);
    unindex(collection, *event.before, before);
  }
  if (event.op != Write::Op::remove) {
    after = references_of(object);
    index(collection, object, after);
  }
  for (const Reference& reference : before) {
    if (!dependents_.contains(reference.uid)) {
      gone_owners_.erase(reference.uid);
    }
    const auto owner = going_owners_.find(reference.uid);
    if (owner != going_owners_.end() && !is_blocked(reference.uid)) {
      work_.add(owner->second.key);
    }
  }
  if (std::ranges::any_of(after, [&](const Reference& reference) {
        return standing_of(reference, object) != Standing::there;
      })) {
    work_.add(key_of(collection, object.ns(), object.name()));
  }
}

void GarbageCollector::object_removed(CollectionId collection, const Object& object) {
  const std::string uid(object.uid());
  going_owners_.erase(uid);
  unsure_.erase(key_of(collection, object.ns(), object.name()));
  if (dependents_.contains(uid)) {
    gone_owners_.insert_or_assign(uid, std::string(object.ns()));
  }
  add_dependents(uid);
}

void GarbageCollector::deletion_changed(CollectionId collection, const Object& object) {
  const std::string uid(object.uid());
  GoingOwner owner{.key = key_of(collection, object.ns(), object.name())};
  if (object.is_being_deleted()) {
    ++effort_.finalizers_read;
    const std::vector<std::string> finalizers = finalizers_of(object);
    owner.foreground = lists(finalizers, kForeground);
    owner.orphans = lists(finalizers, kOrphan);
  }
  if (!owner.foreground && !owner.orphans) {
    going_owners_.erase(uid);
    return;
  }
  work_.add(owner.key);
  if (owner.foreground && !goes_in_foreground(uid)) {
    add_dependents(uid);
  }
  going_owners_.insert_or_assign(uid, std::move(owner));
}

bool GarbageCollector::goes_in_foreground(std::string_view uid) const {
  const auto owner = going_owners_.find(uid);
  return owner != going_owners_.end() && owner->second.foreground;
}

bool GarbageCollector::is_blocked(std::string_view uid) const {
  const auto found = dependents_.find(uid);
  return found != dependents_.end() && found->second.blocking > 0;
}

void GarbageCollector::add_dependents(const std::string& uid) {
  const auto found = dependents_.find(uid);
  if (found == dependents_.end()) {
    return;
  }
  for (const auto& [dependent, blocks] : found->second.blocks) {
    const auto& [collection, ns, name] = dependent;
    work_.add(key_of(collection, ns, name));
  }
}

GarbageCollector::Standing GarbageCollector::standing_of(const Reference& reference,
                                                         const Object& dependent) {
  ++effort_.references_judged;
  const auto gone = gone_owners_.find(reference.uid);
  if (gone != gone_owners_.end() && (gone->second.empty() || gone->second == dependent.ns())) {
    return Standing::gone;
  }
  const model::GroupVersion version = model::parse_api_version(reference.api_version);
  const ResourcePtr resource = registry_.find_kind(version.group, version.version, reference.kind);
  if (resource == nullptr || (resource->namespaced && dependent.ns().empty())) {
    return Standing::unknown;
  }
  const ObjectPtr owner =
      store_.get(resource->collection, resource->namespaced ? dependent.ns() : "", reference.name);
  if (owner == nullptr || owner->uid() != reference.uid) {
    return Standing::gone;
  }
  return goes_in_foreground(owner->uid()) ? Standing::waiting : Standing::there;
}

Task<Result<void>> GarbageCollector::look_at(std::string key) {
  const std::size_t first = key.find('/');
  const std::size_t second = key.find('/', first + 1);
  CollectionId collection = 0;
  std::from_chars(key.data(), key.data() + first, collection);
  unsure_.erase(key);
  const ObjectPtr object =
      store_.get(collection, key.substr(first + 1, second - first - 1), key.substr(second + 1));
  // An object of a kind that is not served (its definition has gone) is nobody's to delete.
  if (object == nullptr || registry_.find(collection) == nullptr) {
    co_return Result<void>();
  }
  Result<void> result;
  const auto going = going_owners_.find(object->uid());
  if (going != going_owners_.end() && going->second.orphans) {
    result = co_await orphan(collection, object);
  } else if (going != going_owners_.end()) {
    result = co_await finish_owner(collection, object);
  } else if (!object->is_being_deleted()) {
    result = co_await collect(collection, object);
  }
  if (!result && result.error().code == ErrorCode::conflict) {
    work_.add(std::move(key));  // somebody wrote meanwhile: look again
    co_return Result<void>();
  }
  co_return result;
}

Task<Result<void>> GarbageCollector::finish_owner(CollectionId collection, ObjectPtr owner) {
  if (is_blocked(owner->uid())) {
    co_return Result<void>();  // woken when the last of them lets go
  }
  co_return co_await drop_finalizer(collection, std::move(owner), std::string(kForeground));
}

Task<Result<void>> GarbageCollector::orphan(CollectionId collection, ObjectPtr owner) {
  const std::string uid(owner->uid());
  std::vector<Dependent> dependents;
  if (const auto found = dependents_.find(uid); found != dependents_.end()) {
    std::ranges::copy(std::views::keys(found->second.blocks), std::back_inserter(dependents));
  }
  for (const auto& [dependent_collection, ns, name] : dependents) {
    const ObjectPtr dependent = store_.get(dependent_collection, ns, name);
    if (dependent != nullptr) {
      CO_TRY(co_await drop_references(dependent_collection, dependent, {uid}));
    }
  }
  co_return co_await drop_finalizer(collection, std::move(owner), std::string(kOrphan));
}

Task<Result<void>> GarbageCollector::collect(CollectionId collection, ObjectPtr object) {
  std::size_t solid = 0;
  bool waited_for = false;
  std::set<std::string> gone;
  for (const Reference& reference : references_of(*object)) {
    const Standing standing = standing_of(reference, *object);
    if (standing == Standing::unknown) {
      unsure_.insert(key_of(collection, object->ns(), object->name()));
      co_return Result<void>();
    }
    waited_for = waited_for || standing == Standing::waiting;
    if (standing == Standing::there) {
      ++solid;
    } else {
      gone.insert(reference.uid);
    }
  }
  if (gone.empty()) {
    co_return Result<void>();
  }
  if (solid > 0) {
    co_return co_await drop_references(collection, object, std::move(gone));
  }
  const bool cascades = waited_for && dependents_.contains(object->uid());
  if (cascades && is_in_circle(*object)) {
    co_return co_await unblock(collection, std::move(object));  // then it is looked at again
  }
  std::string policy = cascades ? "Foreground" : policy_of(*object);
  const ResourcePtr resource = registry_.find(collection);
  // Exactly what was looked at: somebody may give it another owner in this moment.
  co_return co_await api_.remove(internal::path_of(*resource, object->ns(), object->name()),
                                 std::string(object->uid()), std::move(policy), object->revision());
}

// It holds up an owner, and what depends on it waits for its own dependents: they could wait for
// each other.
bool GarbageCollector::is_in_circle(const Object& object) const {
  const auto found = dependents_.find(object.uid());
  return found != dependents_.end() &&
         std::ranges::any_of(references_of(object), &Reference::blocks) &&
         std::ranges::any_of(std::views::keys(found->second.blocks), [&](const Dependent& key) {
           const auto& [collection, ns, name] = key;
           const ObjectPtr dependent = store_.get(collection, ns, name);
           return dependent != nullptr && goes_in_foreground(dependent->uid());
         });
}

// Its owners need not wait for it any more.
Task<Result<void>> GarbageCollector::unblock(CollectionId collection, ObjectPtr object) {
  Result<json::Document> parsed = json::parse(object->owner_references());
  CHECK(parsed.has_value());
  for (json::Value& reference : parsed->root.items()) {
    if (true_at(reference, "blockOwnerDeletion")) {
      reference.set_static(parsed->arena, "blockOwnerDeletion", json::Value::boolean(false));
    }
  }
  std::string patch;
  json::Writer writer(patch);
  begin_patch(writer, *object);
  writer.key("ownerReferences").value(parsed->root).end_object().end_object();
  co_return co_await patch_object(collection, std::move(object), std::move(patch));
}

Task<Result<void>> GarbageCollector::patch_object(CollectionId collection, ObjectPtr object,
                                                  std::string patch) {
  const ResourcePtr resource = registry_.find(collection);
  if (resource == nullptr) {
    co_return Result<void>();  // its definition has gone meanwhile
  }
  co_return co_await api_.merge_patch(internal::path_of(*resource, object->ns(), object->name()),
                                      std::move(patch));
}

Task<Result<void>> GarbageCollector::drop_references(CollectionId collection, ObjectPtr object,
                                                     std::set<std::string> uids) {
  const Result<json::Document> parsed = json::parse(object->owner_references());
  CHECK(parsed.has_value());
  std::string patch;
  json::Writer writer(patch);
  begin_patch(writer, *object);
  writer.key("ownerReferences").begin_array();
  for (const json::Value& reference : parsed->root.items()) {
    if (!uids.contains(std::string(text_at(reference, "uid")))) {
      writer.value(reference);
    }
  }
  writer.end_array().end_object().end_object();
  co_return co_await patch_object(collection, std::move(object), std::move(patch));
}

Task<Result<void>> GarbageCollector::drop_finalizer(CollectionId collection, ObjectPtr object,
                                                    std::string finalizer) {
  std::string patch;
  json::Writer writer(patch);
  begin_patch(writer, *object);
  writer.key("finalizers").begin_array();
  for (const std::string& other : finalizers_of(*object)) {
    if (other != finalizer) {
      writer.string(other);
    }
  }
  writer.end_array().end_object().end_object();
  co_return co_await patch_object(collection, std::move(object), std::move(patch));
}

}  // namespace codeflare::apiserver
