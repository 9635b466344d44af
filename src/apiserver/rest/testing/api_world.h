#pragma once

#include "apiserver/registry/registry.h"
#include "apiserver/request/authenticator.h"
#include "apiserver/request/authorizer.h"
#include "apiserver/rest/api_service.h"
#include "apiserver/store/memory_log.h"
#include "apiserver/store/store.h"
#include "base/env/sim_env.h"
#include "base/metrics.h"
#include "json/parse.h"
#include "json/value.h"
#include "net/http.h"
#include "net/in_process.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::apiserver {

// The answer to a request. An answer that is JSON can be looked into by path.
struct Answer {
  int status = 0;
  net::Headers headers;
  std::string body;
  json::Document document;

  // Text of the value at "metadata.labels.app" or "items.0.metadata.name"; "<absent>" without one.
  std::string at(std::string_view path) const;
  std::size_t size(std::string_view path) const;  // children there
  const json::Value* find(std::string_view path) const;
};

// A watch that a test reads line by line.
class WatchLines {
 public:
  WatchLines(Loop& loop, net::Response response);
  int status() const { return status_; }
  // The next event, with the virtual time it may take. Nothing at the end of the stream.
  std::optional<Answer> next();
  // "ADDED a", "BOOKMARK", "end": type and name of the next event.
  std::string next_text();

 private:
  Loop& loop_;
  int status_;
  net::Body body_;
  std::string buffer_;
};

// An API server in one process: the real store on a disk in memory, built-in kinds with their
// strategies, virtual time, and no rules of access unless the test makes some.
//   ApiWorld world;
//   Answer a = world.post("/api/v1/namespaces/default/configmaps", R"({"metadata":{"name":"a"}})");
class ApiWorld final : private Authenticator, private Authorizer {
 public:
  struct Options {
    std::uint64_t seed = 1;
    Store::Options store{};
    ApiService::Options service{};
    std::vector<Admission*> admission{};
    ConnectHandler* connect = nullptr;
  };
  ApiWorld() : ApiWorld(Options()) {}
  explicit ApiWorld(Options options);
  ~ApiWorld() override;

  SimEnv& sim() { return sim_; }
  Env env() { return sim_.env(); }
  Store& store() { return *store_; }
  MemoryDisk& disk() { return *disk_; }
  Registry& registry() { return registry_; }
  ApiService& service() { return *service_; }
  MetricsRegistry& metrics() { return metrics_; }

  // The user of the requests; the header X-Test-User names somebody else ("anonymous": nobody).
  User user{.name = "admin", .uid = {}, .groups = {"system:masters", "system:authenticated"}};
  // Called for users that are not admins.
  std::function<bool(const User&, const Access&)> allow = [](const User&, const Access&) {
    return true;
  };

  Answer request(net::Request request);
  Answer get(std::string target, net::Headers headers = {});
  Answer post(std::string target, std::string body, net::Headers headers = {});
  Answer put(std::string target, std::string body, net::Headers headers = {});
  Answer patch(std::string target, std::string_view type, std::string body,
               net::Headers headers = {});
  Answer remove(std::string target, std::string body = {}, net::Headers headers = {});
  WatchLines watch(std::string target, net::Headers headers = {});

  // Runs a task on the world's loop.
  template <typename T>
  T run(Task<T> task) {
    return *codeflare::run(env().loop, std::move(task));
  }
  void advance(Duration duration);

  // A namespaced custom resource things.example.com/v1 without a schema's help.
  void add_custom(std::string group = "example.com", std::string plural = "things",
                  std::string kind = "Thing");

 private:
  Task<Result<User>> authenticate(const net::Request& request) override;
  Decision authorize(const User& user, const Access& access) const override;
  Task<Result<net::Response>> send(net::Request request);

  SimEnv sim_;
  MetricsRegistry metrics_;
  std::shared_ptr<MemoryDisk> disk_ = std::make_shared<MemoryDisk>();
  std::unique_ptr<Store> store_;
  Registry registry_;
  std::unique_ptr<ApiService> service_;
  std::unique_ptr<net::InProcessService> client_;
};

}  // namespace codeflare::apiserver
