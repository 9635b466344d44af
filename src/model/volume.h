#pragma once

#include "model/container.h"
#include "model/extra.h"
#include "model/list.h"
#include "model/quantity.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace codeflare::model {

// Projects one key to one file.
struct KeyToPath {
  std::string key;
  std::string path;
  std::optional<std::int32_t> mode;
  Extra extra;

  friend bool operator==(const KeyToPath&, const KeyToPath&) = default;
};

// The keys of a ConfigMap as files.
struct ConfigMapVolumeSource {
  std::string name;
  List<KeyToPath> items;
  std::optional<std::int32_t> default_mode;
  std::optional<bool> optional;
  Extra extra;

  friend bool operator==(const ConfigMapVolumeSource&, const ConfigMapVolumeSource&) = default;
};

// The keys of a Secret as files.
struct SecretVolumeSource {
  std::string secret_name;
  List<KeyToPath> items;
  std::optional<std::int32_t> default_mode;
  std::optional<bool> optional;
  Extra extra;

  friend bool operator==(const SecretVolumeSource&, const SecretVolumeSource&) = default;
};

struct EmptyDirVolumeSource {
  std::string medium;  // "Memory" for a tmpfs
  std::optional<Quantity> size_limit;
  Extra extra;

  friend bool operator==(const EmptyDirVolumeSource&, const EmptyDirVolumeSource&) = default;
};

struct HostPathVolumeSource {
  std::string path;
  std::optional<std::string> type;
  Extra extra;

  friend bool operator==(const HostPathVolumeSource&, const HostPathVolumeSource&) = default;
};

struct PersistentVolumeClaimVolumeSource {
  std::string claim_name;
  bool read_only = false;
  Extra extra;

  friend bool operator==(const PersistentVolumeClaimVolumeSource&,
                         const PersistentVolumeClaimVolumeSource&) = default;
};

struct DownwardApiFile {
  std::string path;
  std::optional<ObjectFieldSelector> field_ref;
  std::optional<ResourceFieldSelector> resource_field_ref;
  std::optional<std::int32_t> mode;
  Extra extra;

  friend bool operator==(const DownwardApiFile&, const DownwardApiFile&) = default;
};

struct DownwardApiVolumeSource {
  List<DownwardApiFile> items;
  std::optional<std::int32_t> default_mode;
  Extra extra;

  friend bool operator==(const DownwardApiVolumeSource&, const DownwardApiVolumeSource&) = default;
};

// Part of a projected volume: keys of a ConfigMap or Secret.
struct KeyProjection {
  std::string name;
  List<KeyToPath> items;
  std::optional<bool> optional;
  Extra extra;

  friend bool operator==(const KeyProjection&, const KeyProjection&) = default;
};

struct DownwardApiProjection {
  List<DownwardApiFile> items;
  Extra extra;

  friend bool operator==(const DownwardApiProjection&, const DownwardApiProjection&) = default;
};

struct ServiceAccountTokenProjection {
  std::string audience;
  std::optional<std::int64_t> expiration_seconds;
  std::string path;
  Extra extra;

  friend bool operator==(const ServiceAccountTokenProjection&,
                         const ServiceAccountTokenProjection&) = default;
};

struct VolumeProjection {
  std::optional<KeyProjection> secret;
  std::optional<DownwardApiProjection> downward_api;
  std::optional<KeyProjection> config_map;
  std::optional<ServiceAccountTokenProjection> service_account_token;
  Extra extra;

  friend bool operator==(const VolumeProjection&, const VolumeProjection&) = default;
};

struct ProjectedVolumeSource {
  List<VolumeProjection> sources;
  std::optional<std::int32_t> default_mode;
  Extra extra;

  friend bool operator==(const ProjectedVolumeSource&, const ProjectedVolumeSource&) = default;
};

// Sources that are not looked at here stay in `extra`.
struct Volume {
  std::string name;
  std::optional<HostPathVolumeSource> host_path;
  std::optional<EmptyDirVolumeSource> empty_dir;
  std::optional<SecretVolumeSource> secret;
  std::optional<PersistentVolumeClaimVolumeSource> persistent_volume_claim;
  std::optional<DownwardApiVolumeSource> downward_api;
  std::optional<ConfigMapVolumeSource> config_map;
  std::optional<ProjectedVolumeSource> projected;
  Extra extra;

  friend bool operator==(const Volume&, const Volume&) = default;
};

}  // namespace codeflare::model
