#include "node/agent/probe_check.h"

#include "base/async/sleep.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace codeflare::node {

namespace {

using Kind = ProbeOutcome::Kind;

constexpr int kFirstGood = 200;
constexpr int kFirstRedirect = 300;
constexpr int kFirstError = 400;
constexpr std::int32_t kPortMax = 65535;
constexpr const char* kNoExec = "programs cannot be run in containers of this node; taken as done";

ProbeOutcome failed(const Error& error, const std::string& what) {
  if (error.code == ErrorCode::cancelled) {
    return {.kind = Kind::lost};
  }
  return {.kind = Kind::failure, .text = what.empty() ? error.message : what + error.message};
}

// The given host as the pod sees it: its loopback is its own, and it gets no further than the pod.
Result<ProbeUrl> place_of(const ProbeTarget& target, const std::string& host,
                          const model::IntOrString& port) {
  ProbeUrl url{.host = host.empty() ? target.address : host};
  TRY_ASSIGN(url.port, resolve_port(port, target.container));
  if (target.own_network) {
    url.network = host.empty() ? std::string() : target.uid;
    if (host == "localhost") {
      url.host = "127.0.0.1";
    }
  }
  return url;
}

Result<ProbeUrl> url_of(const ProbeTarget& target, const model::HttpGetAction& action) {
  TRY_ASSIGN(ProbeUrl url, place_of(target, action.host, action.port));
  url.tls = action.scheme == "HTTPS";
  url.target = action.path.starts_with('/') ? action.path : "/" + action.path;
  return url;
}

std::string to_text(const ProbeUrl& url) {
  const bool v6 = url.host.find(':') != std::string::npos;
  return std::string(url.tls ? "https://" : "http://") + (v6 ? "[" + url.host + "]" : url.host) +
         ":" + std::to_string(url.port) + url.target;
}

net::Headers headers_of(const model::HttpGetAction& action) {
  net::Headers headers;
  for (const model::HttpHeader& header : action.http_headers) {
    headers.add(header.name, header.value);
  }
  return headers;
}

}  // namespace

Result<std::uint16_t> resolve_port(const model::IntOrString& port,
                                   const model::Container& container) {
  std::int32_t number = port.number;
  if (port.is_text) {
    const char* end = port.text.data() + port.text.size();
    const auto [stop, error] = std::from_chars(port.text.data(), end, number);
    if (error != std::errc() || stop != end) {
      const auto named = std::ranges::find(container.ports, port.text, &model::ContainerPort::name);
      if (named == container.ports.end()) {
        return fail(not_found("container " + container.name + " has no port named " + port.text));
      }
      number = named->container_port;
    }
  }
  if (number < 1 || number > kPortMax) {
    return fail(invalid_argument("invalid port number: " + std::to_string(number)));
  }
  return static_cast<std::uint16_t>(number);
}

Task<ProbeOutcome> ProbeCheck::run_exec(ProbeTarget target, std::vector<std::string> command,
                                        Duration timeout) {
  if (exec_ == nullptr) {
    co_return ProbeOutcome{.kind = Kind::success, .text = kNoExec, .warning = true};
  }
  const std::string name = command.empty() ? "" : command.front();
  ExecCommand wanted{.uid = std::move(target.uid),
                     .container = target.container.name,
                     .command = std::move(command)};
  const Result<ExecOutcome> ended =
      co_await with_timeout(timeout, "command \"" + name + "\"", exec_->run(std::move(wanted)));
  if (!ended && ended.error().code == ErrorCode::unavailable) {
    co_return ProbeOutcome{.kind = Kind::lost};  // the container has ended: reported elsewhere
  }
  if (!ended) {
    co_return failed(ended.error(), "");
  }
  if (ended->exit_code != 0) {
    co_return ProbeOutcome{.kind = Kind::failure, .text = ended->output};
  }
  co_return ProbeOutcome{};
}

Task<ProbeOutcome> ProbeCheck::run_get(ProbeTarget target, model::HttpGetAction action,
                                       Duration timeout) {
  const Result<ProbeUrl> url = url_of(target, action);
  if (!url) {
    co_return failed(url.error(), "");
  }
  const std::string what = "Get \"" + to_text(*url) + "\": ";
  const Result<int> status =
      co_await with_timeout(timeout, "the answer", network_.get(*url, headers_of(action)));
  if (!status) {
    co_return failed(status.error(), what);
  }
  if (*status < kFirstGood || *status >= kFirstError) {
    co_return ProbeOutcome{.kind = Kind::failure,
                           .text = "HTTP probe failed with statuscode: " + std::to_string(*status)};
  }
  if (*status >= kFirstRedirect) {
    co_return ProbeOutcome{
        .kind = Kind::success, .text = "Probe terminated redirects", .warning = true};
  }
  co_return ProbeOutcome{};
}

Task<ProbeOutcome> ProbeCheck::run_connect(Result<ProbeUrl> url, Duration timeout) {
  if (!url) {
    co_return failed(url.error(), "");
  }
  const std::string what = "dial tcp " + url->host + ":" + std::to_string(url->port) + ": ";
  const Result<void> connected =
      co_await with_timeout(timeout, "the connection", network_.connect(*std::move(url)));
  co_return connected ? ProbeOutcome{} : failed(connected.error(), what);
}

Task<ProbeOutcome> ProbeCheck::run(ProbeTarget target, model::Probe probe) {
  const Duration timeout = times_of(probe).timeout;
  if (probe.exec) {
    std::vector<std::string> command = std::move(probe.exec->command);
    co_return co_await run_exec(std::move(target), std::move(command), timeout);
  }
  if (probe.http_get) {
    co_return co_await run_get(std::move(target), *std::move(probe.http_get), timeout);
  }
  if (probe.tcp_socket) {
    Result<ProbeUrl> url = place_of(target, probe.tcp_socket->host, probe.tcp_socket->port);
    co_return co_await run_connect(std::move(url), timeout);
  }
  if (probe.grpc) {
    // Of the health service only this much is asked: that somebody accepts.
    Result<ProbeUrl> url = place_of(target, "", model::IntOrString::of(probe.grpc->port));
    co_return co_await run_connect(std::move(url), timeout);
  }
  co_return ProbeOutcome{.kind = Kind::failure, .text = "missing probe handler"};
}

Task<Result<void>> ProbeCheck::run_hook(ProbeTarget target, model::LifecycleHandler hook) {
  if (hook.sleep) {
    co_return co_await sleep_for(
        std::chrono::seconds(std::max<std::int64_t>(hook.sleep->seconds, 0)));
  }
  if (hook.exec) {
    if (exec_ == nullptr) {
      co_return fail(unsupported(kNoExec));
    }
    ExecCommand wanted{.uid = std::move(target.uid),
                       .container = target.container.name,
                       .command = std::move(hook.exec->command)};
    CO_TRY_ASSIGN(const ExecOutcome ended, co_await exec_->run(std::move(wanted)));
    if (ended.exit_code != 0) {
      co_return fail(failed_precondition("command ended with " + std::to_string(ended.exit_code)));
    }
    co_return Result<void>();
  }
  if (hook.http_get) {
    CO_TRY_ASSIGN(ProbeUrl url, url_of(target, *hook.http_get));
    net::Headers headers = headers_of(*hook.http_get);
    // Any answer will do: the hook has been called.
    CO_TRY(co_await network_.get(std::move(url), std::move(headers)));
    co_return Result<void>();
  }
  // tcpSocket was never acted upon, by any kubelet.
  co_return Result<void>();
}

}  // namespace codeflare::node
