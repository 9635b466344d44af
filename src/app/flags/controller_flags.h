#pragma once

#include "app/flags/mcad_flags.h"
#include "app/flags/scale_flags.h"
#include "app/flags/training_flags.h"
#include "app/flags/usage_flags.h"
#include "base/result.h"
#include "controllers/admission/webhook_server.h"
#include "controllers/view/register_view.h"
#include "queue/marks.h"

#include <cstdint>
#include <string>

namespace CLI {
class App;
}

// The command line of `codeflare controller`.
namespace codeflare {

struct ControllerFlags {
  std::string kubeconfig;
  std::string context;
  std::string ns;  // of the kubeconfig: nothing here depends on it
  std::string lease_ns{queue::kControllerNamespace};
  bool bind = false;
  bool legacy_group = false;
  bool no_rayclusters = false;
  bool no_user_check = false;
  bool preemption = false;
  bool priority_slope = false;
  bool quota_trees = true;
  std::int64_t holding_seconds = 0;
  bool no_local = false;
  bool dispatcher = false;
  std::string agent_configs;
  std::int64_t patience_seconds = 30;
  bool no_leader_election = false;
  std::string health_address = "0.0.0.0:8081";
  bool install_crds = false;
  admission::WebhookServerOptions webhook;
  std::string view_service;
  int workers = 32;
  bool json_log = false;
  bool verbose = false;
  std::string log_level = "info";
  McadFlags mcad;
  TrainingFlags training;
  UsageFlags usage;
  ScaleFlags scale;
};

// Where MCAD had an option for the same thing its name is accepted too, and that of its variable.
void add_controller_flags(CLI::App& role, ControllerFlags& flags);
// Problems are reported before anything is connected.
Result<void> check(const ControllerFlags& flags);
// The Service by which the API server reaches the view API.
Result<controllers::view::ViewService> view_service(const ControllerFlags& flags);

}  // namespace codeflare
