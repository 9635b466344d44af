#include "s3/connection.h"

#include "net/proxy.h"
#include "net/url.h"
#include "s3/data_settings.h"

#include <utility>

namespace codeflare::s3 {

Result<Connection> connect(Env env, const Location& location, std::string user_agent) {
  TRY_ASSIGN(net::Url url, net::parse_url(location.endpoint));
  ClientOptions options{.host = url.authority(),
                        .prefix = std::string(net::split_target(url.target).path),
                        .bucket = location.bucket,
                        .region = location.region,
                        .credentials = {},
                        .attempts_max = location.attempts_max,
                        .head_timeout = location.head_timeout};
  while (options.prefix.ends_with('/')) {
    options.prefix.pop_back();
  }
  TRY_ASSIGN(options.credentials,
             read_credentials(env.files, env.variables, location.keys_directory));
  net::ClientOptions http{.user_agent = std::move(user_agent),
                          .connect_timeout = location.connect_timeout};
  TRY_ASSIGN(http.tls.ca_bundle_pem,
             read_authority(env.files, env.variables, location.keys_directory));
  TRY_ASSIGN(http.proxy, net::proxy_for(url, env.variables));
  Connection connection;
  TRY_ASSIGN(connection.http, net::HttpClient::create(env, std::move(url), std::move(http)));
  connection.client = std::make_unique<Client>(env, *connection.http, std::move(options));
  return connection;
}

}  // namespace codeflare::s3
