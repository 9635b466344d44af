#include "controllers/apps/apps_controllers.h"

#include "controllers/apps/deployment_controller.h"
#include "controllers/apps/replica_set_controller.h"
#include "controllers/apps/stateful_set_controller.h"
#include "controllers/apps/workload_pods.h"
#include "model/pod.h"
#include "model/resources.h"

#include <memory>

namespace codeflare::controllers::apps {

void add_apps_controllers(runtime::Manager& manager) {
  auto pods = std::make_shared<const WorkloadPods>(
      manager.cache().informer(model::resource_type<model::Pod>()));
  add_deployment_controller(manager, pods);
  add_replica_set_controller(manager, pods);
  add_stateful_set_controller(manager, pods);
}

}  // namespace codeflare::controllers::apps
