#include "sdk/clusters.h"

#include "json/write.h"
#include "kube/typed.h"
#include "model/codec/app_wrapper.h"
#include "model/codec/pod.h"
#include "model/codec/ray_cluster.h"
#include "queue/marks.h"
#include "sdk/cluster_json.h"
#include "sdk/cluster_manifest.h"
#include "sdk/exposure.h"
#include "sdk/priority_class.h"

#include <map>
#include <utility>

namespace codeflare::sdk {

namespace {

using model::AppWrapper;
using model::ObjectKey;
using model::RayCluster;

template <typename T>
Result<std::optional<T>> none_if_not_found(Result<T> found) {
  if (found) {
    return std::optional<T>(*std::move(found));
  }
  if (found.error().code == ErrorCode::not_found) {
    return std::optional<T>();
  }
  return fail(std::move(found).error());
}

// Items of a list that can be understood; an object that cannot is nobody's cluster.
template <typename T>
std::vector<T> decode(const kube::ObjectList& list) {
  std::vector<T> items;
  for (const kube::ObjectRef& object : list.items) {
    if (Result<T> item = object->as<T>()) {
      items.push_back(*std::move(item));
    }
  }
  return items;
}

std::string wrapper_name(const RayCluster& ray) {
  return std::string(model::find_or_empty(ray.metadata.labels, queue::kAppWrapperLabel));
}

// Of the head, in an AppWrapper; empty: none is named.
std::string priority_class_of(const json::Document& manifest) {
  const Result<ClusterInfo> info = info_of_manifest(manifest);
  const std::optional<RayCluster> ray =
      info && info->objects.wrapper ? wrapped_cluster(*info->objects.wrapper) : std::nullopt;
  return ray ? ray->spec.head_group.pod_template.spec.priority_class_name : "";
}

std::int64_t first_group_workers(const ClusterInfo& info) {
  const std::optional<RayCluster> ray =
      info.objects.wrapper ? wrapped_cluster(*info.objects.wrapper) : info.objects.ray;
  return ray ? config_of(*ray).num_workers : 0;
}

Error differs(const ObjectKey& key, const std::vector<std::string>& fields) {
  std::string names;
  for (const std::string& field : fields) {
    names += (names.empty() ? "" : ", ") + field;
  }
  return failed_precondition("Ray cluster '" + key.name + "' exists and differs in " + names +
                             "; delete it first, or apply with force to queue it anew");
}

}  // namespace

std::string ClusterInfo::client_uri() const {
  return "ray://" + key.name + "-head-svc." + key.ns + ".svc:10001";
}

Error cluster_not_found(const ObjectKey& key) {
  return not_found("Ray cluster '" + key.name + "' not found in namespace '" + key.ns +
                   "'; 'codeflare list raycluster --all' shows all Ray clusters");
}

ClusterInfo cluster_info(ClusterObjects objects) {
  ClusterInfo info;
  std::optional<RayCluster> wrapped;
  if (objects.wrapper) {
    wrapped = wrapped_cluster(*objects.wrapper);
    info.wrapper = objects.wrapper->metadata.name;
    info.key = objects.wrapper->metadata.key();
    info.created = objects.wrapper->metadata.creation_timestamp.value_or(WallTime());
    if (wrapped && !wrapped->metadata.name.empty()) {
      info.key.name = wrapped->metadata.name;
    }
  }
  if (objects.ray) {
    info.key = objects.ray->metadata.key();
    if (!objects.wrapper) {
      info.created = objects.ray->metadata.creation_timestamp.value_or(WallTime());
    }
  }
  if (const RayCluster* described = objects.ray ? &*objects.ray : wrapped ? &*wrapped : nullptr) {
    info.sizes = sizes_of(described->spec);
  }
  if (const auto exposure = objects.wrapper ? exposure_of(*objects.wrapper) : std::nullopt) {
    info.dashboard_uri = exposure->uri();
  }
  info.state = state_of(objects);
  if (!objects.ray) {
    info.state.workers_wanted = info.sizes.workers;
  }
  info.objects = std::move(objects);
  return info;
}

Task<Result<bool>> Clusters::has_wrappers() {
  Result<kube::ApiResource> found = co_await discovery_.find(
      "appwrappers", std::string(model::ResourceTraits<AppWrapper>::group));
  if (found) {
    co_return true;
  }
  if (found.error().code == ErrorCode::not_found) {
    co_return false;
  }
  co_return fail(std::move(found).error());
}

Task<Result<std::optional<AppWrapper>>> Clusters::find_wrapper(ObjectKey key) {
  CO_TRY_ASSIGN(std::optional<AppWrapper> found,
                none_if_not_found(co_await kube::Api<AppWrapper>(client_, key.ns).get(key.name)));
  if (found && !wrapped_cluster(*found)) {
    found.reset();  // other work of the same name
  }
  co_return found;
}

Task<Result<std::optional<RayCluster>>> Clusters::find_ray(ObjectKey key) {
  co_return none_if_not_found(co_await kube::Api<RayCluster>(client_, key.ns).get(key.name));
}

Task<Result<ClusterInfo>> Clusters::get(ObjectKey key) {
  ClusterObjects objects;
  CO_TRY_ASSIGN(objects.ray, co_await find_ray(key));
  ObjectKey wrapper{key.ns, objects.ray ? wrapper_name(*objects.ray) : key.name};
  if (!wrapper.name.empty()) {
    CO_TRY_ASSIGN(objects.wrapper, co_await find_wrapper(std::move(wrapper)));
  }
  if (!objects.wrapper && !objects.ray) {
    co_return fail(cluster_not_found(key));
  }
  if (objects.ray) {
    kube::ListOptions which{.ns = key.ns, .label_selector = "ray.io/cluster=" + key.name};
    const Result<kube::ObjectList> pods =
        co_await client_.list_all(model::resource_type<model::Pod>(), std::move(which));
    if (pods) {  // the cluster's own status says the rest
      objects.pods = decode<model::Pod>(*pods);
    }
  }
  ClusterInfo info = cluster_info(std::move(objects));
  CO_TRY(co_await add_exposed_host(info));
  co_return info;
}

Task<Result<std::vector<ClusterInfo>>> Clusters::list(std::string ns, std::string label_selector) {
  kube::ListOptions which{.ns = std::move(ns), .label_selector = std::move(label_selector)};
  const auto all = [&](model::ResourceType type) {
    return client_.list_all(std::move(type), which);
  };
  CO_TRY_ASSIGN(const std::optional<kube::ObjectList> rays,
                none_if_not_found(co_await all(model::resource_type<RayCluster>())));
  CO_TRY_ASSIGN(const std::optional<kube::ObjectList> wrappers,
                none_if_not_found(co_await all(model::resource_type<AppWrapper>())));
  std::map<ObjectKey, ClusterObjects> found;
  for (RayCluster& ray : rays ? decode<RayCluster>(*rays) : std::vector<RayCluster>()) {
    ObjectKey key = ray.metadata.key();
    found[std::move(key)].ray = std::move(ray);
  }
  for (AppWrapper& wrapper : wrappers ? decode<AppWrapper>(*wrappers) : std::vector<AppWrapper>()) {
    if (const std::optional<RayCluster> wrapped = wrapped_cluster(wrapper)) {
      ObjectKey key{wrapper.metadata.ns, wrapped->metadata.name};
      found[std::move(key)].wrapper = std::move(wrapper);
    }
  }
  std::vector<ClusterInfo> infos;
  for (auto& [key, objects] : found) {
    infos.push_back(cluster_info(std::move(objects)));
  }
  co_return infos;
}

Task<Result<json::Document>> Clusters::manifest_for(ClusterConfig config) {
  const std::vector<Fault> faults = faults_of(config);
  if (!faults.empty()) {
    co_return fail(config_error(faults));
  }
  CO_TRY_ASSIGN(config, co_await with_exposure(std::move(config)));
  if (config.queueing == Queueing::automatic && config.local_queue.empty()) {
    CO_TRY_ASSIGN(const bool wrappers, co_await has_wrappers());
    config.queueing = wrappers ? Queueing::appwrapper : Queueing::none;
    if (!wrappers && config.expose) {
      co_return fail(failed_precondition("expose: needs an AppWrapper, and the server has none (" +
                                         model::resource_type<AppWrapper>().qualified_name() +
                                         "); use 'codeflare dashboard " + config.name + "'"));
    }
    if (!wrappers) {  // only a queue would read these
      config.priority.reset();
      config.quota_labels.clear();
      config.max_seconds = 0;
    }
  }
  co_return cluster_manifest(config);
}

namespace {

// Its PriorityClass could not be read.
bool lacks_priority(const json::Document& manifest) {
  const json::Value* spec = manifest.root.find("spec");
  return spec != nullptr && spec->find("priority") == nullptr &&
         !priority_class_of(manifest).empty();
}

}  // namespace

Task<Result<json::Document>> Clusters::with_priority(json::Document manifest) {
  json::Value* spec = manifest.root.find("spec");
  const std::string name = priority_class_of(manifest);
  if (name.empty() || spec == nullptr || spec->find("priority") != nullptr) {
    co_return manifest;
  }
  CO_TRY_ASSIGN(const std::optional<std::int64_t> priority,
                co_await priority_of_class(client_, name));
  if (priority) {
    spec->set_static(manifest.arena, "priority", json::Value::integer(manifest.arena, *priority));
  }
  co_return manifest;
}

Task<Result<kube::ObjectRef>> Clusters::create(json::Document document, std::string ns,
                                               bool dry_run) {
  CO_TRY_ASSIGN(document, co_await with_priority(std::move(document)));
  const json::Value& manifest = document.root;
  const json::Value* metadata = manifest.find("metadata");
  const std::string own(metadata == nullptr ? "" : metadata->string_or_empty("namespace"));
  const ObjectKey key{own.empty() ? std::move(ns) : own,
                      std::string(metadata == nullptr ? "" : metadata->string_or_empty("name"))};
  const model::ResourceType type = manifest.string_or_empty("kind") == "AppWrapper"
                                       ? model::resource_type<AppWrapper>()
                                       : model::resource_type<RayCluster>();
  std::string body = json::to_text(manifest);
  CO_TRY_ASSIGN(const std::optional<RayCluster> other, co_await find_ray(key));
  if (other) {
    co_return fail(already_exists("Ray cluster '" + key.name + "' already exists in namespace '" +
                                  key.ns + "'"));
  }
  kube::WriteOptions options{.dry_run = dry_run};
  Result<kube::ObjectRef> made =
      co_await client_.create(type, key.ns, std::move(body), std::move(options));
  if (!made && made.error().code == ErrorCode::not_found) {
    const Result<kube::ApiResource> served = co_await discovery_.find(type.plural, type.group);
    if (!served && served.error().code == ErrorCode::not_found) {
      co_return fail(failed_precondition(
          "the server has no " + type.kind + "s (" + type.qualified_name() +
          "); ask the administrator to install codeflare and KubeRay, or use 'codeflare up'"));
    }
  }
  co_return made;
}

Task<Result<Applied>> Clusters::apply(ClusterConfig config, std::string ns, bool force) {
  const bool any_queue = config.queueing == Queueing::automatic;
  CO_TRY_ASSIGN(json::Document manifest, co_await manifest_for(std::move(config)));
  CO_TRY_ASSIGN(manifest, co_await with_priority(std::move(manifest)));
  CO_TRY_ASSIGN(ClusterInfo wanted, info_of_manifest(manifest));
  wanted.key.ns = wanted.key.ns.empty() ? std::move(ns) : wanted.key.ns;
  co_return co_await apply_to(std::move(wanted), std::move(manifest), force, any_queue);
}

Task<Result<Applied>> Clusters::apply(json::Document manifest, std::string ns, bool force) {
  CO_TRY_ASSIGN(manifest, co_await with_priority(std::move(manifest)));
  CO_TRY_ASSIGN(ClusterInfo wanted, info_of_manifest(manifest));
  wanted.key.ns = wanted.key.ns.empty() ? std::move(ns) : wanted.key.ns;
  co_return co_await apply_to(std::move(wanted), std::move(manifest), force, false);
}

// With `any_queue` a bare RayCluster may stay bare where the server has AppWrappers, and the
// reverse.
Task<Result<Applied>> Clusters::apply_to(ClusterInfo wanted, json::Document manifest, bool force,
                                         bool any_queue) {
  const ObjectKey key = wanted.key;
  const Result<ClusterInfo> existing = co_await get(key);
  if (!existing && existing.error().code != ErrorCode::not_found) {
    co_return fail(existing.error());
  }
  if (!existing) {
    CO_TRY(co_await create(std::move(manifest), key.ns));
    co_return Applied::created;
  }
  std::vector<std::string> changed = changed_fields(*existing, wanted);
  if (any_queue) {
    std::erase(changed, "queueing");
  }
  if (lacks_priority(manifest)) {
    std::erase(changed, "priority");
  }
  if (changed.empty()) {
    co_return Applied::unchanged;
  }
  if (!changes_in_place(*existing, changed)) {
    if (!force) {
      co_return fail(differs(key, changed));
    }
    CO_TRY(co_await recreate(key, std::move(manifest)));
    co_return Applied::recreated;
  }
  Applied applied = Applied::scaled;
  for (const std::string& field : changed) {
    if (field == "priority") {
      CO_TRY(co_await prioritize(key, wanted.objects.wrapper->spec.priority));
      applied = Applied::changed;
    } else {
      CO_TRY(co_await scale(key, "", first_group_workers(wanted)));
    }
  }
  co_return applied;
}

Task<Result<void>> Clusters::remove(ObjectKey key, bool dry_run) {
  CO_TRY_ASSIGN(const ClusterInfo info, co_await get(key));
  // The AppWrapper takes its RayCluster along.
  const bool wrapped = info.objects.wrapper.has_value();
  const model::ResourceType type =
      wrapped ? model::resource_type<AppWrapper>() : model::resource_type<RayCluster>();
  ObjectKey target{key.ns, wrapped ? info.wrapper : key.name};
  kube::DeleteOptions options{.propagation_policy = wrapped ? "Background" : "Foreground",
                              .dry_run = dry_run};
  Result<kube::ObjectRef> rest =
      co_await client_.remove(type, std::move(target), std::move(options));
  if (!rest && rest.error().code != ErrorCode::not_found) {
    co_return fail(std::move(rest).error());
  }
  co_return Result<void>();
}

}  // namespace codeflare::sdk
