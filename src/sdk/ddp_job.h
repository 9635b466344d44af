#pragma once

#include "base/result.h"
#include "json/value.h"
#include "sdk/clusters.h"
#include "sdk/jobs.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Distributed data-parallel training: one Python program in many processes that find each other by
// the variables of torch.distributed. Pure.
namespace codeflare::sdk {

// The arguments of DDPJobDefinition under their names; absent numbers depend on the back end.
struct DdpDefinition {
  std::string script;  // exactly one of these
  std::string m;
  std::vector<std::string> script_args{};
  std::string name{};
  std::optional<model::Quantity> cpu{};  // of one replica, as the next two
  std::optional<std::int64_t> gpu{};
  std::optional<std::int64_t> mem_mb{};
  std::optional<std::int64_t> replicas{};  // of "j", REPLICASxPROCESSES
  std::optional<std::int64_t> processes{};
  std::map<std::string, std::string> env{};
  std::int64_t max_retries = 0;
  std::vector<std::string> mounts{};
  std::optional<std::int64_t> rdzv_port{};
  std::string rdzv_backend{};
  std::map<std::string, std::string> scheduler_args{};
  std::string image{};
  std::string workspace{};  // a directory or file:// URL; empty: no code is sent
};

// invalid_argument with a line for each fault.
Result<DdpDefinition> read_ddp(const json::Value& given);

// The name that was given, else that of the script or module.
std::string ddp_name(const DdpDefinition& definition);

// As a job on a Ray cluster, whose worker sizes are the defaults. The command is a driver of our
// own: it starts one actor per replica, numbers the processes and prefixes their output with the
// rank. Needs no package on the cluster beside Ray.
Result<JobSpec> ddp_on_ray(const DdpDefinition& definition, const ClusterInfo& cluster);

// Source of the driver (ddp_driver.py). Without '$': Ray expands that in variables.
std::string_view ddp_driver();

}  // namespace codeflare::sdk
