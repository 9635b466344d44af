#pragma once

#include "base/async/task.h"
#include "base/log.h"
#include "base/result.h"
#include "controllers/appwrapper/queue_controllers.h"
#include "kube/client.h"
#include "queue/settings.h"
#include "runtime/manager.h"

#include <string>

namespace codeflare::controllers {

queue::Settings settings_of(const QueueControllersOptions& options);

// Writes the settings to data.settings of the ConfigMap `codeflare-queue`. Without one they count
// as the default, so it is made, with its namespace, only when there is something to say.
Task<Result<void>> publish_settings(kube::Client& client, std::string ns, queue::Settings settings);

// Does so when we lead, again and again until it is done. Without the right to do it the queue
// works as well: the log says so.
void add_settings(runtime::Manager& manager, std::string ns, queue::Settings settings,
                  Logger logger);

}  // namespace codeflare::controllers
