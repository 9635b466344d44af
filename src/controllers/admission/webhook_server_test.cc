#include "controllers/admission/webhook_server.h"

#include "apiserver/store/testing/real_directory.h"
#include "base/async/sleep.h"
#include "base/check.h"
#include "net/client.h"
#include "net/testing/scripted_service.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

namespace codeflare::admission {
namespace {

// A cluster that takes whatever is applied.
Task<Result<net::Response>> take(net::Request request) {
  CO_TRY_ASSIGN(std::string body, co_await net::read_all(std::move(request.body), 1u << 20));
  co_return net::make_response(200, "application/json", Bytes::from(std::move(body)));
}

Task<Result<int>> ask(net::HttpClient& caller) {
  CO_TRY_ASSIGN(net::Response response, co_await caller.send({.target = "/nowhere"}));
  CO_TRY(co_await net::read_all(std::move(response.body), 1u << 20));
  co_return response.status;
}

// A webhook on loopback, and callers that keep a connection each.
class WebhookWorld {
 public:
  explicit WebhookWorld(std::size_t connections_max) {
    Result<std::unique_ptr<WebhookServer>> started =
        run_in_time(WebhookServer::start(directory_.env(), client_,
                                         {.listen = "127.0.0.1:0",
                                          .directory = directory_.path("webhook"),
                                          .url = "https://127.0.0.1:9443",
                                          .more_names = {"view.codeflare-system.svc"},
                                          .connections_max = connections_max},
                                         Logger()));
    CHECK(started.has_value(), "the webhook did not start");
    server_ = *std::move(started);
  }
  ~WebhookWorld() { codeflare::run(directory_.env().loop, server_->stop()); }

  // A client that expects this name in the certificate; empty: the address.
  std::unique_ptr<net::HttpClient> caller(const std::string& name = "") {
    const std::string authority =
        directory_.files().read(directory_.path("webhook/ca.crt")).value();
    return net::HttpClient::create(
               directory_.env(), {.scheme = "https", .host = "127.0.0.1", .port = server_->port()},
               {.tls = {.ca_bundle_pem = authority, .server_name = name}})
        .value();
  }
  int ask(net::HttpClient& caller) { return run_in_time(admission::ask(caller)).value_or(0); }

 private:
  template <typename T>
  Result<T> run_in_time(Task<Result<T>> task) {
    return *codeflare::run(directory_.env().loop,
                           with_timeout(std::chrono::seconds(60), "test", std::move(task)));
  }

  apiserver::RealDirectory directory_;
  net::testing::ScriptedService cluster_{take};
  kube::Client client_{directory_.env(), cluster_};
  std::unique_ptr<WebhookServer> server_;
};

// How often the first of three callers, which come one after the other and again, has to connect.
std::uint64_t connects_of_first(std::size_t connections_max) {
  WebhookWorld world(connections_max);
  const auto first = world.caller();
  const auto second = world.caller();
  const auto third = world.caller();
  for (net::HttpClient* caller : {first.get(), second.get(), third.get(), first.get()}) {
    EXPECT_EQ(world.ask(*caller), 404);
  }
  return first->counts().connects;
}

TEST(WebhookServer, beyond_its_connections_idle_ones_make_room) {
  EXPECT_EQ(connects_of_first(3), 1u);
  EXPECT_EQ(connects_of_first(2), 2u);
}

TEST(WebhookServer, is_known_by_its_address_and_by_the_services_that_lead_to_it) {
  WebhookWorld world(8);
  EXPECT_EQ(world.ask(*world.caller("view.codeflare-system.svc")), 404);
  EXPECT_EQ(world.ask(*world.caller()), 404);
  EXPECT_EQ(world.ask(*world.caller("other.codeflare-system.svc")), 0);
}

TEST(WebhookServer, has_as_many_connections_as_its_documentation_says) {
  EXPECT_EQ(WebhookServerOptions().connections_max, 512u);
}

}  // namespace
}  // namespace codeflare::admission
