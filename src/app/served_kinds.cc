#include "app/served_kinds.h"

#include "kube/discovery.h"
#include "model/application.h"
#include "model/data_set.h"
#include "model/image.h"
#include "model/machine_request.h"
#include "model/machine_type.h"
#include "model/platform_repo_secret.h"
#include "model/resources.h"
#include "model/run.h"
#include "model/run_policy.h"
#include "model/run_size_configuration.h"

#include <utility>

namespace codeflare {

Task<Result<bool>> is_served(kube::Client& client, model::ResourceType type) {
  kube::Discovery discovery(client);
  Result<kube::ApiResource> found = co_await discovery.find(type.plural, type.group, type.version);
  if (!found && found.error().code != ErrorCode::not_found) {
    co_return fail(std::move(found).error());
  }
  co_return found.has_value();
}

Task<Result<bool>> serves_runs(kube::Client& client) {
  for (const model::ResourceType& type :
       {model::resource_type<model::Run>(), model::resource_type<model::Application>(),
        model::resource_type<model::DataSet>(), model::resource_type<model::RunPolicy>(),
        model::resource_type<model::RunSizeConfiguration>(),
        model::resource_type<model::PlatformRepoSecret>(), model::resource_type<model::Image>()}) {
    CO_TRY_ASSIGN(const bool served, co_await is_served(client, type));
    if (!served) {
      co_return false;
    }
  }
  co_return true;
}

Task<Result<bool>> serves_machines(kube::Client& client, Logger logger) {
  CO_TRY_ASSIGN(const bool types,
                co_await is_served(client, model::resource_type<model::MachineType>()));
  CO_TRY_ASSIGN(const bool requests,
                co_await is_served(client, model::resource_type<model::MachineRequest>()));
  if (!types || !requests) {
    logger.info("the cluster does not serve MachineTypes", {{"instead", "--install-crds"}});
  }
  co_return (types && requests);
}

}  // namespace codeflare
