#include "model/codec/core.h"

#include "model/codec/container.h"
#include "model/codec/describe.h"
#include "model/codec/meta.h"
#include "model/internal/list_life.h"

namespace codeflare::model {

using codec::Field;
using codec::field;
using codec::struct_info;
using codec::StructInfo;
using codec::Tag;

const StructInfo& describe(Tag<LeaseSpec>) {
  static constexpr Field kFields[] = {
      field<&LeaseSpec::holder_identity>("holderIdentity"),
      field<&LeaseSpec::lease_duration_seconds>("leaseDurationSeconds"),
      field<&LeaseSpec::acquire_time>("acquireTime"),
      field<&LeaseSpec::renew_time>("renewTime"),
      field<&LeaseSpec::lease_transitions>("leaseTransitions"),
  };
  static constexpr StructInfo kInfo = struct_info<LeaseSpec>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<Lease>) {
  static constexpr Field kFields[] = {
      field<&Lease::metadata>("metadata"),
      field<&Lease::spec>("spec"),
  };
  static constexpr StructInfo kInfo = struct_info<Lease>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<NamespaceSpec>) {
  static constexpr Field kFields[] = {
      field<&NamespaceSpec::finalizers>("finalizers"),
  };
  static constexpr StructInfo kInfo = struct_info<NamespaceSpec>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<NamespaceStatus>) {
  static constexpr Field kFields[] = {
      field<&NamespaceStatus::phase>("phase"),
      field<&NamespaceStatus::conditions>("conditions"),
  };
  static constexpr StructInfo kInfo = struct_info<NamespaceStatus>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<Namespace>) {
  static constexpr Field kFields[] = {
      field<&Namespace::metadata>("metadata"),
      field<&Namespace::spec>("spec"),
      field<&Namespace::status>("status"),
  };
  static constexpr StructInfo kInfo = struct_info<Namespace>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<Secret>) {
  static constexpr Field kFields[] = {
      field<&Secret::metadata>("metadata"), field<&Secret::immutable>("immutable"),
      field<&Secret::data>("data"),         field<&Secret::string_data>("stringData"),
      field<&Secret::type>("type"),
  };
  static constexpr StructInfo kInfo = struct_info<Secret>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<ConfigMap>) {
  static constexpr Field kFields[] = {
      field<&ConfigMap::metadata>("metadata"),
      field<&ConfigMap::immutable>("immutable"),
      field<&ConfigMap::data>("data"),
      field<&ConfigMap::binary_data>("binaryData"),
  };
  static constexpr StructInfo kInfo = struct_info<ConfigMap>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<ServiceAccount>) {
  static constexpr Field kFields[] = {
      field<&ServiceAccount::metadata>("metadata"),
      field<&ServiceAccount::secrets>("secrets"),
      field<&ServiceAccount::image_pull_secrets>("imagePullSecrets"),
      field<&ServiceAccount::automount_service_account_token>("automountServiceAccountToken"),
  };
  static constexpr StructInfo kInfo = struct_info<ServiceAccount>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<PersistentVolumeClaimSpec>) {
  static constexpr Field kFields[] = {
      field<&PersistentVolumeClaimSpec::access_modes>("accessModes"),
      field<&PersistentVolumeClaimSpec::selector>("selector"),
      field<&PersistentVolumeClaimSpec::resources>("resources"),
      field<&PersistentVolumeClaimSpec::volume_name>("volumeName"),
      field<&PersistentVolumeClaimSpec::storage_class_name>("storageClassName"),
      field<&PersistentVolumeClaimSpec::volume_mode>("volumeMode"),
  };
  static constexpr StructInfo kInfo = struct_info<PersistentVolumeClaimSpec>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<PersistentVolumeClaimStatus>) {
  static constexpr Field kFields[] = {
      field<&PersistentVolumeClaimStatus::phase>("phase"),
      field<&PersistentVolumeClaimStatus::access_modes>("accessModes"),
      field<&PersistentVolumeClaimStatus::capacity>("capacity"),
      field<&PersistentVolumeClaimStatus::conditions>("conditions"),
  };
  static constexpr StructInfo kInfo = struct_info<PersistentVolumeClaimStatus>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<PersistentVolumeClaim>) {
  static constexpr Field kFields[] = {
      field<&PersistentVolumeClaim::metadata>("metadata"),
      field<&PersistentVolumeClaim::spec>("spec"),
      field<&PersistentVolumeClaim::status>("status"),
  };
  static constexpr StructInfo kInfo = struct_info<PersistentVolumeClaim>(kFields);
  return kInfo;
}

template struct List<PersistentVolumeClaim>;

}  // namespace codeflare::model
