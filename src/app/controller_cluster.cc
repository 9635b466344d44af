#include "app/controller_cluster.h"

#include "app/served_kinds.h"
#include "controllers/appwrapper/app_wrapper_object.h"
#include "controllers/crds/ensure_crds.h"
#include "controllers/crds/ensure_policy.h"
#include "controllers/scale/machineset_machines.h"
#include "controllers/scale/provisioning_machines.h"
#include "controllers/submitter/impersonation_right.h"
#include "model/quota_subtree.h"
#include "model/ray_cluster.h"
#include "model/ray_job.h"
#include "model/training_job.h"
#include "model/usage_ledger.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace codeflare {

namespace {

void tell(controllers::PolicyReport policy, const ControllerFlags& flags, Logger logger) {
  using controllers::PolicyReport;
  const auto without_policy = [&](std::string_view why, std::string_view instead) {
    if (flags.webhook.listen.empty()) {
      logger.warn("changes of AppWrapper specs are not rejected",
                  {{"because", why}, {"instead", instead}});
    } else {
      logger.info("changes of AppWrapper specs are rejected by the webhook only",
                  {{"because", why}});
    }
  };
  switch (policy) {
    case PolicyReport::applied:
      logger.info("admission policy applied");
      return;
    case PolicyReport::left_alone:
      logger.info("admission policy not changed", {{"because", "no permission to change it"}});
      return;
    case PolicyReport::built_in:
      logger.info("changes of AppWrapper specs are rejected by the server");
      return;
    case PolicyReport::not_served:
      without_policy("the server does not support admission policies",
                     "--webhook-listen, or Kubernetes 1.30");
      return;
    case PolicyReport::not_allowed:
      without_policy("no permission for admission policies",
                     "--webhook-listen, or apply crds/appwrappers_policy.yaml");
      return;
  }
}

// Leaves those that the cluster knows.
Task<Result<void>> keep_served(kube::Client& client, RayKinds& ray, Logger logger) {
  CO_TRY_ASSIGN(ray.clusters,
                co_await is_served(client, model::resource_type<model::RayCluster>()));
  CO_TRY_ASSIGN(ray.jobs, co_await is_served(client, model::resource_type<model::RayJob>()));
  ray.jobs = ray.jobs && ray.clusters;
  if (!ray.jobs) {
    logger.info(ray.clusters ? "the cluster does not know RayJobs"
                             : "the cluster does not know RayClusters",
                {{"instead", "--install-crds"}});
  }
  co_return Result<void>();
}

Task<Result<bool>> may_list(kube::Client& client, model::ResourceType type, std::string ns,
                            Logger logger) {
  const Result<kube::ObjectList> found =
      co_await client.list(type, {.ns = std::move(ns), .limit = 1});
  if (found || found.error().code == ErrorCode::not_found) {
    co_return found.has_value();
  }
  if (found.error().code != ErrorCode::permission_denied) {
    co_return fail(found.error());
  }
  logger.warn("no permission for a kind of machines; MachineTypes with its provider do not work",
              {{"kind", type.kind}, {"error", found.error()}});
  co_return false;
}

}  // namespace

Task<Result<KubeRay>> look_for_kuberay(kube::Client& client, const ControllerFlags& flags,
                                       Logger logger) {
  if (flags.no_rayclusters) {
    co_return KubeRay();
  }
  auto kuberay = std::make_shared<controllers::raycluster::KubeRayWatch>(client, logger);
  const Result<void> looked = co_await kuberay->look();
  if (!looked && looked.error().code == ErrorCode::permission_denied) {
    logger.warn("RayClusters are ignored: cannot find out whether the KubeRay operator runs",
                {{"error", looked.error()}});
    co_return KubeRay();
  }
  CO_TRY(looked);
  co_return kuberay;
}

Task<Result<void>> prepare(kube::Client& client, const ControllerFlags& flags,
                           controllers::QueueControllersOptions& options, RayKinds& ray,
                           Logger logger) {
  if (flags.install_crds) {
    // Before the definitions, which had this rule once: there is always one of the two.
    CO_TRY_ASSIGN(const controllers::PolicyReport policy,
                  co_await controllers::ensure_policy(client));
    tell(policy, flags, logger);
    CO_TRY_ASSIGN(controllers::CrdReport done,
                  co_await controllers::ensure_crds(
                      client, {.legacy_group = flags.legacy_group,
                               .ray_cluster = ray.clusters && !ray.has_operator}));
    for (const std::string& name : done.applied) {
      logger.info("custom resource definition applied", {{"name", name}});
    }
    controllers::log_shared(done, logger);
    options.mend_definitions = [&client, legacy = flags.legacy_group] {
      return controllers::mend_crds(client, legacy);
    };
    if (ray.has_operator) {
      CO_TRY(co_await keep_served(client, ray, logger));
    }
    co_return Result<void>();
  }
  if (ray.clusters) {
    CO_TRY(co_await keep_served(client, ray, logger));
  }
  using model::WrapperApi;
  for (const WrapperApi api : {WrapperApi::workload_v1beta1, WrapperApi::mcad_v1beta1}) {
    if (api == WrapperApi::mcad_v1beta1 && !flags.legacy_group) {
      continue;
    }
    const model::ResourceType type = controllers::app_wrapper_type(api);
    CO_TRY_ASSIGN(const bool served, co_await is_served(client, type));
    if (!served) {
      co_return fail(failed_precondition("the cluster does not serve " + type.qualified_name() +
                                         "; start once with --install-crds, or apply crds/"));
    }
  }
  if (!flags.quota_trees) {
    co_return Result<void>();
  }
  CO_TRY_ASSIGN(options.quota_subtrees,
                co_await is_served(client, model::resource_type<model::QuotaSubtree>()));
  if (!options.quota_subtrees) {
    logger.warn("QuotaSubtrees are not installed in the cluster; quota trees are off",
                {{"instead", "--install-crds"}});
  }
  co_return Result<void>();
}

Task<Result<void>> check_impersonation(kube::Client& client, Logger logger) {
  CO_TRY_ASSIGN(const std::vector<std::string> missing,
                co_await controllers::missing_impersonation_rights(client));
  for (const std::string& what : missing) {
    logger.error("missing impersonate permission; AppWrappers of other users will not start",
                 {{"verb", "impersonate"}, {"missing", what}});
  }
  co_return Result<void>();
}

Task<Result<bool>> runs_training_jobs(kube::Client& client, const ControllerFlags& flags,
                                      Logger logger) {
  if (flags.training.off) {
    co_return false;
  }
  CO_TRY_ASSIGN(const bool served,
                co_await is_served(client, model::resource_type<model::TrainingJob>()));
  if (!served) {
    logger.info("the cluster does not serve TrainingJobs", {{"instead", "--install-crds"}});
  }
  co_return served;
}

Task<Result<bool>> counts_usage(kube::Client& client, bool training_jobs, Logger logger) {
  if (!training_jobs) {
    co_return false;
  }
  CO_TRY_ASSIGN(const bool served,
                co_await is_served(client, model::resource_type<model::UsageLedger>()));
  if (!served) {
    logger.info("usage is not counted: the cluster does not serve UsageLedgers",
                {{"instead", "--install-crds"}});
  }
  co_return served;
}

Task<Result<MachineKinds>> find_machine_kinds(kube::Client& client, Logger logger) {
  namespace scale = controllers::scale;
  const std::string ns(scale::kMachineSetNamespace);
  MachineKinds kinds;
  CO_TRY_ASSIGN(kinds.provisioning_requests,
                co_await may_list(client, scale::kProvisioningRequests, "", logger));
  CO_TRY_ASSIGN(const bool sets, co_await may_list(client, scale::kMachineSets, ns, logger));
  CO_TRY_ASSIGN(const bool singles, co_await may_list(client, scale::kMachines, ns, logger));
  kinds.machine_sets = sets && singles;
  co_return kinds;
}

}  // namespace codeflare
