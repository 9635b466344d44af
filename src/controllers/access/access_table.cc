#include "controllers/access/access_table.h"

#include "base/split.h"
#include "controllers/admission/access.h"
#include "controllers/apps/access.h"
#include "controllers/appwrapper/access.h"
#include "controllers/crds/access.h"
#include "controllers/dispatch/access.h"
#include "controllers/endpoints/access.h"
#include "controllers/fakenode/access.h"
#include "controllers/job/access.h"
#include "controllers/localvolume/access.h"
#include "controllers/platform/access.h"
#include "controllers/quota/access.h"
#include "controllers/raycluster/access.h"
#include "controllers/rayjob/access.h"
#include "controllers/run/access.h"
#include "controllers/scale/access.h"
#include "controllers/submitter/access.h"
#include "controllers/trainingjob/access.h"
#include "controllers/usage/access.h"
#include "controllers/view/access.h"
#include "json/write.h"
#include "node/agent/access.h"

#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace codeflare::controllers {

namespace {

using runtime::Right;

constexpr std::string_view kAlways = "always";

constexpr AccessPart kController[] = {
    {"leader", kAlways, kLeaseRights},
    {"events", kAlways, runtime::kEventRights},
    {"queue", kAlways, kQueueRights},
    {"quota", kAlways, kQuotaRights},
    {"wrapped", "kinds that most AppWrappers hold", kWrappedRights},
    {"wrap-anything", "AppWrappers of any kind of object", kWrapAnythingRights},
    {"create-wrapped", "`--no-user-check`", kCreateWrappedRights},
    {"create-anything", "`--no-user-check` and AppWrappers of any kind", kCreateAnythingRights},
    {"submitter", "`--webhook-listen`", kSubmitterRights},
    {"submitter-check", "`--webhook-listen`", kSubmitterCheckRights},
    {"review", "`--webhook-listen`", admission::kReviewRights},
    {"register", "`--webhook-listen` without `--webhook-secret`", admission::kRegisterRights},
    {"ca-bundle", "`--webhook-secret`", admission::kCaBundleRights},
    {"webhook-secret", "`--webhook-secret`, in its namespace", admission::kKeySecretRights},
    {"view", "view API: `--webhook-service` or `--view-service`", view::kRights},
    {"view-register", "view API", view::kRegisterRights},
    {"view-front-proxy", "view API, in kube-system", view::kFrontProxyRights},
    {"bind", "`--bind`", kBindRights},
    {"legacy", "`--legacy-group`", kLegacyQueueRights},
    {"crds", "`--install-crds`", kCrdRights},
    {"look-for-kuberay", "unless `--no-rayclusters`", raycluster::kLookForKubeRayRights},
    {"raycluster", "unless `--no-rayclusters`", raycluster::kRights},
    {"rayjob", "unless `--no-rayclusters`", rayjob::kRights},
    {"run", "where Runs are served", runs::kRights},
    {"platform", "where Runs are served", platform_kinds::kRights},
    {"trainingjob", "unless `--no-trainingjobs`", trainingjob::kRights},
    {"usage", "unless `--no-trainingjobs`", metering::kRights},
    {"release", "release edition", metering::kReleaseRights},
    {"free-pods", "`codeflare usage --free-pods`", metering::kFreeRights},
    {"dispatch", "where ManagedClusters are served", dispatch::kRights},
    {"dispatch-secrets", "where ManagedClusters are served, in codeflare-system",
     dispatch::kSecretRights},
    {"fences", kAlways, dispatch::kFenceRights},
    {"scale", "where MachineTypes are served", scale::kRights},
    {"scale-placeholder", "where MachineTypes are served", scale::kPlaceholderRights},
    {"scale-provisioning", "where ProvisioningRequests are served", scale::kProvisioningRights},
    {"scale-machineset", "where MachineSets are served", scale::kMachineSetRights},
    {"idle", "`codeflare queue idle`", kIdleRights},
};

// Its server records submitters itself, and wraps anything.
constexpr AccessPart kUp[] = {
    {"leader", kAlways, kLeaseRights},
    {"events", kAlways, runtime::kEventRights},
    {"queue", kAlways, kQueueRights},
    {"legacy", kAlways, kLegacyQueueRights},
    {"quota", kAlways, kQuotaRights},
    {"bind", kAlways, kBindRights},
    {"wrap-anything", kAlways, kWrapAnythingRights},
    {"submitter", kAlways, kSubmitterRights},
    {"look-for-kuberay", kAlways, raycluster::kLookForKubeRayRights},
    {"raycluster", kAlways, raycluster::kRights},
    {"rayjob", kAlways, rayjob::kRights},
    {"run", kAlways, runs::kRights},
    {"platform", kAlways, platform_kinds::kRights},
    {"trainingjob", kAlways, trainingjob::kRights},
    {"usage", kAlways, metering::kRights},
    {"checkpoint-service", kAlways, trainingjob::kCheckpointServiceRights},
    {"view", kAlways, view::kRights},
    {"dispatch", kAlways, dispatch::kRights},
    {"dispatch-secrets", kAlways, dispatch::kSecretRights},
    {"fences", kAlways, dispatch::kFenceRights},
    {"job", kAlways, job::kRights},
    {"apps", kAlways, apps::kRights},
    {"endpoints", kAlways, endpoints::kRights},
    {"localvolume", kAlways, localvolume::kRights},
    {"fakenode", kAlways, fakenode::kRights},
    {"scale", kAlways, scale::kRights},
    {"scale-local", kAlways, scale::kLocalRights},
    {"node", kAlways, node::kAgentRights},
};

using Words = std::set<std::string, std::less<>>;

void add_words(Words& words, std::string_view text) {
  for (const std::string_view word : split(text, ' ')) {
    words.emplace(word);
  }
}

std::vector<std::string> list_of(const Words& words) {
  return {words.begin(), words.end()};
}

// Verbs in the order in which people list them, not by the alphabet.
std::vector<std::string> ordered(const Words& verbs) {
  constexpr std::string_view kOrder[] = {"get",        "list",  "watch",  "create",
                                         "update",     "patch", "delete", "deletecollection",
                                         "impersonate"};
  std::vector<std::string> list;
  for (const std::string_view verb : kOrder) {
    if (verbs.contains(verb)) {
      list.emplace_back(verb);
    }
  }
  return list;
}

void write_list(json::Writer& writer, std::string_view key, const std::vector<std::string>& words) {
  writer.key(key).begin_array();
  for (const std::string& word : words) {
    writer.string(word);
  }
  writer.end_array();
}

}  // namespace

std::span<const AccessPart> controller_access() {
  return kController;
}

std::span<const AccessPart> up_access() {
  return kUp;
}

std::vector<PolicyRule> rules_of(std::span<const Right> rights) {
  // The verbs on each resource, by group, name and resource.
  std::map<std::tuple<std::string, std::string, std::string>, Words> verbs;
  for (const Right& right : rights) {
    for (const std::string_view resource : split(right.resources, ' ')) {
      add_words(verbs[{std::string(right.group), std::string(right.name), std::string(resource)}],
                right.verbs);
    }
  }
  std::map<std::tuple<std::string, std::string, Words>, Words> resources;
  for (const auto& [what, may] : verbs) {
    const auto& [group, name, resource] = what;
    resources[{group, name, may}].insert(resource);
  }
  std::vector<PolicyRule> rules;
  for (const auto& [what, of] : resources) {
    const auto& [group, name, may] = what;
    PolicyRule rule{.groups = {group}, .resources = list_of(of), .verbs = ordered(may)};
    if (!name.empty()) {
      rule.names = {name};
    }
    rules.push_back(std::move(rule));
  }
  return rules;
}

std::vector<PolicyRule> rules_of(std::span<const AccessPart> parts) {
  std::vector<Right> all;
  for (const AccessPart& part : parts) {
    all.insert(all.end(), part.rights.begin(), part.rights.end());
  }
  return rules_of(all);
}

std::string rules_json(std::span<const PolicyRule> rules) {
  std::string text;
  json::Writer writer(text);
  writer.begin_array();
  for (const PolicyRule& rule : rules) {
    writer.begin_object();
    write_list(writer, "apiGroups", rule.groups);
    write_list(writer, "resources", rule.resources);
    if (!rule.names.empty()) {
      write_list(writer, "resourceNames", rule.names);
    }
    write_list(writer, "verbs", rule.verbs);
    writer.end_object();
  }
  writer.end_array();
  return text;
}

}  // namespace codeflare::controllers
