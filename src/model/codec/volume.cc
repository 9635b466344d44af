#include "model/codec/volume.h"

#include "model/codec/container.h"
#include "model/codec/describe.h"
#include "model/internal/list_life.h"

namespace codeflare::model {

using codec::Field;
using codec::field;
using codec::Presence;
using codec::struct_info;
using codec::StructInfo;
using codec::Tag;

const StructInfo& describe(Tag<KeyToPath>) {
  static constexpr Field kFields[] = {
      field<&KeyToPath::key>("key", Presence::always),
      field<&KeyToPath::path>("path", Presence::always),
      field<&KeyToPath::mode>("mode"),
  };
  static constexpr StructInfo kInfo = struct_info<KeyToPath>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<ConfigMapVolumeSource>) {
  static constexpr Field kFields[] = {
      field<&ConfigMapVolumeSource::name>("name"),
      field<&ConfigMapVolumeSource::items>("items"),
      field<&ConfigMapVolumeSource::default_mode>("defaultMode"),
      field<&ConfigMapVolumeSource::optional>("optional"),
  };
  static constexpr StructInfo kInfo = struct_info<ConfigMapVolumeSource>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<SecretVolumeSource>) {
  static constexpr Field kFields[] = {
      field<&SecretVolumeSource::secret_name>("secretName"),
      field<&SecretVolumeSource::items>("items"),
      field<&SecretVolumeSource::default_mode>("defaultMode"),
      field<&SecretVolumeSource::optional>("optional"),
  };
  static constexpr StructInfo kInfo = struct_info<SecretVolumeSource>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<EmptyDirVolumeSource>) {
  static constexpr Field kFields[] = {
      field<&EmptyDirVolumeSource::medium>("medium"),
      field<&EmptyDirVolumeSource::size_limit>("sizeLimit"),
  };
  static constexpr StructInfo kInfo = struct_info<EmptyDirVolumeSource>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<HostPathVolumeSource>) {
  static constexpr Field kFields[] = {
      field<&HostPathVolumeSource::path>("path", Presence::always),
      field<&HostPathVolumeSource::type>("type"),
  };
  static constexpr StructInfo kInfo = struct_info<HostPathVolumeSource>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<PersistentVolumeClaimVolumeSource>) {
  static constexpr Field kFields[] = {
      field<&PersistentVolumeClaimVolumeSource::claim_name>("claimName", Presence::always),
      field<&PersistentVolumeClaimVolumeSource::read_only>("readOnly"),
  };
  static constexpr StructInfo kInfo = struct_info<PersistentVolumeClaimVolumeSource>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<DownwardApiFile>) {
  static constexpr Field kFields[] = {
      field<&DownwardApiFile::path>("path", Presence::always),
      field<&DownwardApiFile::field_ref>("fieldRef"),
      field<&DownwardApiFile::resource_field_ref>("resourceFieldRef"),
      field<&DownwardApiFile::mode>("mode"),
  };
  static constexpr StructInfo kInfo = struct_info<DownwardApiFile>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<DownwardApiVolumeSource>) {
  static constexpr Field kFields[] = {
      field<&DownwardApiVolumeSource::items>("items"),
      field<&DownwardApiVolumeSource::default_mode>("defaultMode"),
  };
  static constexpr StructInfo kInfo = struct_info<DownwardApiVolumeSource>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<KeyProjection>) {
  static constexpr Field kFields[] = {
      field<&KeyProjection::name>("name"),
      field<&KeyProjection::items>("items"),
      field<&KeyProjection::optional>("optional"),
  };
  static constexpr StructInfo kInfo = struct_info<KeyProjection>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<DownwardApiProjection>) {
  static constexpr Field kFields[] = {
      field<&DownwardApiProjection::items>("items"),
  };
  static constexpr StructInfo kInfo = struct_info<DownwardApiProjection>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<ServiceAccountTokenProjection>) {
  static constexpr Field kFields[] = {
      field<&ServiceAccountTokenProjection::audience>("audience"),
      field<&ServiceAccountTokenProjection::expiration_seconds>("expirationSeconds"),
      field<&ServiceAccountTokenProjection::path>("path", Presence::always),
  };
  static constexpr StructInfo kInfo = struct_info<ServiceAccountTokenProjection>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<VolumeProjection>) {
  static constexpr Field kFields[] = {
      field<&VolumeProjection::secret>("secret"),
      field<&VolumeProjection::downward_api>("downwardAPI"),
      field<&VolumeProjection::config_map>("configMap"),
      field<&VolumeProjection::service_account_token>("serviceAccountToken"),
  };
  static constexpr StructInfo kInfo = struct_info<VolumeProjection>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<ProjectedVolumeSource>) {
  static constexpr Field kFields[] = {
      field<&ProjectedVolumeSource::sources>("sources", Presence::always),
      field<&ProjectedVolumeSource::default_mode>("defaultMode"),
  };
  static constexpr StructInfo kInfo = struct_info<ProjectedVolumeSource>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<Volume>) {
  static constexpr Field kFields[] = {
      field<&Volume::name>("name", Presence::always),
      field<&Volume::host_path>("hostPath"),
      field<&Volume::empty_dir>("emptyDir"),
      field<&Volume::secret>("secret"),
      field<&Volume::persistent_volume_claim>("persistentVolumeClaim"),
      field<&Volume::downward_api>("downwardAPI"),
      field<&Volume::config_map>("configMap"),
      field<&Volume::projected>("projected"),
  };
  static constexpr StructInfo kInfo = struct_info<Volume>(kFields);
  return kInfo;
}

template struct List<DownwardApiFile>;
template struct List<KeyToPath>;
template struct List<Volume>;
template struct List<VolumeProjection>;

}  // namespace codeflare::model
