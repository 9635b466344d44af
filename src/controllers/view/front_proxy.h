#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "kube/client.h"
#include "net/http.h"

#include <string>
#include <vector>

namespace codeflare::controllers::view {

// How an aggregating API server shows that it is one, and says who asks: the ConfigMap
// kube-system/extension-apiserver-authentication.
struct FrontProxySettings {
  std::string ca_pem;                        // of its client certificate
  std::vector<std::string> allowed_names{};  // common names; empty: any
  std::vector<std::string> user_headers{};
  std::vector<std::string> group_headers{};
  std::vector<std::string> extra_prefixes{};
};

Task<Result<FrontProxySettings>> read_front_proxy(kube::Client& client);

// Lets requests through to the view API that an aggregating API server sends for a user with the
// right to them. The server behind which it stands has to verify client certificates by `ca_pem`.
class FrontProxy final : public net::HttpService {
 public:
  FrontProxy(net::HttpService& view, kube::Client& client, FrontProxySettings settings)
      : view_(view), client_(client), settings_(std::move(settings)) {}

  Task<Result<net::Response>> send(net::Request request) override;

 private:
  Task<Result<net::Response>> answer(net::Request request);

  net::HttpService& view_;
  kube::Client& client_;
  FrontProxySettings settings_;
};

}  // namespace codeflare::controllers::view
