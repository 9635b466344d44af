#include "model/codec/platform.h"

#include "model/codec/describe.h"
#include "model/codec/meta.h"
#include "model/codec/placement.h"
#include "model/codec/scalars.h"
#include "model/internal/list_life.h"

namespace codeflare::model {

using codec::Field;
using codec::field;
using codec::Presence;
using codec::struct_info;
using codec::StructInfo;
using codec::Tag;

const StructInfo& describe(Tag<RunSize>) {
  static constexpr Field kFields[] = {
      field<&RunSize::workers>("workers", Presence::always),
      field<&RunSize::cpu>("cpu"),
      field<&RunSize::memory>("memory"),
      field<&RunSize::gpu>("gpu"),
  };
  static constexpr StructInfo kInfo = struct_info<RunSize>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<RunSizeConfigurationSpec>) {
  static constexpr Field kFields[] = {
      field<&RunSizeConfigurationSpec::priority>("priority"),
      field<&RunSizeConfigurationSpec::config>("config", Presence::always),
  };
  static constexpr StructInfo kInfo = struct_info<RunSizeConfigurationSpec>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<RunSizeConfiguration>) {
  static constexpr Field kFields[] = {
      field<&RunSizeConfiguration::metadata>("metadata"),
      field<&RunSizeConfiguration::spec>("spec"),
  };
  static constexpr StructInfo kInfo = struct_info<RunSizeConfiguration>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<DataSetNfs>) {
  static constexpr Field kFields[] = {
      field<&DataSetNfs::server>("server"),
      field<&DataSetNfs::path>("path"),
  };
  static constexpr StructInfo kInfo = struct_info<DataSetNfs>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<DataSetPvc>) {
  static constexpr Field kFields[] = {
      field<&DataSetPvc::claim_name>("claimName"),
      field<&DataSetPvc::sub_path>("subPath"),
  };
  static constexpr StructInfo kInfo = struct_info<DataSetPvc>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<SecretName>) {
  static constexpr Field kFields[] = {
      field<&SecretName::name>("name"),
  };
  static constexpr StructInfo kInfo = struct_info<SecretName>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<DataSetSpec>) {
  static constexpr Field kFields[] = {
      field<&DataSetSpec::inline_files>("inline"),
      field<&DataSetSpec::nfs>("nfs"),
      field<&DataSetSpec::pvc>("pvc"),
      field<&DataSetSpec::s3>("s3"),
      field<&DataSetSpec::read_only>("readOnly"),
      field<&DataSetSpec::allowed_namespaces>("allowedNamespaces"),
      field<&DataSetSpec::description>("description"),
  };
  static constexpr StructInfo kInfo = struct_info<DataSetSpec>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<ReadyStatus>) {
  static constexpr Field kFields[] = {
      field<&ReadyStatus::conditions>("conditions"),
      field<&ReadyStatus::observed_generation>("observedGeneration"),
  };
  static constexpr StructInfo kInfo = struct_info<ReadyStatus>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<DataSet>) {
  static constexpr Field kFields[] = {
      field<&DataSet::metadata>("metadata"),
      field<&DataSet::spec>("spec"),
      field<&DataSet::status>("status"),
  };
  static constexpr StructInfo kInfo = struct_info<DataSet>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<ParameterSpec>) {
  static constexpr Field kFields[] = {
      field<&ParameterSpec::name>("name"),
      field<&ParameterSpec::type>("type"),
      field<&ParameterSpec::flag>("flag"),
      field<&ParameterSpec::position>("position"),
      field<&ParameterSpec::default_value>("default"),
      field<&ParameterSpec::enum_values>("enum"),
      field<&ParameterSpec::minimum>("minimum"),
      field<&ParameterSpec::maximum>("maximum"),
      field<&ParameterSpec::pattern>("pattern"),
      field<&ParameterSpec::required>("required"),
      field<&ParameterSpec::description>("description"),
  };
  static constexpr StructInfo kInfo = struct_info<ParameterSpec>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<CodeFile>) {
  static constexpr Field kFields[] = {
      field<&CodeFile::name>("name"),
      field<&CodeFile::source>("source", Presence::always),
  };
  static constexpr StructInfo kInfo = struct_info<CodeFile>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<ApplicationInput>) {
  static constexpr Field kFields[] = {
      field<&ApplicationInput::name>("name"),
      field<&ApplicationInput::ns>("namespace"),
      field<&ApplicationInput::sizes>("sizes"),
      field<&ApplicationInput::default_size>("defaultSize"),
      field<&ApplicationInput::mount_path>("mountPath"),
      field<&ApplicationInput::use_as>("useas"),
  };
  static constexpr StructInfo kInfo = struct_info<ApplicationInput>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<ApplicationProgress>) {
  static constexpr Field kFields[] = {
      field<&ApplicationProgress::pattern>("pattern"),
  };
  static constexpr StructInfo kInfo = struct_info<ApplicationProgress>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<RunSecurityContext>) {
  static constexpr Field kFields[] = {
      field<&RunSecurityContext::run_as_user>("runAsUser"),
      field<&RunSecurityContext::run_as_group>("runAsGroup"),
      field<&RunSecurityContext::fs_group>("fsGroup"),
  };
  static constexpr StructInfo kInfo = struct_info<RunSecurityContext>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<ApplicationSpec>) {
  static constexpr Field kFields[] = {
      field<&ApplicationSpec::api>("api"),
      field<&ApplicationSpec::image>("image"),
      field<&ApplicationSpec::image_pull_secret>("imagePullSecret"),
      field<&ApplicationSpec::command>("command"),
      field<&ApplicationSpec::options>("options"),
      field<&ApplicationSpec::parameters>("parameters"),
      field<&ApplicationSpec::additional_options>("additionalOptions"),
      field<&ApplicationSpec::env>("env"),
      field<&ApplicationSpec::requirements>("requirements"),
      field<&ApplicationSpec::repo>("repo"),
      field<&ApplicationSpec::ref>("ref"),
      field<&ApplicationSpec::path>("path"),
      field<&ApplicationSpec::repo_secret>("repoSecret"),
      field<&ApplicationSpec::code>("code"),
      field<&ApplicationSpec::inputs>("inputs"),
      field<&ApplicationSpec::allowed_namespaces>("allowedNamespaces"),
      field<&ApplicationSpec::size>("size"),
      field<&ApplicationSpec::min_cpu>("minCpu"),
      field<&ApplicationSpec::min_memory>("minMemory"),
      field<&ApplicationSpec::min_gpu>("minGpu"),
      field<&ApplicationSpec::supports_gpu>("supportsGpu"),
      field<&ApplicationSpec::progress>("progress"),
      field<&ApplicationSpec::security_context>("securityContext"),
      field<&ApplicationSpec::description>("description"),
      field<&ApplicationSpec::tags>("tags"),
  };
  static constexpr StructInfo kInfo = struct_info<ApplicationSpec>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<Application>) {
  static constexpr Field kFields[] = {
      field<&Application::metadata>("metadata"),
      field<&Application::spec>("spec"),
      field<&Application::status>("status"),
  };
  static constexpr StructInfo kInfo = struct_info<Application>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<ApplicationReference>) {
  static constexpr Field kFields[] = {
      field<&ApplicationReference::name>("name"),
      field<&ApplicationReference::ns>("namespace"),
  };
  static constexpr StructInfo kInfo = struct_info<ApplicationReference>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<RunSpec>) {
  static constexpr Field kFields[] = {
      field<&RunSpec::application>("application"),
      field<&RunSpec::parameters>("parameters"),
      field<&RunSpec::options>("options"),
      field<&RunSpec::env>("env"),
      field<&RunSpec::size>("size"),
      field<&RunSpec::workers>("workers"),
      field<&RunSpec::cpu>("cpu"),
      field<&RunSpec::memory>("memory"),
      field<&RunSpec::gpu>("gpu"),
      field<&RunSpec::supports_gpu>("supportsGpu"),
      field<&RunSpec::input>("input"),
      field<&RunSpec::priority>("priority"),
      field<&RunSpec::suspend>("suspend"),
      field<&RunSpec::retries>("retries"),
      field<&RunSpec::active_deadline_seconds>("activeDeadlineSeconds"),
      field<&RunSpec::expected_seconds>("expectedSeconds"),
      field<&RunSpec::ttl_seconds_after_finished>("ttlSecondsAfterFinished"),
  };
  static constexpr StructInfo kInfo = struct_info<RunSpec>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<EffectiveValue>) {
  static constexpr Field kFields[] = {
      field<&EffectiveValue::name>("name"),
      field<&EffectiveValue::value>("value", Presence::always),
      field<&EffectiveValue::from>("from"),
  };
  static constexpr StructInfo kInfo = struct_info<EffectiveValue>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<RunStatus>) {
  static constexpr Field kFields[] = {
      field<&RunStatus::phase>("phase"),
      field<&RunStatus::reason>("reason"),
      field<&RunStatus::message>("message"),
      field<&RunStatus::conditions>("conditions"),
      field<&RunStatus::app_wrapper>("appWrapper"),
      field<&RunStatus::api>("api"),
      field<&RunStatus::size>("size"),
      field<&RunStatus::head_pod>("headPod"),
      field<&RunStatus::effective>("effective"),
      field<&RunStatus::epoch>("epoch"),
      field<&RunStatus::progress>("progress"),
      field<&RunStatus::start_time>("startTime"),
      field<&RunStatus::completion_time>("completionTime"),
      field<&RunStatus::observed_generation>("observedGeneration"),
  };
  static constexpr StructInfo kInfo = struct_info<RunStatus>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<Run>) {
  static constexpr Field kFields[] = {
      field<&Run::metadata>("metadata"),
      field<&Run::spec>("spec"),
      field<&Run::status>("status"),
  };
  static constexpr StructInfo kInfo = struct_info<Run>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<RunPolicyDefaults>) {
  static constexpr Field kFields[] = {
      field<&RunPolicyDefaults::size>("size"),
      field<&RunPolicyDefaults::priority>("priority"),
      field<&RunPolicyDefaults::workers>("workers"),
      field<&RunPolicyDefaults::cpu>("cpu"),
      field<&RunPolicyDefaults::memory>("memory"),
      field<&RunPolicyDefaults::gpu>("gpu"),
      field<&RunPolicyDefaults::retries>("retries"),
      field<&RunPolicyDefaults::active_deadline_seconds>("activeDeadlineSeconds"),
      field<&RunPolicyDefaults::ttl_seconds_after_finished>("ttlSecondsAfterFinished"),
  };
  static constexpr StructInfo kInfo = struct_info<RunPolicyDefaults>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<RunPolicyBounds>) {
  static constexpr Field kFields[] = {
      field<&RunPolicyBounds::minimum>("minimum"),
      field<&RunPolicyBounds::maximum>("maximum"),
  };
  static constexpr StructInfo kInfo = struct_info<RunPolicyBounds>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<RunPolicyLimits>) {
  static constexpr Field kFields[] = {
      field<&RunPolicyLimits::values>("values"),
      field<&RunPolicyLimits::sizes>("sizes"),
      field<&RunPolicyLimits::priorities>("priorities"),
  };
  static constexpr StructInfo kInfo = struct_info<RunPolicyLimits>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<RunPolicyPriority>) {
  static constexpr Field kFields[] = {
      field<&RunPolicyPriority::value>("value", Presence::always),
      field<&RunPolicyPriority::priority_class_name>("priorityClassName"),
  };
  static constexpr StructInfo kInfo = struct_info<RunPolicyPriority>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<RunPolicyPlacement>) {
  static constexpr Field kFields[] = {
      field<&RunPolicyPlacement::zones>("zones"),
      field<&RunPolicyPlacement::regions>("regions"),
      field<&RunPolicyPlacement::node_labels>("nodeLabels"),
      field<&RunPolicyPlacement::tolerations>("tolerations"),
      field<&RunPolicyPlacement::preferred>("preferred"),
  };
  static constexpr StructInfo kInfo = struct_info<RunPolicyPlacement>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<RunPolicySpec>) {
  static constexpr Field kFields[] = {
      field<&RunPolicySpec::priority>("priority"),
      field<&RunPolicySpec::namespace_selector>("namespaceSelector"),
      field<&RunPolicySpec::applications>("applications"),
      field<&RunPolicySpec::defaults>("defaults"),
      field<&RunPolicySpec::limits>("limits"),
      field<&RunPolicySpec::priorities>("priorities"),
      field<&RunPolicySpec::placement>("placement"),
  };
  static constexpr StructInfo kInfo = struct_info<RunPolicySpec>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<RunPolicy>) {
  static constexpr Field kFields[] = {
      field<&RunPolicy::metadata>("metadata"),
      field<&RunPolicy::spec>("spec"),
  };
  static constexpr StructInfo kInfo = struct_info<RunPolicy>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<DataSetS3>) {
  static constexpr Field kFields[] = {
      field<&DataSetS3::endpoint>("endpoint"), field<&DataSetS3::bucket>("bucket"),
      field<&DataSetS3::prefix>("prefix"),     field<&DataSetS3::region>("region"),
      field<&DataSetS3::secret>("secret"),
  };
  static constexpr StructInfo kInfo = struct_info<DataSetS3>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<SecretReference>) {
  static constexpr Field kFields[] = {
      field<&SecretReference::name>("name"),
      field<&SecretReference::ns>("namespace"),
  };
  static constexpr StructInfo kInfo = struct_info<SecretReference>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<PlatformRepoSecretSpec>) {
  static constexpr Field kFields[] = {
      field<&PlatformRepoSecretSpec::repo>("repo"),
      field<&PlatformRepoSecretSpec::secret>("secret"),
      field<&PlatformRepoSecretSpec::namespace_selector>("namespaceSelector"),
  };
  static constexpr StructInfo kInfo = struct_info<PlatformRepoSecretSpec>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<PlatformRepoSecret>) {
  static constexpr Field kFields[] = {
      field<&PlatformRepoSecret::metadata>("metadata"),
      field<&PlatformRepoSecret::spec>("spec"),
  };
  static constexpr StructInfo kInfo = struct_info<PlatformRepoSecret>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<ImageSpec>) {
  static constexpr Field kFields[] = {
      field<&ImageSpec::image>("image"),
      field<&ImageSpec::image_pull_secret>("imagePullSecret"),
      field<&ImageSpec::node_selector>("nodeSelector"),
  };
  static constexpr StructInfo kInfo = struct_info<ImageSpec>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<ImageStatus>) {
  static constexpr Field kFields[] = {
      field<&ImageStatus::image>("image"),
      field<&ImageStatus::ready_nodes>("readyNodes"),
      field<&ImageStatus::nodes>("nodes", Presence::always),
      field<&ImageStatus::ready>("ready"),
      field<&ImageStatus::conditions>("conditions"),
      field<&ImageStatus::observed_generation>("observedGeneration"),
  };
  static constexpr StructInfo kInfo = struct_info<ImageStatus>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<Image>) {
  static constexpr Field kFields[] = {
      field<&Image::metadata>("metadata"),
      field<&Image::spec>("spec"),
      field<&Image::status>("status"),
  };
  static constexpr StructInfo kInfo = struct_info<Image>(kFields);
  return kInfo;
}

template struct List<ApplicationInput>;
template struct List<CodeFile>;
template struct List<EffectiveValue>;
template struct List<ParameterSpec>;

}  // namespace codeflare::model
