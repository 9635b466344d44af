#pragma once

#include "model/codec/codec.h"
#include "model/config_map.h"
#include "model/lease.h"
#include "model/namespace.h"
#include "model/persistent_volume_claim.h"
#include "model/secret.h"
#include "model/service_account.h"

namespace codeflare::model {

const codec::StructInfo& describe(codec::Tag<LeaseSpec>);
const codec::StructInfo& describe(codec::Tag<Lease>);
const codec::StructInfo& describe(codec::Tag<NamespaceSpec>);
const codec::StructInfo& describe(codec::Tag<NamespaceStatus>);
const codec::StructInfo& describe(codec::Tag<Namespace>);
const codec::StructInfo& describe(codec::Tag<Secret>);
const codec::StructInfo& describe(codec::Tag<ConfigMap>);
const codec::StructInfo& describe(codec::Tag<ServiceAccount>);
const codec::StructInfo& describe(codec::Tag<PersistentVolumeClaimSpec>);
const codec::StructInfo& describe(codec::Tag<PersistentVolumeClaimStatus>);
const codec::StructInfo& describe(codec::Tag<PersistentVolumeClaim>);

}  // namespace codeflare::model
