#pragma once

#include "apiserver/rest/served_group.h"
#include "base/async/stop_token.h"
#include "base/async/task.h"
#include "base/async/wait_list.h"
#include "base/env/env.h"
#include "base/result.h"
#include "base/time.h"
#include "controllers/appwrapper/queue_driver.h"
#include "controllers/dispatch/worker_clients.h"
#include "kube/client.h"
#include "net/http.h"
#include "runtime/cache.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace codeflare::controllers::view {

inline constexpr std::string_view kGroup = "view.codeflare.dev";
inline constexpr std::string_view kVersion = "v1alpha1";

// view.codeflare.dev/v1alpha1: `appwrappers/NAME/explain`, `trainingjobs/NAME/explain` and
// `appwrappers/NAME/log`, from what this process knows. Its caller has decided who may ask. Answers
// 503 while this process does not lead.
//   ViewApi view(env); options.more_groups.push_back(view.group());
//   view.serve({.driver = *driver, .client = client, .cache = manager.cache()});
class ViewApi final : public net::HttpService {
 public:
  // All outlive end(), which has to be awaited after serve().
  struct Sources {
    QueueDriver& driver;
    kube::Client& client;
    runtime::Cache& cache;
    const dispatch::WorkerClients* workers = nullptr;  // null: there are none
  };

  explicit ViewApi(Env env) : env_(env) {}

  // For ApiServer::Options::more_groups; refers to this.
  apiserver::ServedGroup group();
  void serve(const Sources& sources) { sources_.emplace(sources); }
  // Questions under way are answered with 503; waits until none is.
  Task<void> end();

  // Errors are answered as a Status, so that the caller has nothing to add.
  Task<Result<net::Response>> send(net::Request request) override;

 private:
  struct Question {
    std::string ns;
    std::string name;
    std::string uid;  // empty: the object of this name that the queue saw last
  };

  Task<Result<net::Response>> answer(apiserver::RequestInfo info);
  Task<Result<net::Response>> explain(queue::WorkKind kind, Question question);
  Task<Result<net::Response>> log(apiserver::RequestInfo info);
  // Waits until the queue knows the object and has tried it; a moment at most.
  Task<Result<queue::WorkId>> find(queue::WorkKind kind, Question question);
  // Explanations take a share of the loop's time, never all of it.
  Task<Result<void>> take_turn();
  std::string explanation(const queue::WorkId& id);
  std::string training_explanation(const queue::WorkId& id);

  Env env_;
  std::optional<Sources> sources_;
  StopSource stop_;
  std::size_t running_ = 0;
  WaitList idle_;
  Instant next_{};           // no explanation begins before
  std::size_t waiting_ = 0;  // for their turn
};

}  // namespace codeflare::controllers::view
