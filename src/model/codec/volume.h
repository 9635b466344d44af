#pragma once

#include "model/codec/codec.h"
#include "model/volume.h"

namespace codeflare::model {

const codec::StructInfo& describe(codec::Tag<KeyToPath>);
const codec::StructInfo& describe(codec::Tag<ConfigMapVolumeSource>);
const codec::StructInfo& describe(codec::Tag<SecretVolumeSource>);
const codec::StructInfo& describe(codec::Tag<EmptyDirVolumeSource>);
const codec::StructInfo& describe(codec::Tag<HostPathVolumeSource>);
const codec::StructInfo& describe(codec::Tag<PersistentVolumeClaimVolumeSource>);
const codec::StructInfo& describe(codec::Tag<DownwardApiFile>);
const codec::StructInfo& describe(codec::Tag<DownwardApiVolumeSource>);
const codec::StructInfo& describe(codec::Tag<KeyProjection>);
const codec::StructInfo& describe(codec::Tag<DownwardApiProjection>);
const codec::StructInfo& describe(codec::Tag<ServiceAccountTokenProjection>);
const codec::StructInfo& describe(codec::Tag<VolumeProjection>);
const codec::StructInfo& describe(codec::Tag<ProjectedVolumeSource>);
const codec::StructInfo& describe(codec::Tag<Volume>);

}  // namespace codeflare::model
