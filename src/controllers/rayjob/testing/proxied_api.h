#pragma once

#include "base/env/env.h"
#include "net/http.h"
#include "ray/testing/fake_dashboard.h"

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace codeflare::controllers::rayjob::testing {

// An API server whose proxy leads to a fake dashboard for each head service. For tests.
class ProxiedApi final : public net::HttpService {
 public:
  ProxiedApi(Env env, net::HttpService& api) : env_(env), api_(api) {}

  Task<Result<net::Response>> send(net::Request request) override {
    constexpr std::string_view kBefore = "/api/v1/namespaces/default/services/";
    constexpr std::string_view kAfter = "-head-svc:dashboard/proxy";
    const std::size_t at = request.target.find(kAfter);
    if (!request.target.starts_with(kBefore) || at == std::string::npos) {
      return api_.send(std::move(request));
    }
    ray::testing::FakeDashboard& dashboard =
        of(request.target.substr(kBefore.size(), at - kBefore.size()));
    request.target.erase(0, at + kAfter.size());
    return dashboard.send(std::move(request));
  }
  ray::testing::FakeDashboard& of(const std::string& cluster) {
    auto& found = dashboards_[cluster];
    if (found == nullptr) {
      found = std::make_unique<ray::testing::FakeDashboard>(env_, options);
    }
    return *found;
  }

  ray::testing::FakeDashboard::Options options{};

 private:
  Env env_;
  net::HttpService& api_;
  std::map<std::string, std::unique_ptr<ray::testing::FakeDashboard>> dashboards_;
};

}  // namespace codeflare::controllers::rayjob::testing
