#include "apiserver/admission/quota_keeper.h"

#include "apiserver/admission/amounts.h"
#include "apiserver/registry/edit.h"
#include "apiserver/request/forbidden.h"
#include "base/check.h"
#include "json/parse.h"

#include <utility>

namespace codeflare::apiserver {

namespace {

json::Document parse(const Object& object) {
  Result<json::Document> parsed = json::parse(object.text().view());
  CHECK(parsed.has_value());
  return std::move(*parsed);
}

// "cpu=2,memory=1Gi" of the resources in `names`.
std::string print(const model::ResourceList& amounts, const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? "" : ",") + name + "=" + amounts.get(name).to_string();
  }
  return text;
}

}  // namespace

QuotaKeeper::QuotaKeeper(Store& store, const Registry& registry, OnChange on_change)
    : store_(store),
      registry_(registry),
      on_change_(std::move(on_change)),
      quotas_collection_(store.collection("resourcequotas")) {
  CHECK(store
            .visit(quotas_collection_, {},
                   [&](const ObjectPtr& object) {
                     set_quota(*object);
                     return true;
                   })
            .has_value());
  store.on_commit(
      [this](CollectionId collection, const Event& event) { changed(collection, event); });
}

const QuotaKeeper::Status* QuotaKeeper::status(std::string_view ns, std::string_view name) const {
  const auto quotas = by_namespace_.find(ns);
  if (quotas == by_namespace_.end()) {
    return nullptr;
  }
  const auto found = quotas->second.find(name);
  return found == quotas->second.end() ? nullptr : &found->second.status;
}

void QuotaKeeper::set_quota(const Object& object) {
  const json::Document document = parse(object);
  const json::Value& spec = object_at(document.root, "spec");
  const std::string ns(object.ns());
  const std::string name(object.name());
  Quota& quota = by_namespace_[ns][name];
  quota.created = object.created();
  const model::ResourceList hard = amounts_of(object_at(spec, "hard"));
  std::vector<QuotaScope> scopes = quota_scopes(spec);
  quota.status.hard = hard;
  quota.scopes = std::move(scopes);
  count_all(ns, quota);
  on_change_(ns, name);
}

void QuotaKeeper::count_all(const std::string& ns, Quota& quota) const {
  quota.status.used = {};
  for (const auto& [name, amount] : quota.status.hard) {
    quota.status.used.set(name, model::Quantity());
  }
  for (const ResourcePtr& resource : registry_.all()) {
    if (!resource->namespaced || registry_.find(resource->collection) != resource) {
      continue;
    }
    const std::string resource_name = resource->qualified_name();
    CHECK(store_
              .visit(resource->collection, {.ns = ns},
                     [&](const ObjectPtr& object) {
                       count(quota, resource_name, parse(*object).root, 1);
                       return true;
                     })
              .has_value());
  }
}

void QuotaKeeper::count(Quota& quota, std::string_view resource, const json::Value& object,
                        int factor) const {
  if (!in_scopes(quota.scopes, resource, object)) {
    return;
  }
  for (const auto& [name, amount] : quota_usage(resource, object)) {
    if (quota.status.hard.find(name) != nullptr) {
      quota.status.used.set(name, quota.status.used.get(name) + amount * factor);
    }
  }
}

void QuotaKeeper::changed(CollectionId collection, const Event& event) {
  if (collection == quotas_collection_) {
    if (event.op == Write::Op::remove) {
      by_namespace_[std::string(event.object->ns())].erase(std::string(event.object->name()));
    } else if (event.before == nullptr ||
               event.before->generation() != event.object->generation() ||
               !same(parse(*event.before).root.find("spec"),
                     parse(*event.object).root.find("spec"))) {
      set_quota(*event.object);
    }
  }
  const auto quotas = by_namespace_.find(event.object->ns());
  if (event.object->ns().empty() || quotas == by_namespace_.end() || quotas->second.empty()) {
    return;
  }
  release_committed(event.object->ns(), event.object->uid());
  const std::string resource(store_.name_of(collection));
  std::optional<json::Document> now;
  std::optional<json::Document> before;
  if (event.op != Write::Op::remove) {
    now = parse(*event.object);
  }
  if (event.before != nullptr) {
    before = parse(*event.before);
  }
  for (auto& [name, quota] : quotas->second) {
    // A quota that has just been counted knows this object already.
    if (collection == quotas_collection_ && name == event.object->name()) {
      continue;
    }
    const model::ResourceList old = quota.status.used;
    if (now) {
      count(quota, resource, now->root, 1);
    }
    if (before) {
      count(quota, resource, before->root, -1);
    }
    if (quota.status.used != old) {
      on_change_(quotas->first, name);
    }
  }
}

void QuotaKeeper::release(Claims::iterator claim) {
  if (const auto quotas = by_namespace_.find(claim->second.ns); quotas != by_namespace_.end()) {
    for (const Claim::Part& part : claim->second.parts) {
      const auto quota = quotas->second.find(part.quota);
      if (quota != quotas->second.end() && quota->second.created == part.quota_created) {
        quota->second.reserved -= part.amounts;
      }
    }
  }
  claims_.erase(claim);
}

// Of several writes of one object that are on their way at once, the first to be validated was
// sequenced first: the others lost against it.
void QuotaKeeper::release_committed(std::string_view ns, std::string_view uid) {
  for (auto claim = claims_.begin(); claim != claims_.end(); ++claim) {
    if (claim->second.uid == uid && claim->second.ns == ns) {
      release(claim);
      return;
    }
  }
}

model::ResourceList QuotaKeeper::demand(const Quota& quota, const AdmissionRequest& request) const {
  const std::string resource = request.resource.qualified_name();
  model::ResourceList usage = quota_usage(resource, *request.object);
  const bool counted_before =
      request.old != nullptr && in_scopes(quota.scopes, resource, *request.old);
  const model::ResourceList old =
      counted_before ? quota_usage(resource, *request.old) : model::ResourceList();
  model::ResourceList more;
  for (const auto& [name, amount] : usage) {
    const model::Quantity added = amount - old.get(name);
    if (quota.status.hard.find(name) != nullptr && added.sign() > 0) {
      more.set(name, added);
    }
  }
  return more;
}

Result<void> QuotaKeeper::validate(AdmissionRequest& request) {
  const bool pod = request.resource.group.empty() && request.resource.plural == "pods";
  // Nodes report what pods use: a status can't be rejected. Of other changes only those of pods'
  // sizes and of services count.
  if (request.ns.empty() || request.object == nullptr || request.subresource == "status" ||
      (!request.subresource.empty() && request.subresource != "resize")) {
    return {};
  }
  const auto quotas = by_namespace_.find(request.ns);
  if (quotas == by_namespace_.end()) {
    return {};
  }
  const std::string resource = request.resource.qualified_name();
  Claim claim{.ns = std::string(request.ns),
              .uid = std::string(text_at(object_at(*request.object, "metadata"), "uid")),
              .parts = {}};
  for (const auto& [name, quota] : quotas->second) {
    if (!in_scopes(quota.scopes, resource, *request.object)) {
      continue;
    }
    if (pod && request.operation == Operation::create) {
      if (const std::string missing = missing_for_quota(quota.status.hard, *request.object);
          !missing.empty()) {
        return std::unexpected(
            forbidden(request.resource, request.name, "failed quota: " + name + ": " + missing));
      }
    }
    model::ResourceList more = demand(quota, request);
    const model::ResourceList used = quota.status.used + quota.reserved;
    std::vector<std::string> exceeded;
    for (const auto& [bound, amount] : more) {
      if (used.get(bound) + amount > quota.status.hard.get(bound)) {
        exceeded.push_back(bound);
      }
    }
    if (!exceeded.empty()) {
      return std::unexpected(forbidden(
          request.resource, request.name,
          "exceeded quota: " + name + ", requested: " + print(more, exceeded) + ", used: " +
              print(used, exceeded) + ", limited: " + print(quota.status.hard, exceeded)));
    }
    if (!more.empty()) {
      claim.parts.push_back({name, quota.created, std::move(more)});
    }
  }
  if (claim.parts.empty() || request.dry_run) {
    return {};
  }
  for (const Claim::Part& part : claim.parts) {
    quotas->second.find(part.quota)->second.reserved += part.amounts;
  }
  const std::uint64_t id = ++last_claim_;
  claims_.emplace(id, std::move(claim));
  request.on_finish.push_back([this, id](bool) {
    // A committed write was counted, and its claim released, when it became visible.
    if (const auto found = claims_.find(id); found != claims_.end()) {
      release(found);
    }
  });
  return {};
}

}  // namespace codeflare::apiserver
