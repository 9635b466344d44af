#pragma once

#include "apiserver/registry/registry.h"
#include "apiserver/request/admission.h"
#include "apiserver/request/authenticator.h"
#include "apiserver/request/authorizer.h"
#include "apiserver/request/connect.h"
#include "apiserver/request/virtual_resource.h"
#include "apiserver/rest/served_group.h"
#include "apiserver/store/store.h"
#include "base/env/env.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/time.h"
#include "net/http.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace codeflare::apiserver {

// One of the things /livez and /readyz look at.
struct HealthCheck {
  std::string name;
  std::function<Result<void>()> check;
  bool ready_only = false;  // asked by /readyz and /healthz, not by /livez
};

// The request pipeline: request info, in-flight limit, authentication, impersonation,
// authorization, then the handler. Put it behind a socket or call it in the same process.
class ApiService final : public net::HttpService {
 public:
  struct Parts {
    Env env;
    Store& store;
    Registry& registry;
    Authenticator& authenticator;
    Authorizer& authorizer;
    std::vector<Admission*> admission;  // in order
    ConnectHandler* connect = nullptr;
    std::vector<HealthCheck> health{};  // besides ping and the store
    Logger logger;
    MetricsRegistry& metrics;
  };
  struct Options {
    std::size_t body_bytes_max = 3u << 20;
    // Watches and follows not counted, nor what is still sending its body; more get 429, unless a
    // client has taken nothing of its response for a second: that response is cut.
    std::size_t in_flight_max = 600;
    // The memory of all unfinished bodies above net::BodyBudget::kFreeBytes together; a request
    // that needs more gets 429.
    std::size_t unfinished_bytes_max = 256u << 20;
    // Until the head of the response, watches and follows not counted; ?timeout= can ask for less.
    // A write that is on its way to the disk by then is still finished and answered.
    Duration request_timeout = std::chrono::seconds(60);
    // Steps of the loop that take longer are logged with the request that they work for; zero: none
    // are.
    Duration slow_step{};
  };
  ApiService(Parts parts, Options options);
  ~ApiService() override;

  void add(std::string group, std::string resource, std::string subresource,
           std::unique_ptr<VirtualResource> handler);
  // A document or tree of documents outside the API groups ("/openapi/v3"); the longest prefix
  // wins. Authorized like every other path.
  using PathHandler =
      std::function<Task<Result<net::Response>>(const RequestInfo&, const net::Request&)>;
  void add_path(std::string prefix, PathHandler handler);
  void add_group(ServedGroup group);
  Task<Result<net::Response>> send(net::Request request) override;
  // The same for callers in this process. They bound themselves and are not counted, so that
  // clients do not keep them out.
  net::HttpService& uncounted();
  // Ends all watches, rejects new requests and waits for running ones.
  Task<void> close();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace codeflare::apiserver
