#include "cli/session/session.h"

#include "base/async/sleep.h"
#include "base/human_duration.h"
#include "cli/views/table.h"
#include "kube/config.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace codeflare::cli {

Session::Session(Env env, Console& console, net::HttpService& service, Parts parts)
    : env_(env),
      console_(console),
      service_(service),
      waiting_(console),
      patience_(parts.patience),
      warnings_(env.clock, LogLevel::warn,
                [this](const LogRecord& record) {
                  for (const LogField& field : record.fields) {
                    this->console().err("warning: " + one_line(field.value.to_string()) + "\n");
                  }
                }),
      // How often is asked within the patience is the server's choice.
      client_(env, service,
              {.default_namespace = parts.ns,
               .attempts_max = std::numeric_limits<int>::max(),
               .request_timeout = parts.patience,
               .before_repeat = [this](const kube::Repeat& repeat) { return may_wait(repeat); },
               .logger = &warnings_}),
      discovery_(client_),
      ns_(std::move(parts.ns)),
      ns_given_(parts.ns_given),
      output_(parts.output) {}

Result<std::unique_ptr<Session>> Session::open(Env env, Console& console,
                                               const SessionFlags& flags) {
  TRY_ASSIGN(kube::Config config, kube::load_config(env, {.explicit_path = flags.kubeconfig,
                                                          .context = flags.context,
                                                          .ns = flags.ns}));
  for (const std::string& warning : config.warnings) {
    console.err("warning: " + warning + "\n");
  }
  const std::string ns = config.ns;
  const std::string server = "the server " + config.server + " (" + config.source + ")";
  TRY_ASSIGN(
      std::unique_ptr<kube::Connection> connection,
      kube::connect(env, std::move(config), {.stdin_is_terminal = console.in_is_terminal()}));
  TRY_ASSIGN(std::unique_ptr<Session> session,
             over(env, console, connection->service(), ns, flags));
  session->connection_ = std::move(connection);
  session->server_ = server;
  return session;
}

Result<std::unique_ptr<Session>> Session::over(Env env, Console& console, net::HttpService& service,
                                               std::string ns, const SessionFlags& flags) {
  TRY_ASSIGN(const Output output, parse_output(flags.output));
  return std::unique_ptr<Session>(
      new Session(env, console, service,
                  {.ns = flags.ns.empty() ? std::move(ns) : flags.ns,
                   .ns_given = !flags.ns.empty(),
                   .output = output,
                   .patience = flags.timeout > Duration::zero() ? flags.timeout : kPatience}));
}

bool Session::may_wait(const kube::Repeat& repeat) {
  // Waits of requests that are under way together count once.
  const Instant now = env_.clock.now();
  const Instant end = after(now, repeat.wait);
  const Duration more = end <= waits_until_ ? Duration::zero() : end - std::max(now, waits_until_);
  if (waited_ + more > patience_) {
    return false;
  }
  if (waited_ == Duration::zero()) {
    first_until_ = end;
  }
  const bool first = now < first_until_;
  const Duration left = patience_ - waited_;
  waited_ += more;
  waits_until_ = std::max(end, waits_until_);
  // Servers that ask once and then do it are usual, and connections are mended in a moment.
  if (first || !repeat.error.retry_after) {
    return true;
  }
  const std::string why = "the server asks to retry later: " + repeat.error.message + " (" +
                          repeat.request + "); retrying for up to ";
  if (console_.err_is_terminal()) {
    waiting_.show(why + human_duration(left) + " more");
  } else if (std::exchange(told_, why) != why) {
    console_.err(one_line(why + human_duration(left) + " more") + "\n");
  }
  return true;
}

}  // namespace codeflare::cli
