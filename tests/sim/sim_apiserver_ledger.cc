#include "tests/sim/sim_apiserver_ledger.h"

#include "base/check.h"
#include "json/parse.h"
#include "json/value.h"

#include <algorithm>
#include <utility>

namespace codeflare::sim {

namespace {

using apiserver::Write;

kube::ObjectRef to_kube(const apiserver::Object& object) {
  Result<kube::ObjectRef> made = kube::Object::from_json(object.json());
  CHECK(made.has_value());
  return *made;
}

std::string text_at(const json::Value& root, std::initializer_list<std::string_view> path) {
  const json::Value* value = root.get(path);
  return value != nullptr && value->is_string() ? std::string(value->as_string()) : std::string();
}

std::string describe(const kube::Object& object) {
  return object.key().to_string() + "@" + std::string(object.resource_version());
}

std::vector<std::string> owners_of(const kube::Object& object) {
  std::vector<std::string> uids;
  const Result<json::Document> parsed = json::parse(object.owner_references_json());
  if (object.owner_references_json().empty() || !parsed || !parsed->root.is_array()) {
    return uids;
  }
  for (const json::Value& owner : parsed->root.items()) {
    uids.push_back(text_at(owner, {"uid"}));
  }
  return uids;
}

}  // namespace

void Ledger::opened(apiserver::Store& store) {
  if (store.revision() < revision_) {
    violation("a restart went back from revision " + std::to_string(revision_) + " to " +
              std::to_string(store.revision()));
  }
  std::map<std::string, Objects> found;
  for (const auto& [name, collection] : collections_) {
    found[name];
  }
  for (const apiserver::CollectionId id : store.collections()) {
    Objects& objects = found[std::string(store.name_of(id))];
    CHECK(store.visit(id, {}, [&](const apiserver::ObjectPtr& object) {
      kube::ObjectRef made = to_kube(*object);
      objects.emplace(made->key(), made);
      return true;
    }));
  }
  for (auto& [name, objects] : found) {
    take_over(name, std::move(objects), store.revision());
  }
  revision_ = std::max(revision_, store.revision());
  store.on_commit([this, &store](apiserver::CollectionId id, const apiserver::Event& event) {
    commit(std::string(store.name_of(id)), event);
  });
}

// A write that reached the disk although its writer never heard of it is there as of the new start:
// no watch can get across that revision. Everything else must be as it was.
void Ledger::take_over(const std::string& name, Objects found, std::uint64_t revision) {
  Collection& collection = collections_[name];
  const Objects before = collection.objects;
  for (const auto& [key, object] : before) {
    auto now = found.find(key);
    if (now != found.end() && now->second->resource_version() == object->resource_version()) {
      if (now->second->text() != object->text()) {
        violation(name + " " + describe(*object) + " reads differently after a restart");
      }
      continue;
    }
    const bool later =
        now == found.end() ? revision > revision_ : now->second->revision() > revision_;
    if (!later) {
      violation(name + " " + describe(*object) + " is lost: after a restart it is " +
                (now == found.end() ? std::string("gone") : describe(*now->second)));
    }
    ++surprises_;
    change(collection, {.revision = revision,
                        .collection = name,
                        .before = object,
                        .after = now == found.end() ? object : now->second,
                        .deleted = now == found.end()});
  }
  for (const auto& [key, object] : found) {
    if (before.contains(key)) {
      continue;
    }
    if (object->revision() <= revision_) {
      violation(name + " " + describe(*object) + " came back from the dead");
    }
    ++surprises_;
    change(collection, {.revision = revision, .collection = name, .before = {}, .after = object});
  }
}

void Ledger::commit(const std::string& name, const apiserver::Event& event) {
  Collection& collection = collections_[name];
  kube::ObjectRef object = to_kube(*event.object);
  if (event.revision <= revision_ || object->revision() != event.revision) {
    violation(name + " " + describe(*object) + " was committed as " +
              std::to_string(event.revision) + " after " + std::to_string(revision_));
  }
  const auto known = collection.objects.find(object->key());
  const kube::ObjectRef before = known == collection.objects.end() ? nullptr : known->second;
  const std::uint64_t last = event.before == nullptr ? 0 : event.before->revision();
  if ((before == nullptr ? 0 : before->revision()) != last) {
    violation(name + " " + describe(*object) + " follows " + std::to_string(last) +
              ", which nobody saw");
  }
  revision_ = event.revision;
  ++commits_;
  change(collection, {.revision = event.revision,
                      .collection = name,
                      .before = before,
                      .after = std::move(object),
                      .deleted = event.op == Write::Op::remove});
  check_limits();
}

void Ledger::change(Collection& collection, const Truth::Change& change) {
  const kube::Object& object = *change.after;
  if (change.before != nullptr && change.before->uid() != object.uid()) {
    lives_[std::string(change.before->uid())].ended = true;
  }
  Life& life = lives_[std::string(object.uid())];
  if (life.ended) {
    violation(describe(object) + " lives again under the same uid");
  }
  life.revisions.push_back(object.revision());
  life.ended = change.deleted;
  if (change.deleted) {
    collection.objects.erase(object.key());
  } else {
    collection.objects[object.key()] = change.after;
  }
  collection.truth.add(change);
}

void Ledger::set_limit(std::string collection, std::string ns, std::size_t most) {
  limits_.push_back({std::move(collection), std::move(ns), most});
}

void Ledger::check_limits() const {
  for (const Limit& limit : limits_) {
    const Objects& objects = collections_.at(limit.collection).objects;
    const auto count = static_cast<std::size_t>(std::ranges::count_if(
        objects, [&](const auto& entry) { return entry.first.ns == limit.ns; }));
    if (count > limit.most) {
      violation(std::to_string(count) + " " + limit.collection + " in " + limit.ns +
                ", more than the quota of " + std::to_string(limit.most));
    }
  }
}

void Ledger::answered_write(std::string_view request, std::string_view body) {
  ++answers_;
  const Result<json::Document> parsed = json::parse(body);
  if (!parsed) {
    violation(std::string(request) + " was answered with no JSON");
    return;
  }
  if (text_at(parsed->root, {"kind"}) == "Status") {
    const std::string uid = text_at(parsed->root, {"details", "uid"});
    if (!uid.empty() && has_uid(uid)) {
      violation(std::string(request) + " is said to be gone, but " + uid + " is there");
    }
    return;
  }
  const std::string uid = text_at(parsed->root, {"metadata", "uid"});
  if (uid.empty()) {
    return;  // a list of what went
  }
  const std::uint64_t revision =
      kube::to_revision(text_at(parsed->root, {"metadata", "resourceVersion"}));
  const auto life = lives_.find(uid);
  if (life == lives_.end() ||
      std::ranges::find(life->second.revisions, revision) == life->second.revisions.end()) {
    violation(std::string(request) + " was acknowledged as " + std::to_string(revision) +
              ", which is nowhere");
  }
}

void Ledger::answered_read(std::string_view request, std::uint64_t asked_at,
                           std::string_view body) {
  ++answers_;
  const Result<json::Document> parsed = json::parse(body);
  if (!parsed) {
    violation(std::string(request) + " was answered with no JSON");
    return;
  }
  const std::uint64_t revision =
      kube::to_revision(text_at(parsed->root, {"metadata", "resourceVersion"}));
  if (text_at(parsed->root, {"kind"}).ends_with("List")) {
    // A page or an older state is asked for by its revision.
    if (revision < asked_at && !request.contains("resourceVersion=") &&
        !request.contains("continue=")) {
      violation(std::string(request) + " shows " + std::to_string(revision) + ", but " +
                std::to_string(asked_at) + " was there before");
    }
    return;
  }
  const std::string uid = text_at(parsed->root, {"metadata", "uid"});
  if (uid.empty()) {
    return;
  }
  const auto life = lives_.find(uid);
  const std::vector<std::uint64_t> none;
  const auto& revisions = life == lives_.end() ? none : life->second.revisions;
  const auto shown = std::ranges::find(revisions, revision);
  if (shown == revisions.end()) {
    violation(std::string(request) + " shows " + std::to_string(revision) + ", which never was");
  } else if (std::next(shown) != revisions.end() && *std::next(shown) <= asked_at) {
    violation(std::string(request) + " shows " + std::to_string(revision) + ", but " +
              std::to_string(*std::next(shown)) + " was there before");
  }
}

std::string Ledger::uid_at(const std::string& collection, const model::ObjectKey& key) const {
  const auto found = collections_.find(collection);
  if (found == collections_.end()) {
    return {};
  }
  const auto object = found->second.objects.find(key);
  return object == found->second.objects.end() ? std::string() : std::string(object->second->uid());
}

bool Ledger::has_uid(std::string_view uid) const {
  const auto life = lives_.find(uid);
  return life != lives_.end() && !life->second.ended;
}

void Ledger::check_rest() {
  const Objects& namespaces = objects("namespaces");
  for (const auto& [name, collection] : collections_) {
    for (const auto& [key, object] : collection.objects) {
      if (object->deleting()) {
        violation(name + " " + describe(*object) + " is still being deleted");
      }
      if (!key.ns.empty() && !namespaces.contains({"", key.ns})) {
        violation(name + " " + describe(*object) + " survived its namespace");
      }
      const std::vector<std::string> owners = owners_of(*object);
      if (!owners.empty() &&
          std::ranges::none_of(owners, [&](const std::string& uid) { return has_uid(uid); })) {
        violation(name + " " + describe(*object) + " survived all its owners");
      }
    }
  }
  for (const auto& [key, object] : namespaces) {
    if (uid_at("serviceaccounts", {key.name, "default"}).empty() ||
        uid_at("configmaps", {key.name, "kube-root-ca.crt"}).empty()) {
      violation("namespace " + key.name + " is not furnished");
    }
  }
}

}  // namespace codeflare::sim
