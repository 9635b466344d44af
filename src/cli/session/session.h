#pragma once

#include "base/env/env.h"
#include "base/log.h"
#include "base/result.h"
#include "cli/session/console.h"
#include "cli/session/output.h"
#include "kube/client.h"
#include "kube/connect.h"
#include "kube/discovery.h"
#include "net/http.h"

#include <chrono>
#include <memory>
#include <string>

namespace codeflare::cli {

// The options of every verb that talks to a cluster.
struct SessionFlags {
  std::string kubeconfig;
  std::string context;
  std::string ns;
  std::string output;
  bool no_input = false;  // nothing is asked, also on a terminal
  bool quiet = false;     // no progress and no notes
  // For a server that asks to wait, all requests of the verb together; zero: kPatience.
  Duration timeout{};
};

inline constexpr Duration kPatience = std::chrono::seconds(60);

namespace internal {
class Listening;
}

// One run of a verb: where it reads and writes, whom it talks to, and how it answers.
class Session {
 public:
  // The cluster that the flags, KUBECONFIG or ~/.kube/config mean. Nothing is sent yet.
  static Result<std::unique_ptr<Session>> open(Env env, Console& console,
                                               const SessionFlags& flags);
  // Over any service, in this namespace unless the flags name one.
  static Result<std::unique_ptr<Session>> over(Env env, Console& console, net::HttpService& service,
                                               std::string ns, const SessionFlags& flags = {});
  ~Session();

  Env env() const { return env_; }
  // Clears the line about a wait, so that output does not overwrite it.
  Console& console() {
    waiting_.clear();
    return console_;
  }
  // Leads to the server.
  net::HttpService& service() { return service_; }
  kube::Client& client() { return client_; }
  kube::Discovery& discovery() { return discovery_; }
  // "the server" with its address and where that comes from.
  const std::string& server() const { return server_; }
  const std::string& ns() const { return ns_; }
  // It was asked for with -n, rather than taken from the context.
  bool ns_given() const { return ns_given_; }
  Output output() const { return output_; }
  // Waits show no progress, and console() leaves out notes.
  bool quiet() const { return quiet_console_ != nullptr; }
  WallTime now() const { return env_.clock.wall(); }
  // The server did not accept the credentials of a request.
  bool rejected() const;

 private:
  struct Parts {
    std::string ns;
    bool ns_given = false;
    Output output = Output::table;
    Duration patience = kPatience;
    bool quiet = false;
  };
  Session(Env env, Console& console, net::HttpService& service, Parts parts);

  // Tells whoever looks on what is waited for, and when to stop.
  bool may_wait(const kube::Repeat& repeat);

  Env env_;
  std::unique_ptr<Console> quiet_console_;
  Console& console_;
  net::HttpService& service_;
  ProgressLine waiting_;
  Duration patience_;
  Duration waited_{};
  Instant waits_until_{};
  Instant first_until_{};
  std::string told_;
  std::unique_ptr<kube::Connection> connection_;
  std::unique_ptr<internal::Listening> listening_;
  Logger warnings_;  // of the server
  kube::Client client_;
  kube::Discovery discovery_;
  std::string server_ = "the server";
  std::string ns_;
  bool ns_given_ = false;
  Output output_ = Output::table;
};

}  // namespace codeflare::cli
