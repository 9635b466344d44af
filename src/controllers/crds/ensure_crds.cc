#include "controllers/crds/ensure_crds.h"

#include "base/async/sleep.h"
#include "controllers/crds/crds.h"
#include "kube/object.h"
#include "model/codec/custom_resource_definition.h"
#include "model/condition.h"
#include "model/resources.h"

#include <algorithm>
#include <optional>
#include <string_view>

namespace codeflare::controllers {
namespace {

using std::chrono::milliseconds;
using Definition = model::CustomResourceDefinition;

constexpr std::string_view kManagedByLabel = "app.kubernetes.io/managed-by";
constexpr std::string_view kManager = "codeflare";

bool is_kuberays(const EmbeddedCrd& crd) {
  return crd.name == kRayClusterCrd || crd.name == kRayJobCrd;
}

bool wanted(const EmbeddedCrd& crd, const CrdOptions& options) {
  return crd.name == kLegacyAppWrapperCrd ? options.legacy_group
         : is_kuberays(crd)               ? options.ray_cluster
                                          : true;
}

bool is_ours(const Definition& definition) {
  return model::find_or_empty(definition.metadata.labels, kManagedByLabel) == kManager;
}

Result<void> check_versions(const EmbeddedCrd& crd, const Definition& there) {
  for (const model::CustomResourceDefinitionVersion& version : there.spec.versions) {
    if (std::ranges::find(crd.versions, version.name) == crd.versions.end()) {
      return fail(failed_precondition("customresourcedefinition " + crd.name + " has version " +
                                      version.name +
                                      ", which is another program's: remove that "
                                      "program and its definition first"));
    }
  }
  return {};
}

bool is_served(const Definition& definition) {
  return model::is_condition_true(definition.status.conditions, "Established");
}

// Nothing when there is none.
Task<Result<std::optional<Definition>>> find(kube::Client& client, std::string name) {
  const kube::ResourceType type = model::resource_type<Definition>();
  Result<kube::ObjectRef> object = co_await client.get(type, {"", std::move(name)});
  if (!object) {
    if (object.error().code == ErrorCode::not_found) {
      co_return std::optional<Definition>();
    }
    co_return fail(std::move(object).error());
  }
  CO_TRY_ASSIGN(Definition definition, (*object)->as<Definition>());
  co_return std::optional(std::move(definition));
}

Task<Result<void>> wait_until_served(kube::Client& client, std::string name) {
  while (true) {
    CO_TRY_ASSIGN(const std::optional<Definition> definition, co_await find(client, name));
    if (definition && is_served(*definition)) {
      co_return Result<void>();
    }
    CO_TRY(co_await sleep_for(milliseconds(50)));
  }
}

// True when it was applied, false when the definition that is there will do.
Task<Result<bool>> ensure(kube::Client& client, EmbeddedCrd crd, Duration timeout) {
  CO_TRY_ASSIGN(const std::optional<Definition> there, co_await find(client, crd.name));
  if (there && is_kuberays(crd) && !is_ours(*there)) {
    co_return false;
  }
  if (there) {
    CO_TRY(check_versions(crd, *there));
  }
  const kube::ResourceType type = model::resource_type<Definition>();
  Result<kube::ObjectRef> applied = co_await client.apply(
      type, {"", crd.name}, crd.json, {.field_manager = std::string(kManager), .force = true});
  if (!applied) {
    if (applied.error().code == ErrorCode::permission_denied && there && is_served(*there)) {
      co_return false;
    }
    co_return fail(std::move(applied).error().with_context("customresourcedefinition " + crd.name));
  }
  CO_TRY(co_await with_timeout(timeout, "customresourcedefinition " + crd.name,
                               wait_until_served(client, crd.name)));
  co_return true;
}

}  // namespace

Task<Result<CrdReport>> ensure_crds(kube::Client& client, CrdOptions options) {
  CrdReport report;
  CO_TRY_ASSIGN(const std::vector<EmbeddedCrd> crds, embedded_crds());
  for (const EmbeddedCrd& crd : crds) {
    if (wanted(crd, options)) {
      CO_TRY_ASSIGN(const bool applied, co_await ensure(client, crd, options.timeout));
      (applied ? report.applied : report.left_alone).push_back(crd.name);
    }
  }
  co_return report;
}

}  // namespace codeflare::controllers
