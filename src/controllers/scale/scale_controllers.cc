#include "controllers/scale/scale_controllers.h"

#include "controllers/scale/request_controller.h"
#include "model/machine_request.h"
#include "model/node.h"
#include "model/resources.h"
#include "queue/machines.h"
#include "runtime/map_function.h"

#include <memory>
#include <string>
#include <utility>

namespace codeflare::controllers::scale {

void add_limits(const PlannerOptions& options, queue::Settings& settings) {
  settings.max_scaleout = options.max_scaleout;
  settings.scale_budget = options.budget;
  settings.scale_namespace_budget = options.namespace_budget;
}

void add_scale_controllers(runtime::Manager& manager, QueueDriver& driver, Providers providers,
                           ScaleOptions options) {
  manager.controller("machinerequests")
      .reconciles(model::resource_type<model::MachineRequest>())
      .watches(model::resource_type<model::Node>(),
               runtime::to_label(std::string(queue::kRequestLabel)))
      .workers(4)
      .with<RequestController>(driver, providers, options.patience, options.planner.logger);
  auto planner = std::make_shared<MachinePlanner>(manager, driver, std::move(providers),
                                                  std::move(options.planner));
  manager.add_work([planner] { return planner->write(); });
  manager.add_work([planner] { return planner->follow_config(); });
}

}  // namespace codeflare::controllers::scale
