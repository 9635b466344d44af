#pragma once

#include "base/log.h"
#include "controllers/usage/usage_pods.h"
#include "runtime/manager.h"
#include "runtime/reconciler.h"
#include "usage/ledger.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace codeflare::controllers::metering {

struct UsageOptions {
  // Whether the caches show all that an earlier leader wrote; nothing is counted before.
  std::function<bool()> caught_up{};
  Logger logger{};
};

// The next look at a node's word about a pod that was deleted under it.
struct Look {
  std::vector<usage::ObservedPod> pods{};
  std::optional<Duration> again{};
};

// Keeps the UsageLedger of each namespace: every pod with the finalizer is counted once when it has
// ended, then let go; status.usage of its TrainingJob follows. docs/decisions/0018-usage.md.
class UsageReconciler final : public runtime::Reconciler {
 public:
  UsageReconciler(const runtime::ControllerContext& context, UsageOptions options);

  // Of the key NAMESPACE/usage.
  Task<Result<runtime::Next>> reconcile(runtime::ObjectKey key) override;

 private:
  Task<Result<runtime::Next>> begin_ledger(runtime::ObjectKey key, std::vector<MeteredPod> pods);
  Task<Result<Look>> look(std::vector<MeteredPod> pods);
  Task<Result<WallTime>> last_heartbeat(MeteredPod pod);
  bool is_lost(const std::string& node) const;
  std::set<std::string> live_jobs(const std::string& ns) const;
  void add_releases(const runtime::ObjectKey& key, const std::vector<MeteredPod>& pods,
                    const std::vector<std::string>& uids, runtime::Plan& plan) const;
  void add_job_usage(const std::string& ns, const usage::Ledger& ledger, runtime::Plan& plan);

  Env env_;
  kube::Client& client_;
  runtime::Actor& actor_;
  UsageOptions options_;
  const runtime::Store& ledgers_;
  const runtime::Store& jobs_;
  const runtime::Store& nodes_;
  UsagePods pods_;
  // status.usage as it was seen, by namespace and UID of the job.
  std::map<std::string, std::map<std::string, std::string>> shown_;
};

// After add_queue_controllers, whose cache of pods it shares. Needs the definitions of UsageLedgers
// and TrainingJobs.
UsageReconciler& add_usage_controller(runtime::Manager& manager, UsageOptions options);

}  // namespace codeflare::controllers::metering
