#include "controllers/localvolume/local_volume_controller.h"

#include "controllers/pods_type.h"
#include "model/codec/core.h"
#include "model/codec/pod.h"
#include "model/resources.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace codeflare::controllers::localvolume {

namespace {

using runtime::Action;
using runtime::Next;
using runtime::ObjectKey;
using runtime::Plan;

const runtime::ResourceType kClaims = model::resource_type<model::PersistentVolumeClaim>();
const runtime::ResourceType kVolumes{"", "v1", "PersistentVolume", "persistentvolumes", false};
const runtime::ResourceType kClasses{"storage.k8s.io", "v1", "StorageClass", "storageclasses",
                                     false};

constexpr Duration kLookAtPods = std::chrono::seconds(10);

// Nothing when it is not one of ours.
std::optional<LocalVolume> read_volume(const kube::Object& object) {
  const Result<json::Document> document = object.parse();
  if (!document) {
    return std::nullopt;
  }
  const auto text = [&](std::initializer_list<std::string_view> path) {
    const json::Value* found = document->root.get(path);
    return found != nullptr && found->is_string() ? std::string(found->as_string()) : std::string();
  };
  if (text({"metadata", "annotations", "pv.kubernetes.io/provisioned-by"}) != kProvisioner) {
    return std::nullopt;
  }
  return LocalVolume{.name = std::string(object.name()),
                     .uid = std::string(object.uid()),
                     .phase = text({"status", "phase"}),
                     .path = text({"spec", "hostPath", "path"}),
                     .claim_ns = text({"spec", "claimRef", "namespace"}),
                     .claim_name = text({"spec", "claimRef", "name"}),
                     .claim_uid = text({"spec", "claimRef", "uid"}),
                     .deleting = object.deleting()};
}

void claim_of(const kube::Object& object, std::vector<ObjectKey>& keys) {
  if (const std::optional<LocalVolume> volume = read_volume(object)) {
    keys.push_back({volume->claim_ns, volume->claim_name});
  }
}

void volume_of(const kube::Object& claim, std::vector<ObjectKey>& keys) {
  keys.push_back({"", volume_name(claim.uid())});
}

}  // namespace

ClaimBinder::ClaimBinder(const runtime::ControllerContext& context, std::string directory)
    : StoryReconciler(context.env, context.actor),
      claims_(context.subject.store()),
      volumes_(context.cache.informer(kVolumes).store()),
      directory_(std::move(directory)) {}

std::optional<ObservedClaim> ClaimBinder::observe(const ObjectKey& key) const {
  const runtime::ObjectRef object = claims_.get(key);
  if (object == nullptr) {
    return std::nullopt;
  }
  Result<model::PersistentVolumeClaim> claim = object->as<model::PersistentVolumeClaim>();
  if (!claim || !is_ours(*claim)) {
    return std::nullopt;
  }
  ObservedClaim observed{.claim = *std::move(claim)};
  const runtime::ObjectRef volume = volumes_.get("", volume_name(object->uid()));
  if (volume != nullptr) {
    observed.volume = read_volume(*volume);
  }
  return observed;
}

Plan ClaimBinder::desired(const ObservedClaim& observed, WallTime /*now*/) const {
  return bind(observed, directory_);
}

Plan ClaimBinder::diff(const ObservedClaim& /*observed*/, const Plan& desired) const {
  return desired;
}

VolumeRemover::VolumeRemover(const runtime::ControllerContext& context, std::string directory)
    : env_(context.env),
      actor_(context.actor),
      volumes_(context.subject.store()),
      claims_(context.cache.informer(kClaims)),
      pods_(context.cache.informer(kPods)),
      directory_(std::move(directory)) {}

bool VolumeRemover::in_use(const LocalVolume& volume, const std::optional<WallTime>& next) const {
  for (const runtime::ObjectRef& object : pods_.store().list(volume.claim_ns)) {
    const Result<model::Pod> pod = object->as<model::Pod>();
    if (!pod || pod->status.phase == "Succeeded" || pod->status.phase == "Failed" ||
        (next && pod->metadata.creation_timestamp.value_or(WallTime()) > *next)) {
      continue;
    }
    const bool uses = std::ranges::any_of(pod->spec.volumes, [&](const model::Volume& one) {
      return one.persistent_volume_claim &&
             one.persistent_volume_claim->claim_name == volume.claim_name;
    });
    if (uses) {
      return true;
    }
  }
  return false;
}

Task<Result<Next>> VolumeRemover::reconcile(ObjectKey key) {
  CO_TRY(co_await actor_.ready(key));
  CO_TRY(co_await claims_.wait_synced());
  CO_TRY(co_await pods_.wait_synced());
  const runtime::ObjectRef object = volumes_.get(key);
  const std::optional<LocalVolume> volume = object == nullptr ? std::nullopt : read_volume(*object);
  if (!volume || volume->claim_uid.empty()) {
    co_return Next::await_change();
  }
  const runtime::ObjectRef claim = claims_.store().get(volume->claim_ns, volume->claim_name);
  if (claim != nullptr && claim->uid() == volume->claim_uid) {
    co_return Next::await_change();
  }
  std::optional<WallTime> next;
  if (claim != nullptr) {
    CO_TRY_ASSIGN(const model::PersistentVolumeClaim other,
                  claim->as<model::PersistentVolumeClaim>());
    next = other.metadata.creation_timestamp;
  }
  if (in_use(*volume, next)) {
    co_return Next::after(kLookAtPods);
  }
  // Only what we made: the path is the volume's own below our directory.
  const std::string path = volume->path;
  if (path.starts_with(directory_ + "/" + volume->name + "_") &&
      path.find("..") == std::string::npos) {
    CO_TRY(co_await run_blocking(env_, [&] { return env_.files.remove_all(path); }));
  }
  Plan plan;
  plan.actions.push_back({.verb = Action::Verb::remove,
                          .type = kVolumes,
                          .key = key,
                          .why = "claim is gone",
                          .removal = {.uid = volume->uid}});
  CO_TRY(co_await actor_.act(key, std::move(plan)));
  co_return Next::await_change();
}

ClaimBinder& add_local_volume_controllers(runtime::Manager& manager, std::string directory) {
  manager.controller("local-volumes")
      .reconciles(kVolumes)
      .watches(kClaims, volume_of)
      .with<VolumeRemover>(directory);
  return manager.controller("local-volume-claims")
      .reconciles(kClaims)
      .watches(kVolumes, claim_of)
      .with<ClaimBinder>(std::move(directory));
}

Task<Result<void>> ensure_storage_class(kube::Client& client) {
  const Result<kube::ObjectRef> made = co_await client.create(kClasses, "", storage_class_json());
  if (!made && made.error().code != ErrorCode::already_exists) {
    co_return fail(made.error());
  }
  co_return Result<void>();
}

}  // namespace codeflare::controllers::localvolume
