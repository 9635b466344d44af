#pragma once

#include "model/persistent_volume_claim.h"
#include "runtime/reconciler.h"

#include <optional>
#include <string>
#include <string_view>

// Volumes that are directories of this machine: which claims get one, and what is written for that.
// Pure.
namespace codeflare::controllers::localvolume {

inline constexpr std::string_view kStorageClass = "codeflare-local";
inline constexpr std::string_view kProvisioner = "codeflare.dev/local";

// The fields of a PersistentVolume that count here.
struct LocalVolume {
  std::string name;
  std::string uid;
  std::string phase;
  std::string path;
  std::string claim_ns;
  std::string claim_name;
  std::string claim_uid;
  bool deleting = false;
};

struct ObservedClaim {
  model::PersistentVolumeClaim claim;
  std::optional<LocalVolume> volume{};  // the one that is meant for it
};

// "pvc-" and the claim's UID.
std::string volume_name(std::string_view claim_uid);

// Nothing when the claim is not ours: another class, a volume that somebody chose, an end.
bool is_ours(const model::PersistentVolumeClaim& claim);

// All that is missing until the claim is Bound to a directory below `directory`.
runtime::Plan bind(const ObservedClaim& observed, const std::string& directory);

// The StorageClass, as it is created: claims that name no class get it.
std::string storage_class_json();

}  // namespace codeflare::controllers::localvolume
