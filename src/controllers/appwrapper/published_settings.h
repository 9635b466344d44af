#pragma once

#include "base/async/task.h"
#include "base/log.h"
#include "base/result.h"
#include "controllers/appwrapper/queue_controllers.h"
#include "kube/client.h"
#include "queue/settings.h"
#include "runtime/manager.h"

#include <map>
#include <string>

namespace codeflare::controllers {

// Settings as people set them: the value by the name of the flag.
using SettingTexts = std::map<std::string, std::string>;

queue::Settings settings_of(const QueueControllersOptions& options);

// Writes the settings to data.settings of the ConfigMap `codeflare-queue`. Without one they count
// as the default, so it is made, with its namespace, only when there is something to say.
// `training` goes to data.training: settings of TrainingJobs that are not as by default.
Task<Result<void>> publish_settings(kube::Client& client, std::string ns, queue::Settings settings,
                                    SettingTexts training = {});

// Does so when we lead, again and again until it is done. Without the right to do it the queue
// works as well: the log says so.
void add_settings(runtime::Manager& manager, std::string ns, queue::Settings settings,
                  Logger logger, SettingTexts training = {});

// While another controller leads, the log names our settings that differ from the leader's: ours
// have no effect.
void compare_with_leader(runtime::Manager& manager, std::string ns, queue::Settings settings,
                         SettingTexts training, Logger logger);

}  // namespace codeflare::controllers
