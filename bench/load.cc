#include "bench/load.h"

#include "kube/config.h"

#include <cstddef>
#include <string>
#include <sys/resource.h>
#include <utility>

namespace codeflare::bench {

namespace {

constexpr std::size_t kConnectionsMax = 2000;

}  // namespace

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](timeval t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

Result<std::unique_ptr<net::HttpClient>> connect(Env env) {
  TRY_ASSIGN(kube::Config config, kube::load_config(env));
  TRY_ASSIGN(net::Url url, net::parse_url(config.server));
  return net::HttpClient::create(env, std::move(url),
                                 {.tls = {.ca_bundle_pem = config.tls.ca_pem,
                                          .certificate_pem = config.tls.certificate_pem,
                                          .key_pem = std::string(config.tls.key_pem.reveal())},
                                  .idle_connections_max = kConnectionsMax});
}

}  // namespace codeflare::bench
