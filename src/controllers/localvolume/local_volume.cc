#include "controllers/localvolume/local_volume.h"

#include "json/write.h"
#include "model/gvk.h"
#include "model/resources.h"

#include <utility>

namespace codeflare::controllers::localvolume {

namespace {

using model::PersistentVolumeClaim;
using runtime::Action;
using runtime::Plan;

const runtime::ResourceType kClaims = model::resource_type<PersistentVolumeClaim>();
const runtime::ResourceType kVolumes{"", "v1", "PersistentVolume", "persistentvolumes", false};

std::string storage_of(const PersistentVolumeClaim& claim) {
  return claim.spec.resources.requests.get("storage").to_string();
}

void write_modes(json::Writer& w, const PersistentVolumeClaim& claim) {
  w.key("accessModes").begin_array();
  for (const std::string& mode : claim.spec.access_modes) {
    w.string(mode);
  }
  w.end_array();
}

std::string volume_body(const PersistentVolumeClaim& claim, const std::string& directory) {
  const model::ObjectMeta& meta = claim.metadata;
  const std::string name = volume_name(meta.uid);
  std::string body;
  json::Writer w(body);
  w.begin_object();
  w.member("apiVersion", "v1").member("kind", "PersistentVolume");
  w.key("metadata").begin_object().member("name", name);
  w.key("annotations").begin_object();
  w.member("pv.kubernetes.io/provisioned-by", kProvisioner).end_object().end_object();
  w.key("spec").begin_object();
  w.key("capacity").begin_object().member("storage", storage_of(claim)).end_object();
  write_modes(w, claim);
  w.key("claimRef").begin_object();
  w.member("apiVersion", "v1").member("kind", "PersistentVolumeClaim");
  w.member("namespace", meta.ns).member("name", meta.name).member("uid", meta.uid).end_object();
  w.member("persistentVolumeReclaimPolicy", "Delete");
  w.member("storageClassName", kStorageClass).member("volumeMode", "Filesystem");
  w.key("hostPath").begin_object();
  w.member("path", directory + "/" + name + "_" + meta.ns + "_" + meta.name);
  w.member("type", "DirectoryOrCreate").end_object();
  w.end_object().end_object();
  return body;
}

// Rejected when it is another claim by now.
void begin_patch(json::Writer& w, std::string_view uid) {
  w.begin_object().key("metadata").begin_object().member("uid", uid);
}

std::string claim_patch(const PersistentVolumeClaim& claim) {
  std::string body;
  json::Writer w(body);
  begin_patch(w, claim.metadata.uid);
  w.key("annotations").begin_object();
  w.member("pv.kubernetes.io/bind-completed", "yes");
  w.member("pv.kubernetes.io/bound-by-controller", "yes");
  w.member("volume.kubernetes.io/storage-provisioner", kProvisioner).end_object().end_object();
  w.key("spec").begin_object().member("volumeName", volume_name(claim.metadata.uid));
  w.member("storageClassName", kStorageClass).end_object().end_object();
  return body;
}

std::string claim_status(const PersistentVolumeClaim& claim) {
  std::string body;
  json::Writer w(body);
  begin_patch(w, claim.metadata.uid);
  w.end_object().key("status").begin_object().member("phase", "Bound");
  write_modes(w, claim);
  w.key("capacity").begin_object().member("storage", storage_of(claim)).end_object();
  w.end_object().end_object();
  return body;
}

Action patch(const runtime::ResourceType& type, runtime::ObjectKey key, std::string body,
             std::string subresource) {
  return {.verb = Action::Verb::patch,
          .type = type,
          .key = std::move(key),
          .body = std::move(body),
          .why = "claim has a directory",
          .write = {.subresource = std::move(subresource)}};
}

}  // namespace

std::string volume_name(std::string_view claim_uid) {
  return "pvc-" + std::string(claim_uid);
}

bool is_ours(const PersistentVolumeClaim& claim) {
  const model::PersistentVolumeClaimSpec& spec = claim.spec;
  return !claim.metadata.deleting() &&
         spec.storage_class_name.value_or(std::string(kStorageClass)) == kStorageClass &&
         !spec.selector && spec.volume_mode.value_or("Filesystem") == "Filesystem" &&
         (spec.volume_name.empty() || spec.volume_name == volume_name(claim.metadata.uid));
}

Plan bind(const ObservedClaim& observed, const std::string& directory) {
  const PersistentVolumeClaim& claim = observed.claim;
  const std::string name = volume_name(claim.metadata.uid);
  Plan plan;
  if (!observed.volume && claim.status.phase == "Bound") {
    return plan;  // it was taken away by hand: an empty one in its place would be no help
  }
  if (!observed.volume) {
    plan.actions.push_back({.verb = Action::Verb::create,
                            .type = kVolumes,
                            .key = {"", name},
                            .body = volume_body(claim, directory),
                            .why = "a claim is waiting for the volume"});
  }
  if (!observed.volume || observed.volume->phase != "Bound") {
    plan.actions.push_back(
        patch(kVolumes, {"", name}, R"({"status":{"phase":"Bound"}})", "status"));
  }
  if (claim.spec.volume_name.empty()) {
    plan.actions.push_back(patch(kClaims, claim.metadata.key(), claim_patch(claim), ""));
    plan.events.push_back(
        {.reason = "ProvisioningSucceeded", .message = "Successfully provisioned volume " + name});
  }
  if (claim.status.phase != "Bound") {
    plan.actions.push_back(patch(kClaims, claim.metadata.key(), claim_status(claim), "status"));
  }
  return plan;
}

std::string storage_class_json() {
  std::string body;
  json::Writer w(body);
  w.begin_object();
  w.member("apiVersion", "storage.k8s.io/v1").member("kind", "StorageClass");
  w.key("metadata").begin_object().member("name", kStorageClass);
  w.key("annotations").begin_object();
  w.member("storageclass.kubernetes.io/is-default-class", "true").end_object().end_object();
  w.member("provisioner", kProvisioner).member("reclaimPolicy", "Delete");
  w.member("volumeBindingMode", "Immediate").end_object();
  return body;
}

}  // namespace codeflare::controllers::localvolume
