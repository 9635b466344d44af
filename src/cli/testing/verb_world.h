#pragma once

#include "apiserver/server/api_server.h"
#include "base/async/sleep.h"
#include "base/check.h"
#include "base/env/sim_env.h"
#include "base/log_capture.h"
#include "base/metrics.h"
#include "cli/session/session.h"
#include "cli/testing/captured_console.h"
#include "controllers/crds/crds.h"
#include "net/in_process.h"
#include "net/testing/scripted_service.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace codeflare::cli::testing {

// A definition that the controller brings.
inline std::string app_wrapper_crd(std::string_view name = controllers::kAppWrapperCrd) {
  for (const std::string_view text : controllers::crd_texts()) {
    if (text.contains("\n  name: " + std::string(name) + "\n")) {
      return std::string(text);
    }
  }
  CHECK(false, "the program carries the definition of AppWrappers");
}

// A whole API server in virtual time, and verbs that talk to it in process.
class VerbWorld {
 public:
  // With `connect`, pods have logs.
  explicit VerbWorld(apiserver::ConnectHandler* connect = nullptr) {
    auto started = run(sim.env().loop,
                       apiserver::ApiServer::start(sim.env(),
                                                   {.data_directory = "/data",
                                                    .durability = apiserver::Durability::memory,
                                                    .connect = connect},
                                                   log_.logger(sim.env().clock), metrics_));
    CHECK(started.has_value() && started->has_value(), "a server");
    server_ = *std::move(*started);
    CHECK(run(sim.env().loop, pause()), "it settles");
  }
  ~VerbWorld() { CHECK(run(sim.env().loop, server_->stop({})), "it stops"); }

  // Runs a verb as `user`; what it wrote is in `console`, and empty before.
  int verb(const std::function<Task<int>(Session&)>& verb, const SessionFlags& flags = {},
           const std::string& user = "admin") {
    console.out_text.clear();
    console.err_text.clear();
    std::vector<std::string> groups;
    if (user == "admin") {
      groups.emplace_back("system:masters");
    }
    net::InProcessService service(
        server_->service(), {.address = "test",
                             .certificate = net::Peer::Certificate{
                                 .common_name = user, .organizations = groups, .sha256 = ""}});
    net::testing::ScriptedService gate([&](net::Request request) {
      if (request.method != "GET" && full) {
        return refuse();
      }
      return writes_left < 0 ? service.send(std::move(request))
                             : send_or_die(service, std::move(request));
    });
    auto session = Session::over(sim.env(), console, gate, "default", flags);
    CHECK(session.has_value(), "a test's flags");
    const std::optional<int> code = run(sim.env().loop, verb(**session));
    CHECK(code.has_value(), "a verb ends");
    return *code;
  }

  void write(const std::string& path, std::string_view text) {
    CHECK(sim.env().files.make_directories(parent_path(path)).has_value(), "a directory in memory");
    CHECK(sim.env().files.write(path, text).has_value(), "a file in memory");
  }

  SimEnv sim;
  CapturedConsole console;
  // Every write is answered as by a server whose disk is full, and counted.
  bool full = false;
  int refused = 0;
  // As many writes reach the server, then nothing does: the client has died. Negative: all do.
  int writes_left = -1;
  // The last of them arrives, its answer does not.
  bool reply_lost = false;

 private:
  Task<Result<net::Response>> send_or_die(net::HttpService& service, net::Request request) {
    const bool write = request.method != "GET";
    if (writes_left == 0) {
      co_return fail(cancelled());
    }
    writes_left -= write ? 1 : 0;
    Result<net::Response> answer = co_await service.send(std::move(request));
    if (write && writes_left == 0 && reply_lost) {
      co_return fail(cancelled());
    }
    co_return answer;
  }
  Task<Result<net::Response>> refuse() {
    ++refused;
    net::Response response = net::make_response(
        503, "application/json",
        Bytes::from(R"({"kind":"Status","apiVersion":"v1","status":"Failure","code":503,)"
                    R"("reason":"ServiceUnavailable","message":"the disk is full"})"));
    response.headers.set("Retry-After", "1");
    co_return response;
  }

  static Task<void> pause() { static_cast<void>(co_await sleep_for(std::chrono::seconds(1))); }

  MetricsRegistry metrics_;
  LogCapture log_;
  std::unique_ptr<apiserver::ApiServer> server_;
};

}  // namespace codeflare::cli::testing
