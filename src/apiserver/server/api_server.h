#pragma once

#include "apiserver/rest/served_group.h"
#include "base/async/task.h"
#include "base/env/env.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/posix.h"
#include "base/result.h"
#include "base/time.h"
#include "net/http.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace codeflare::apiserver {

class Admission;
class Authorizer;
class ConnectHandler;
class Log;
class Registry;
class Store;

enum class Durability : std::uint8_t {
  full,     // nothing acknowledged is ever lost
  relaxed,  // nothing is lost when the process dies; a power cut may lose the last writes
  memory,   // everything is lost when the process ends
};

// The whole embedded API server: store, certificates, pipeline, housekeeping. It lives in one data
// directory, which no other process may use at the same time.
//   CO_TRY_ASSIGN(auto server, co_await ApiServer::start(env, {.data_directory = "data"}, ...));
//   CO_TRY(server->listen("127.0.0.1", 6443));
//   ... co_await server->stop(10s);
class ApiServer {
 public:
  struct Options {
    std::string data_directory;
    Durability durability = Durability::full;
    // More names of the server, for its certificate; the first stands in for 0.0.0.0 in the
    // kubeconfig.
    std::vector<std::string> certificate_names{};
    // Lines of token,user,uid,"groups"; empty: none.
    std::string token_file{};
    std::size_t in_flight_max = 600;  // of clients behind the socket
    // More make the server end idle ones; stays below what the system allows the process.
    std::size_t connections_max = 16384;
    // Steps of the loop that take longer are logged with the request that they work for; zero: what
    // the environment variable CODEFLARE_SLOW_STEP_MS says, or none.
    Duration slow_step{};
    ConnectHandler* connect = nullptr;
    // Rules of others, asked after the server's own; made once, live as long as the server.
    using AdmissionFactory = std::function<std::vector<std::unique_ptr<Admission>>(
        const Authorizer& authorizer, const Registry& registry, const Store& store)>;
    AdmissionFactory more_admission{};
    std::vector<ServedGroup> more_groups{};
    // For tests and simulations: another log than the one in the data directory, and a look at the
    // store as it came from the log, before anybody writes. It lives until stop() has ended.
    std::function<Result<std::unique_ptr<Log>>()> open_log{};
    std::function<void(Store&)> on_open{};
  };

  // Opens the store and is able to answer in process. The metrics outlive the server.
  static Task<Result<std::unique_ptr<ApiServer>>> start(Env env, Options options, Logger logger,
                                                        MetricsRegistry& metrics);
  ~ApiServer();

  // Puts the server behind a socket and writes DIR/admin.kubeconfig; port 0 takes any. Returns the
  // port.
  Task<Result<std::uint16_t>> listen(std::string address, std::uint16_t port);

  // Also on a socket that listens already, once the server listens: for pods, whose network is not
  // the machine's.
  Result<void> listen_on(FileDescriptor listener);

  // The pipeline, to be called in the same process under an identity: InProcessService. Such calls
  // are not counted in flight.
  net::HttpService& service();
  // Where the administrator's kubeconfig is (written by listen).
  const std::string& kubeconfig_path() const;
  // Nothing that the server does by itself is under way.
  bool idle() const;

  // Ends watches, lets requests finish for `grace`, makes everything durable, closes the store.
  Task<void> stop(Duration grace);

 private:
  struct Parts;
  explicit ApiServer(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace codeflare::apiserver
