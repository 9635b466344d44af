#pragma once

#include "apiserver/server/api_server.h"
#include "base/async/task_group.h"
#include "base/env/jumping_clock.h"
#include "base/env/sim_env.h"
#include "base/log_capture.h"
#include "base/metrics.h"
#include "controllers/appwrapper/queue_controllers.h"
#include "controllers/pods_type.h"
#include "kube/client.h"
#include "model/app_wrapper.h"
#include "net/http.h"
#include "net/in_process.h"
#include "runtime/manager.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::controllers::testing {

inline const model::ResourceType kAppWrappers{"workload.codeflare.dev", "v1beta1", "AppWrapper",
                                              "appwrappers", true};
inline const model::ResourceType kLegacyAppWrappers{"mcad.ibm.com", "v1beta1", "AppWrapper",
                                                    "appwrappers", true};
inline const model::ResourceType kResourceQuotas{"", "v1", "ResourceQuota", "resourcequotas", true};
inline const model::ResourceType kJobs{"batch", "v1", "Job", "jobs", true};
inline const model::ResourceType kNodes{"", "v1", "Node", "nodes", false};
inline const model::ResourceType kConfigMaps{"", "v1", "ConfigMap", "configmaps", true};
inline const model::ResourceType kEvents{"", "v1", "Event", "events", true};
inline const model::ResourceType kQuotaSubtrees{"quota.codeflare.dev", "v1alpha1", "QuotaSubtree",
                                                "quotasubtrees", true};

// The way of the controller to the server. It can be cut at a chosen write: before it is sent, or
// after it had its effect.
class Wire final : public net::HttpService {
 public:
  explicit Wire(net::HttpService& target) : target_(&target) {}
  void set_target(net::HttpService& target) { target_ = &target; }
  Task<Result<net::Response>> send(net::Request request) override;

  // From write number `at` on (the first is 1) nothing gets through; with `lost_reply` that one
  // still does.
  void cut(std::uint64_t at, bool lost_reply) {
    cut_at_ = at;
    lost_reply_ = lost_reply;
  }
  bool is_cut() const { return dead_; }
  void mend() {
    dead_ = false;
    cut_at_.reset();
    writes_ = 0;
  }
  std::uint64_t writes() const { return writes_; }
  std::uint64_t events() const { return events_; }  // written, in all
  // "PUT appwrappers/a/status", in order; events are left out.
  const std::vector<std::string>& story() const { return story_; }
  // Answers in the server's place when it wants to.
  std::function<std::optional<net::Response>(const net::Request&)> intercept;

 private:
  net::HttpService* target_;
  std::optional<std::uint64_t> cut_at_;
  bool lost_reply_ = false;
  bool dead_ = false;
  std::uint64_t writes_ = 0;
  std::uint64_t events_ = 0;
  std::vector<std::string> story_;
};

// A whole API server in virtual time, with the queue as a process that can crash beside it. Pods
// and Jobs are driven by hand.
class QueueWorld {
 public:
  // Without the user check unless the options say whose records are believed.
  explicit QueueWorld(QueueControllersOptions options = {}, std::uint64_t seed = 1);
  ~QueueWorld();
  QueueWorld(const QueueWorld&) = delete;
  QueueWorld& operator=(const QueueWorld&) = delete;

  void start();
  // Ends the process as it is; start() begins another one.
  void crash();
  void settle(Duration time = std::chrono::seconds(1));
  // The answer of the process's /readyz.
  std::string why_not_ready() const;

  // --- the user ---
  void add_node(std::string_view name, std::string_view cpus);
  // `spec` is the rest of the spec, with a comma at its end; items are separated by commas.
  void create(std::string_view name, std::string_view items, std::string_view spec = "");
  kube::ObjectRef create(const model::ResourceType& type, std::string body);
  void patch(const model::ResourceType& type, std::string name, std::string body,
             std::string subresource = {});
  void remove(const model::ResourceType& type, std::string name, kube::DeleteOptions options = {});
  kube::ObjectRef get(const model::ResourceType& type, std::string name);
  std::vector<kube::ObjectRef> list(const model::ResourceType& type);
  model::AppWrapper wrapper(std::string name);
  model::AppWrapperStatus status(std::string name) { return wrapper(std::move(name)).status; }
  // "Init Queueing HeadOfLine Dispatched", Queued left out.
  std::string history(std::string name);
  std::string message(std::string name, std::string_view type);

  // --- what others do in a cluster ---
  // A pod of the Job on this node, with the labels that its template has.
  void run_pod(std::string job, std::string pod, std::string node, std::string phase = "Running");
  void set_phase(std::string pod, std::string phase);
  // The Job controller's word, and its pods'.
  void complete(std::string job);

  // Where the controller's requests go in the end, for links with faults.
  net::HttpService& service() { return service_; }

  // Options::mend_definitions of the processes that start from now on.
  std::function<Task<Result<void>>()> mend;

  SimEnv sim;
  JumpingClock clock{sim.env().clock};  // of the server and the controller
  Env env = with_clock(sim.env(), clock);
  MetricsRegistry metrics;
  LogCapture log;

 private:
  struct Process;
  Task<void> run_manager(runtime::Manager& manager);
  std::unique_ptr<apiserver::ApiServer> start_server();

  QueueControllersOptions options_;
  std::unique_ptr<apiserver::ApiServer> server_;
  net::InProcessService service_;

 public:
  kube::Client admin;
  Wire wire;

 private:
  std::unique_ptr<Process> process_;
};

// {"generictemplate": Job, "completionstatus": "Complete"} of `pods` pods with a CPU each.
std::string job_item(std::string_view name, int pods = 1, std::string_view cpu = "1");

}  // namespace codeflare::controllers::testing
