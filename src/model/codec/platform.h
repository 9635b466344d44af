#pragma once

#include "model/application.h"
#include "model/codec/codec.h"
#include "model/data_set.h"
#include "model/image.h"
#include "model/platform_repo_secret.h"
#include "model/run.h"
#include "model/run_policy.h"
#include "model/run_size_configuration.h"

// The kinds of codeflare.dev.
namespace codeflare::model {

const codec::StructInfo& describe(codec::Tag<RunSize>);
const codec::StructInfo& describe(codec::Tag<RunSizeConfigurationSpec>);
const codec::StructInfo& describe(codec::Tag<RunSizeConfiguration>);
const codec::StructInfo& describe(codec::Tag<DataSetNfs>);
const codec::StructInfo& describe(codec::Tag<DataSetPvc>);
const codec::StructInfo& describe(codec::Tag<SecretName>);
const codec::StructInfo& describe(codec::Tag<DataSetSpec>);
const codec::StructInfo& describe(codec::Tag<ReadyStatus>);
const codec::StructInfo& describe(codec::Tag<DataSet>);
const codec::StructInfo& describe(codec::Tag<ParameterSpec>);
const codec::StructInfo& describe(codec::Tag<CodeFile>);
const codec::StructInfo& describe(codec::Tag<ApplicationInput>);
const codec::StructInfo& describe(codec::Tag<ApplicationProgress>);
const codec::StructInfo& describe(codec::Tag<RunSecurityContext>);
const codec::StructInfo& describe(codec::Tag<ApplicationSpec>);
const codec::StructInfo& describe(codec::Tag<Application>);
const codec::StructInfo& describe(codec::Tag<ApplicationReference>);
const codec::StructInfo& describe(codec::Tag<RunSpec>);
const codec::StructInfo& describe(codec::Tag<EffectiveValue>);
const codec::StructInfo& describe(codec::Tag<RunStatus>);
const codec::StructInfo& describe(codec::Tag<Run>);
const codec::StructInfo& describe(codec::Tag<RunPolicyDefaults>);
const codec::StructInfo& describe(codec::Tag<RunPolicyBounds>);
const codec::StructInfo& describe(codec::Tag<RunPolicyLimits>);
const codec::StructInfo& describe(codec::Tag<RunPolicyPriority>);
const codec::StructInfo& describe(codec::Tag<RunPolicyPlacement>);
const codec::StructInfo& describe(codec::Tag<RunPolicySpec>);
const codec::StructInfo& describe(codec::Tag<RunPolicy>);
const codec::StructInfo& describe(codec::Tag<DataSetS3>);
const codec::StructInfo& describe(codec::Tag<SecretReference>);
const codec::StructInfo& describe(codec::Tag<PlatformRepoSecretSpec>);
const codec::StructInfo& describe(codec::Tag<PlatformRepoSecret>);
const codec::StructInfo& describe(codec::Tag<ImageSpec>);
const codec::StructInfo& describe(codec::Tag<ImageStatus>);
const codec::StructInfo& describe(codec::Tag<Image>);

}  // namespace codeflare::model
