#pragma once

#include "base/async/task.h"
#include "cli/session/session.h"
#include "cli/views/training_explain_view.h"
#include "cli/views/wrapper_view.h"
#include "kube/client.h"
#include "model/meta.h"
#include "net/http.h"
#include "queue/report.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// view.codeflare.dev: what the controller's process answers (docs/view-api.md).
namespace codeflare::cli {

// Of the queue that decides, rather than of one made of the cluster's objects.
struct LiveExplanation {
  bool paused = false;
  std::optional<queue::Report> report{};
  // Of a TrainingJob that has pods.
  std::int64_t planned = 0;
  std::string growth{};
  std::string shrinks_for{};
  std::vector<GrownJob> grown{};
};

// `plural` is "appwrappers" or "trainingjobs". Nothing when no controller answers, the caller has
// no right to it, or the server is older: callers then look for themselves.
Task<std::optional<LiveExplanation>> ask_explanation(Session& session, std::string plural,
                                                     model::ObjectMeta object);

// The cluster that an AppWrapper has its plan on; empty: this one, or it has none.
std::string worker_of(const model::AppWrapper& wrapper);

// Leads requests for pods and their logs to those of one AppWrapper, wherever they are:
//   GET .../pods?labelSelector=...        the list of its pods
//   GET .../pods/NAME/log?follow=true     the log of one of them
class WorkPodService final : public net::HttpService {
 public:
  WorkPodService(net::HttpService& server, std::string log_path, std::string group)
      : server_(server), log_path_(std::move(log_path)), group_(std::move(group)) {}
  Task<Result<net::Response>> send(net::Request request) override;

 private:
  net::HttpService& server_;
  std::string log_path_;
  std::string group_;
};

// A client for pods and logs of an AppWrapper through the controller. The session outlives it.
class WorkPodClient {
 public:
  WorkPodClient(Session& session, const GroupedWrapper& wrapper);
  kube::Client& client() { return client_; }

 private:
  WorkPodService service_;
  kube::Client client_;
};

}  // namespace codeflare::cli
