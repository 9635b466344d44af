#include "node/agent/proxy_variables.h"

#include <algorithm>
#include <string_view>

namespace codeflare::node {

namespace {

// Programs that understand this reach pods and services without the proxy, which would bring them
// there too: short names cannot be listed, and many programs do not know blocks of addresses.
constexpr std::string_view kInside =
    "localhost,127.0.0.1,::1,10.0.0.0/8,.svc,.cluster.local,kubernetes,kubernetes.default";

bool is_set(const std::vector<std::string>& environment, const std::string& name) {
  return std::ranges::any_of(
      environment, [&](const std::string& entry) { return entry.starts_with(name + "="); });
}

}  // namespace

void add_proxy_variables(std::vector<std::string>& environment, const std::string& proxy) {
  struct Variable {
    const char* small;
    const char* large;
    std::string value;
  };
  for (const Variable& one :
       {Variable{"http_proxy", "HTTP_PROXY", proxy}, Variable{"https_proxy", "HTTPS_PROXY", proxy},
        Variable{"no_proxy", "NO_PROXY", std::string(kInside)}}) {
    if (!is_set(environment, one.small) && !is_set(environment, one.large)) {
      environment.push_back(one.small + ("=" + one.value));
      environment.push_back(one.large + ("=" + one.value));
    }
  }
}

}  // namespace codeflare::node
