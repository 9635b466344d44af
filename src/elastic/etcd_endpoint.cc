#include "elastic/etcd_endpoint.h"

#include "net/url.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace codeflare::elastic {

namespace {

std::string word(const EtcdEndpoint& endpoint, const std::string& name) {
  const auto at = endpoint.conf.find(name);
  return at == endpoint.conf.end() ? std::string() : at->second;
}

Result<std::string> read_pem(Env env, const EtcdEndpoint& endpoint, const std::string& name) {
  const std::string path = word(endpoint, name);
  if (path.empty()) {
    return std::string();
  }
  Result<std::string> text = env.files.read(path);
  return text ? std::move(text)
              : fail(std::move(text).error().with_context(name + " of the rendezvous"));
}

}  // namespace

bool EtcdEndpoint::uses_tls() const {
  return word(*this, "protocol") == "https";
}

std::map<std::string, std::string> parse_rdzv_conf(std::string_view text) {
  std::map<std::string, std::string> conf;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view part = text.substr(0, comma);
    const std::size_t equals = part.find('=');
    if (equals != std::string_view::npos) {
      conf.emplace(part.substr(0, equals), part.substr(equals + 1));
    }
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return conf;
}

Result<void> check_endpoint(const EtcdEndpoint& endpoint) {
  const std::string protocol = word(endpoint, "protocol");
  if (!protocol.empty() && protocol != "http" && protocol != "https") {
    return fail(invalid_argument("protocol is '" + protocol + "'; use http or https"));
  }
  if (word(endpoint, "cert").empty() != word(endpoint, "key").empty()) {
    return fail(invalid_argument("cert and key belong together; set both or none"));
  }
  if (!endpoint.uses_tls() &&
      !(word(endpoint, "cacert").empty() && word(endpoint, "cert").empty())) {
    return fail(invalid_argument("cacert, cert and key need protocol=https"));
  }
  return {};
}

Result<std::unique_ptr<net::HttpClient>> connect_etcd(Env env, const EtcdEndpoint& endpoint,
                                                      std::string user_agent) {
  TRY(check_endpoint(endpoint));
  TRY_ASSIGN(net::Url url, net::parse_url((endpoint.uses_tls() ? "https://" : "http://") +
                                          endpoint.host + ":" + endpoint.port));
  net::ClientOptions options{.user_agent = std::move(user_agent),
                             .connect_timeout = std::chrono::seconds(3)};
  TRY_ASSIGN(options.tls.ca_bundle_pem, read_pem(env, endpoint, "cacert"));
  TRY_ASSIGN(options.tls.certificate_pem, read_pem(env, endpoint, "cert"));
  TRY_ASSIGN(options.tls.key_pem, read_pem(env, endpoint, "key"));
  return net::HttpClient::create(env, std::move(url), std::move(options));
}

}  // namespace codeflare::elastic
