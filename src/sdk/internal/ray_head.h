#pragma once

#include "base/env/env.h"
#include "base/result.h"
#include "net/http.h"
#include "ray/client.h"
#include "sdk/jobs.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace codeflare::sdk::internal {

// An answer of the API server in place of the dashboard's.
struct Refusal {
  int status = 0;
  std::string message;
};

// Passes requests on and notes whether the last answer came from the API server itself.
class ProxyService final : public net::HttpService {
 public:
  explicit ProxyService(net::HttpService& target) : target_(target) {}
  Task<Result<net::Response>> send(net::Request request) override;
  const std::optional<Refusal>& refusal() const { return refusal_; }

 private:
  net::HttpService& target_;
  std::optional<Refusal> refusal_;
};

// The way to one dashboard: the address that was given, else the API server's proxy.
class RayHead {
 public:
  // `api` leads to the API server and outlives this.
  static Result<std::unique_ptr<RayHead>> open(Env env, net::HttpService& api, JobTarget target,
                                               const JobsOptions& options);

  ray::Client& client() { return *client_; }
  const JobTarget& target() const { return target_; }
  const std::optional<Refusal>& refusal() const { return proxy_->refusal(); }
  // "services/demo-head-svc:dashboard/proxy of the API server": the way without an address.
  std::string way() const;

 private:
  explicit RayHead(JobTarget target) : target_(std::move(target)) {}

  JobTarget target_;
  std::unique_ptr<net::HttpService> direct_;
  std::unique_ptr<ProxyService> proxy_;
  std::unique_ptr<ray::Client> client_;
};

}  // namespace codeflare::sdk::internal
