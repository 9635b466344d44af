#pragma once

#include "apiserver/registry/resource.h"

#include <memory>
#include <string_view>

namespace codeflare::apiserver {

// The rules of a built-in resource; a plain strategy for those that have nothing special.
std::shared_ptr<const Strategy> builtin_strategy(std::string_view group, std::string_view plural);

std::shared_ptr<const Strategy> make_pod_strategy();
std::shared_ptr<const Strategy> make_service_strategy();
std::shared_ptr<const Strategy> make_job_strategy();
std::shared_ptr<const Strategy> make_certificate_request_strategy();
std::shared_ptr<const Strategy> make_cron_job_strategy();
std::shared_ptr<const Strategy> make_deployment_strategy();
std::shared_ptr<const Strategy> make_replica_set_strategy();
std::shared_ptr<const Strategy> make_stateful_set_strategy();
std::shared_ptr<const Strategy> make_daemon_set_strategy();
std::shared_ptr<const Strategy> make_replication_controller_strategy();
std::shared_ptr<const Strategy> make_namespace_strategy();
std::shared_ptr<const Strategy> make_node_strategy();
std::shared_ptr<const Strategy> make_secret_strategy();
std::shared_ptr<const Strategy> make_config_map_strategy();
std::shared_ptr<const Strategy> make_claim_strategy();
std::shared_ptr<const Strategy> make_volume_strategy();
std::shared_ptr<const Strategy> make_endpoints_strategy();
std::shared_ptr<const Strategy> make_priority_class_strategy();
std::shared_ptr<const Strategy> make_role_strategy(bool cluster);
std::shared_ptr<const Strategy> make_role_binding_strategy(bool cluster);

}  // namespace codeflare::apiserver
