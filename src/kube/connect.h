#pragma once

#include "base/env/env.h"
#include "base/result.h"
#include "kube/config.h"
#include "net/http.h"

#include <memory>
#include <string>

namespace codeflare::kube {

struct ConnectOptions {
  std::string user_agent = "codeflare";
  // Exec plugins may ask questions there.
  bool stdin_is_terminal = false;
};

// The way to one API server: connections, certificates, credentials and their renewal behind one
// HttpService. Must outlive the tasks it was asked for.
//   TRY_ASSIGN(Config config, load_config(env));
//   TRY_ASSIGN(std::unique_ptr<Connection> connection, connect(env, std::move(config)));
//   Client client(env, connection->service());
class Connection {
 public:
  virtual ~Connection() = default;
  virtual net::HttpService& service() = 0;
  virtual const Config& config() const = 0;
  // "10.0.0.1:6443": for ClientOptions::host.
  virtual const std::string& host() const = 0;
};

// Checks certificates and proxy; nothing is sent yet and no plugin is run. Needs a real loop.
// Errors name the file and field that they point at, also later those of requests: a token that the
// server rejects, a host that does not answer, an authority that did not sign.
Result<std::unique_ptr<Connection>> connect(Env env, Config config, ConnectOptions options = {});

}  // namespace codeflare::kube
