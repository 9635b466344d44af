#pragma once

#include "base/result.h"
#include "model/custom_resource_definition.h"
#include "model/gvk.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

// The content of crds/, carried in the program: CustomResourceDefinitions, and the admission policy
// that says what of an AppWrapper cannot be changed.
namespace codeflare::controllers {

// Their text, as the files have it.
std::span<const std::string_view> crd_texts();

// Names are those of metadata: "appwrappers.workload.codeflare.dev".
struct EmbeddedCrd {
  std::string name;
  std::vector<std::string> versions;
  std::string json;  // the whole object, ready to be applied
};

Result<std::vector<EmbeddedCrd>> embedded_crds();

struct EmbeddedObject {
  model::ResourceType type;
  std::string name;
  std::string json;
};

// The policy, then its binding.
Result<std::vector<EmbeddedObject>> embedded_policy();

inline constexpr std::string_view kAppWrapperCrd = "appwrappers.workload.codeflare.dev";
inline constexpr std::string_view kLegacyAppWrapperCrd = "appwrappers.mcad.ibm.com";
inline constexpr std::string_view kQuotaSubtreeCrd = "quotasubtrees.quota.codeflare.dev";
inline constexpr std::string_view kRayClusterCrd = "rayclusters.ray.io";
inline constexpr std::string_view kRayJobCrd = "rayjobs.ray.io";

}  // namespace codeflare::controllers
