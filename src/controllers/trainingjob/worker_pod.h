#pragma once

#include "controllers/trainingjob/training_settings.h"
#include "model/pod.h"
#include "model/service.h"
#include "model/training_job.h"
#include "queue/training_work.h"

#include <cstdint>
#include <string>

namespace codeflare {
class MetricsRegistry;
namespace net {
class HttpService;
}
}  // namespace codeflare

namespace codeflare::controllers::trainingjob {

struct WorkerOptions {
  queue::TrainingOptions training{};
  // Put into pods that name no scheduler; empty: left alone.
  std::string scheduler_name{};
  LatticeSettings lattice{};
  std::string agent_image{};           // has the program codeflare as its entry point
  bool metered = false;                // pods wait to be counted: the usage controller runs
  MetricsRegistry* metrics = nullptr;  // outlives the controller; null: nothing is counted
  // The rendezvous of jobs that ask for etcd; outlives the controller. Null: their pods get
  // variables and no agent.
  net::HttpService* etcd = nullptr;
};

// The agent runs in its pods: injected, or part of the image by annotation.
bool uses_agent(const model::TrainingJob& job);
// Its agents are injected and meet by Leases, or in etcd: the controller follows what they say.
bool meets_by_leases(const model::TrainingJob& job, const LatticeSettings& lattice);
bool meets_in_etcd(const model::TrainingJob& job, const LatticeSettings& lattice);
// torchrun of the image meets at worker 0.
bool meets_at_first(const model::TrainingJob& job, const LatticeSettings& lattice);
// The agent travels into its pods in an init container of the operator's image.
bool injects_agent(const model::TrainingJob& job, const WorkerOptions& options);
// The ServiceAccount of its pods, and whether the controller makes it.
std::string account_of(const model::TrainingJob& job);
bool has_own_account(const model::TrainingJob& job);
model::OwnerReference owner_of(const model::TrainingJob& job);

// Worker number `index`, made from the job's template. The one place where a template becomes a
// pod: whatever an agent needs in it is added here.
model::Pod worker_pod(const model::TrainingJob& job, std::int64_t index,
                      const WorkerOptions& options);

// Gives each worker its name, also before it is ready.
model::Service service_of(const model::TrainingJob& job);

}  // namespace codeflare::controllers::trainingjob
