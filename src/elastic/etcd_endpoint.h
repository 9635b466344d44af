#pragma once

#include "base/env/env.h"
#include "base/result.h"
#include "net/client.h"

#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace codeflare::elastic {

// The address of an etcd, in the words of --rdzv-conf of agents and controller.
struct EtcdEndpoint {
  std::string host{};
  std::string port = "2379";
  // protocol (http, https), cacert, cert, key; the last three name files. Other words are ignored:
  // torchrun has more.
  std::map<std::string, std::string> conf{};

  bool uses_tls() const;
};

// "protocol=https,cacert=FILE,cert=FILE,key=FILE".
std::map<std::string, std::string> parse_rdzv_conf(std::string_view text);

// Fails for words that contradict each other.
Result<void> check_endpoint(const EtcdEndpoint& endpoint);

// Reads the files. It connects with the first request. Without cacert the authorities of the
// system count.
Result<std::unique_ptr<net::HttpClient>> connect_etcd(Env env, const EtcdEndpoint& endpoint,
                                                      std::string user_agent);

}  // namespace codeflare::elastic
