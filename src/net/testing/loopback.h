#pragma once

#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "base/env/real_env.h"
#include "net/client.h"
#include "net/server.h"
#include "net/testing/scripted_service.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace codeflare::net::testing {

// A real loop for tests; work that hangs fails instead.
class RealWorld {
 public:
  Env env() { return real_.env(); }

  template <typename T>
  Result<T> run(Task<Result<T>> task) {
    return *codeflare::run(real_.env().loop,
                           with_timeout(std::chrono::seconds(60), "test", std::move(task)));
  }
  void run(Task<void> task) { codeflare::run(real_.env().loop, std::move(task)); }

 private:
  RealEnv real_;
};

// A server with the given handler and a client for it, on loopback.
class Loopback {
 public:
  explicit Loopback(ScriptedService::Handler handler, ServerOptions server_options = {},
                    ClientOptions client_options = {}, const std::string& host = "127.0.0.1")
      : service_(std::move(handler)),
        server_(std::make_unique<HttpServer>(world_.env(), service_, server_options)) {
    Result<std::uint16_t> port = server_->listen("127.0.0.1", 0);
    EXPECT_TRUE(port) << port.error().to_string();
    port_ = port.value_or(0);
    client_ = new_client(std::move(client_options), host, server_options.tls.has_value());
  }
  ~Loopback() {
    client_ = nullptr;
    world_.run(server_->drain(Duration::zero()));
  }

  std::unique_ptr<HttpClient> new_client(ClientOptions options,
                                         const std::string& host = "127.0.0.1", bool tls = false) {
    Url url{.scheme = tls ? "https" : "http", .host = host, .port = port_};
    Result<std::unique_ptr<HttpClient>> client =
        HttpClient::create(world_.env(), std::move(url), std::move(options));
    EXPECT_TRUE(client) << client.error().to_string();
    return client ? *std::move(client) : nullptr;
  }

  Result<Response> send(Request request) { return world_.run(client_->send(std::move(request))); }
  Result<std::string> read(Response& response) {
    return world_.run(read_all(std::move(response.body), std::size_t{1} << 30));
  }

  RealWorld& world() { return world_; }
  Env env() { return world_.env(); }
  HttpServer& server() { return *server_; }
  HttpClient& client() { return *client_; }
  std::uint16_t port() const { return port_; }

 private:
  RealWorld world_;
  ScriptedService service_;
  std::unique_ptr<HttpServer> server_;
  std::unique_ptr<HttpClient> client_;
  std::uint16_t port_ = 0;
};

}  // namespace codeflare::net::testing
