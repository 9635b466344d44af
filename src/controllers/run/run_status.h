#pragma once

#include "base/time.h"
#include "controllers/run/run_pods.h"
#include "model/app_wrapper.h"
#include "model/run.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::controllers::runs {

// Ends stay: nothing is changed then.
void set_phase(model::RunStatus& status, std::string_view phase, std::string reason,
               std::string message);
void set_condition(model::RunStatus& status, std::string type, std::string value,
                   std::string reason, std::string message, WallTime now);
void fail_run(model::RunStatus& status, std::string reason, std::string message, WallTime now);

// Brings the status to where AppWrapper and pods are: phase, reason and message from the queue in
// its own words, or from the pod that is worst off. `again`: a start that is slow will be reported.
void follow_wrapper(const model::AppWrapper& wrapper, const std::vector<RunPod>& pods, WallTime now,
                    model::RunStatus& status, std::optional<Duration>& again);

}  // namespace codeflare::controllers::runs
