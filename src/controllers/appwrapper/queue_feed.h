#pragma once

#include "base/async/task.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text_map.h"
#include "controllers/appwrapper/wrapper_pods.h"
#include "controllers/submitter/submitter.h"
#include "kube/client.h"
#include "queue/adopted_pods.h"
#include "queue/queue.h"
#include "runtime/cache.h"

#include <functional>
#include <string>
#include <vector>

namespace codeflare::controllers {

struct FeedOptions {
  bool user_check = true;
  SubmitterTrust submitters{};  // with user_check
  std::vector<model::WrapperApi> apis = {model::WrapperApi::workload_v1beta1};
  bool training_jobs = false;  // TrainingJobs too; their CRD is installed
  bool quota_subtrees = true;  // their CRD is installed
  // Where the ConfigMap `codeflare-queue` may say `paused: "true"`.
  std::string ns = "default";
  // Keep of pods and nodes only what the queue needs.
  bool trim = true;
  Logger logger{};
};

// Gives a Queue what caches show: everything once by fill(), then every change. Decides nothing.
class QueueFeed {
 public:
  class Listener {
   public:
    virtual ~Listener() = default;
    // An object that waits or runs was given to the queue, or could not be; see problem().
    virtual void work_seen(const queue::WorkId& id) = 0;
    virtual void work_gone(const std::string& uid) = 0;
    virtual void pods_changed(const std::vector<WrapperPods::News>& news) = 0;
    // After each change of anything, once the queue is filled.
    virtual void changed() = 0;
  };

  QueueFeed(const Clock& clock, kube::Client& client, runtime::Cache& cache, queue::Queue& queue,
            Listener& listener, FeedOptions options);
  QueueFeed(const QueueFeed&) = delete;
  QueueFeed& operator=(const QueueFeed&) = delete;

  // Until the caches show all that was written before the call; false when stopped.
  Task<bool> caught_up();
  // From here on changes reach the queue.
  void fill();
  bool filled() const { return filled_; }

  WrapperPods& pods() { return pods_; }
  const WrapperPods& pods() const { return pods_; }
  // Why an object cannot be understood; empty when it can.
  std::string problem(const std::string& uid) const;

 private:
  using Handler = std::function<void(const runtime::ObjectChange&)>;
  struct Source {
    runtime::Informer* informer;
    kube::ListOptions list;  // what it watches
    Handler handler;
  };

  void watch(const model::ResourceType& type, runtime::InformerOptions options, Handler handler);
  Task<bool> all_synced();
  std::string not_synced() const;
  Task<Result<void>> catch_up();
  Task<Result<void>> catch_up(runtime::Informer& informer, kube::ListOptions list);

  void app_wrapper_changed(model::WrapperApi api, const runtime::ObjectChange& change);
  void training_job_changed(const runtime::ObjectChange& change);
  bool is_news(const runtime::ObjectChange& change);
  void check_submitter(model::AppWrapper& wrapper) const;
  void note(const queue::WorkId& id, const char* kind, const Result<void>& taken);
  void forget(const std::string& uid);
  void take_pod(const model::Pod& pod);
  void pod_gone(const kube::Object& pod);
  void pod_changed(const runtime::ObjectChange& change);
  void node_changed(const runtime::ObjectChange& change);
  void quota_changed(const runtime::ObjectChange& change);
  void resource_quota_changed(const runtime::ObjectChange& change);
  void pause_changed(const runtime::ObjectChange& change);

  const Clock& clock_;
  kube::Client& client_;
  runtime::Cache& cache_;
  queue::Queue& queue_;
  Listener& listener_;
  FeedOptions options_;
  Logger logger_;
  queue::AdoptedPods adopted_;
  WrapperPods pods_;
  runtime::Informer& pause_;
  std::vector<Source> sources_;  // in the order of feeding
  TextSet seen_;                 // UIDs that were given to the queue
  TextMap<std::string> problems_;
  bool filled_ = false;
};

}  // namespace codeflare::controllers
