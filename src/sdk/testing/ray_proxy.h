#pragma once

#include "base/env/env.h"
#include "kube/testing/scripted_service.h"
#include "model/ray_cluster.h"
#include "model/resources.h"
#include "net/http.h"
#include "ray/testing/fake_dashboard.h"

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace codeflare::sdk::testing {

// An API server with RayClusters, whose proxy leads to a fake dashboard for each. For tests.
class RayProxy final : public net::HttpService {
 public:
  explicit RayProxy(Env env) : api(env), env_(env) {}

  // A RayCluster in namespace "team". One that is not ready has no head service.
  void add_cluster(const std::string& name, bool ready = true,
                   ray::testing::FakeDashboard::Options options = {}) {
    api.put(
        model::resource_type<model::RayCluster>(),
        R"({"apiVersion":"ray.io/v1","kind":"RayCluster","metadata":{"namespace":"team","name":")" +
            name + R"("},"status":{"state":")" + (ready ? "ready" : "") + R"("}})");
    if (ready) {
      dashboards[name] = std::make_unique<ray::testing::FakeDashboard>(env_, std::move(options));
    }
  }

  Task<Result<net::Response>> send(net::Request request) override {
    constexpr std::string_view kBefore = "/api/v1/namespaces/team/services/";
    constexpr std::string_view kAfter = "-head-svc:dashboard/proxy";
    const std::size_t at = request.target.find(kAfter);
    if (!request.target.starts_with(kBefore) || at == std::string::npos) {
      return api.send(std::move(request));
    }
    if (forbidden) {
      return refuse(403, "services is forbidden: user u cannot get services/proxy");
    }
    const std::string name = request.target.substr(kBefore.size(), at - kBefore.size());
    const auto dashboard = dashboards.find(name);
    if (dashboard == dashboards.end()) {
      return refuse(404, "services \\\"" + name + "-head-svc\\\" not found");
    }
    request.target.erase(0, at + kAfter.size());
    authorization = request.headers.get("X-Ray-Authorization").value_or("");
    return dashboard->second->send(std::move(request));
  }

  kube::testing::ScriptedService api;
  std::map<std::string, std::unique_ptr<ray::testing::FakeDashboard>> dashboards{};
  bool forbidden = false;
  std::string authorization{};  // of the last request to a dashboard

 private:
  static Task<Result<net::Response>> refuse(int status, std::string message) {
    co_return net::make_response(
        status, "application/json",
        Bytes::from(R"({"kind":"Status","apiVersion":"v1","status":"Failure","code":)" +
                    std::to_string(status) + R"(,"message":")" + message + "\"}"));
  }

  Env env_;
};

}  // namespace codeflare::sdk::testing
