#pragma once

#include "apiserver/rest/api_service.h"
#include "apiserver/rest/internal/discovery.h"
#include "apiserver/rest/internal/encode.h"
#include "apiserver/rest/internal/encoding_cache.h"
#include "apiserver/rest/internal/event_text.h"
#include "apiserver/rest/internal/in_flight.h"
#include "apiserver/rest/internal/negotiate.h"
#include "apiserver/rest/internal/step_guard.h"
#include "base/async/stop_token.h"
#include "base/async/wait_list.h"
#include "net/body_budget.h"

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace codeflare::apiserver::internal {

struct ServerMetrics {
  explicit ServerMetrics(MetricsRegistry& metrics);
  MetricFamily<Counter>& requests;     // verb group version resource subresource scope code
  MetricFamily<Histogram>& durations;  // verb group version resource subresource scope
  MetricFamily<Gauge>& in_flight;      // request_kind
  Gauge& watches;
};

// State that all requests share; behind ApiService.
struct Server {
  Server(ApiService::Parts parts_in, ApiService::Options options_in);

  Env& env() { return parts.env; }
  Store& store() { return parts.store; }
  VirtualResource* find_virtual(std::string_view group, std::string_view resource,
                                std::string_view subresource);

  ApiService::Parts parts;
  ApiService::Options options;
  std::map<std::tuple<std::string, std::string, std::string>, std::unique_ptr<VirtualResource>>
      virtuals;
  std::vector<std::pair<std::string, ApiService::PathHandler>> paths;
  std::map<std::string, ApiService::PathHandler, std::less<>> groups;  // without stored objects
  ServerMetrics metrics;
  DiscoveryCache discovery;
  EncodingCache encodings;
  EventText event_text;
  StopSource stopping;  // ends watches
  std::shared_ptr<InFlight> in_flight;
  net::BodyBudget bodies;
  std::size_t running = 0;  // until the head of their response, watches included
  WaitList idle;
  StepGuard steps;
  // One large piece of work beside the loop at a time: a thread stays free for commits.
  bool working_aside = false;
  WaitList aside_ended;
};

// One request on its way through the pipeline. Lives until its response head is made.
struct Call {
  Server& server;
  RequestInfo info;
  net::Request request;
  RequestSlot place{};
  User user{};
  ResourcePtr resource{};
  const ServedVersion* version = nullptr;
  Form form{};
  std::vector<std::string> warnings{};
  std::size_t body_bytes = 0;  // read

  // Called after waits, for the guard of slow steps.
  void enter_step() const {
    server.steps.enter({.method = request.method,
                        .target = request.target,
                        .type = header("Content-Type").value_or(""),
                        .bytes = body_bytes});
  }
  Output output() const { return {resource, version, form}; }
  std::string api_version() const { return resource->api_version(*version); }
  bool is_storage_version() const { return resource->stores(*version); }
  // Empty for cluster-scoped resources, `namespaces` included.
  std::string_view ns() const {
    return resource->namespaced ? std::string_view(info.ns) : std::string_view();
  }
  std::optional<std::string_view> header(std::string_view name) const {
    return request.headers.get(name);
  }
};

}  // namespace codeflare::apiserver::internal
