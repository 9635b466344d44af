#include "controllers/crds/ensure_crds.h"

#include "base/async/sleep.h"
#include "controllers/crds/crds.h"
#include "json/parse.h"
#include "json/write.h"
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
using Version = model::CustomResourceDefinitionVersion;

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

bool has_version(const EmbeddedCrd& crd, const Version& version) {
  return std::ranges::find(crd.versions, version.name) != crd.versions.end();
}

// Versions that another program added.
std::vector<std::string> other_versions(const EmbeddedCrd& crd, const Definition& there) {
  std::vector<std::string> others;
  for (const Version& version : there.spec.versions) {
    if (!has_version(crd, version)) {
      others.push_back(version.name);
    }
  }
  return others;
}

// Our definition with the versions of others beside ours. The storage version stays: objects are
// stored in it.
Result<std::string> shared_definition(const EmbeddedCrd& crd, const Definition& there) {
  const bool shares = std::ranges::any_of(there.spec.versions,
                                          [&](const Version& v) { return has_version(crd, v); });
  if (!shares) {
    return fail(failed_precondition(
        "customresourcedefinition " + crd.name + " has version " + there.spec.versions[0].name +
        ", which belongs to another program; remove that program and its definition first"));
  }
  TRY_ASSIGN(json::Document document, json::parse(crd.json));
  TRY_ASSIGN(Definition ours, model::from_json<Definition>(document.root));
  const bool others_store = std::ranges::any_of(
      there.spec.versions, [&](const Version& v) { return v.storage && !has_version(crd, v); });
  for (Version& version : ours.spec.versions) {
    version.storage = version.storage && !others_store;
  }
  for (const Version& version : there.spec.versions) {
    if (!has_version(crd, version)) {
      ours.spec.versions.push_back(version);
    }
  }
  json::Value& spec = *document.root.find("spec");
  json::Value versions = json::Value::array();
  for (const Version& version : ours.spec.versions) {
    json::Value& added =
        versions.push_back(document.arena, model::to_json(document.arena, version));
    // Both are required, also where they are false.
    added.set_static(document.arena, "served", json::Value::boolean(version.served));
    added.set_static(document.arena, "storage", json::Value::boolean(version.storage));
  }
  spec.set_static(document.arena, "versions", versions);
  return json::to_text(document.root);
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
Task<Result<bool>> ensure(kube::Client& client, EmbeddedCrd crd, Duration timeout,
                          CrdReport& report) {
  CO_TRY_ASSIGN(const std::optional<Definition> there, co_await find(client, crd.name));
  if (there && is_kuberays(crd) && !is_ours(*there)) {
    co_return false;
  }
  std::string text = crd.json;
  std::vector<std::string> others;
  if (there) {
    others = other_versions(crd, *there);
  }
  if (!others.empty()) {
    CO_TRY_ASSIGN(text, shared_definition(crd, *there));
    report.shared.push_back({crd.name, std::move(others)});
  }
  const kube::ResourceType type = model::resource_type<Definition>();
  Result<kube::ObjectRef> applied =
      co_await client.apply(type, {"", crd.name}, std::move(text),
                            {.field_manager = std::string(kManager), .force = true});
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
      CO_TRY_ASSIGN(const bool applied, co_await ensure(client, crd, options.timeout, report));
      (applied ? report.applied : report.left_alone).push_back(crd.name);
    }
  }
  co_return report;
}

void log_shared(const CrdReport& report, const Logger& logger) {
  for (const CrdReport::Shared& shared : report.shared) {
    std::string versions;
    for (const std::string& version : shared.versions) {
      versions += (versions.empty() ? "" : ", ") + version;
    }
    logger.warn(
        "definition has versions of another program; they are kept, objects are read and "
        "written as v1beta1",
        {{"name", shared.name}, {"versions", versions}});
  }
}

Task<Result<void>> mend_crds(kube::Client& client, bool legacy_group) {
  CO_TRY_ASSIGN(const CrdReport report,
                co_await ensure_crds(client, {.legacy_group = legacy_group, .ray_cluster = false}));
  if (!report.left_alone.empty()) {
    co_return fail(permission_denied("no permission to change customresourcedefinition " +
                                     report.left_alone.front()));
  }
  co_return Result<void>();
}

}  // namespace codeflare::controllers
