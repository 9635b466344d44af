#include "cli/session/session.h"

#include "base/async/sleep.h"
#include "base/human_duration.h"
#include "cli/views/table.h"
#include "kube/config.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace codeflare::cli {

// Passes requests on and notices a server that does not accept the credentials.
class internal::Listening final : public net::HttpService {
 public:
  explicit Listening(net::HttpService& target) : target_(target) {}
  Task<Result<net::Response>> send(net::Request request) override {
    Result<net::Response> answer = co_await target_.send(std::move(request));
    rejected = rejected || (answer && answer->status == 401);
    co_return answer;
  }
  bool rejected = false;

 private:
  net::HttpService& target_;
};

namespace {

// Leaves out notes: texts on standard error that are neither results nor errors.
class QuietConsole final : public Console {
 public:
  explicit QuietConsole(Console& console) : console_(console) {}
  void out(std::string_view text) override { console_.out(text); }
  void err(std::string_view text) override {
    if (!text.starts_with("note: ")) {
      console_.err(text);
    }
  }
  Result<std::string> read_input(std::size_t bytes_max) override {
    return console_.read_input(bytes_max);
  }
  Result<std::string> ask(std::string_view question, bool hidden) override {
    return console_.ask(question, hidden);
  }
  bool out_is_terminal() const override { return console_.out_is_terminal(); }
  // Progress draws on terminals alone.
  bool err_is_terminal() const override { return false; }
  bool in_is_terminal() const override { return console_.in_is_terminal(); }
  std::size_t err_columns() const override { return console_.err_columns(); }

 private:
  Console& console_;
};

}  // namespace

Session::~Session() = default;

bool Session::rejected() const {
  return listening_ != nullptr && listening_->rejected;
}

Session::Session(Env env, Console& console, net::HttpService& service, Parts parts)
    : env_(env),
      quiet_console_(parts.quiet ? std::make_unique<QuietConsole>(console) : nullptr),
      console_(parts.quiet ? *quiet_console_ : console),
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
  auto listening = std::make_unique<internal::Listening>(connection->service());
  TRY_ASSIGN(std::unique_ptr<Session> session, over(env, console, *listening, ns, flags));
  session->connection_ = std::move(connection);
  session->listening_ = std::move(listening);
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
                   .patience = flags.timeout > Duration::zero() ? flags.timeout : kPatience,
                   .quiet = flags.quiet}));
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
  if (first || quiet() || !repeat.error.retry_after) {
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
