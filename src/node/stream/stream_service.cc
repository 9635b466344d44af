#include "node/stream/stream_service.h"

#include "base/async/sleep.h"
#include "net/websocket.h"
#include "node/stream/container_choice.h"
#include "node/stream/port_forward.h"
#include "node/stream/websocket_command.h"

#include <algorithm>
#include <array>
#include <utility>

namespace codeflare::node {

namespace {

constexpr const char* kStreamVersion = "X-Stream-Protocol-Version";
constexpr const char* kSpdy = "SPDY/3.1";
constexpr const char* kTunnel = "SPDY/3.1+portforward.k8s.io";
constexpr const char* kPortForward = "portforward.k8s.io";

bool asks_for_spdy(const net::Headers& headers) {
  const auto has = [&](std::string_view name, std::string_view word) {
    return std::ranges::any_of(net::header_words(headers, name), [&](const std::string& each) {
      return net::equal_ignoring_case(each, word);
    });
  };
  return has("Connection", "upgrade") && has("Upgrade", kSpdy);
}

Error no_upgrade() {
  return invalid_argument("unable to upgrade: missing upgrade headers in request");
}

Error no_common_protocol(const std::vector<std::string>& offered) {
  std::string list;
  for (const std::string& protocol : offered) {
    list += (list.empty() ? "" : ", ") + protocol;
  }
  return invalid_argument("unable to upgrade: none of the protocols [" + list + "] is served");
}

net::Response spdy_response(std::string_view protocol) {
  net::Response response{.status = 101};
  response.headers.add("Upgrade", kSpdy);
  if (!protocol.empty()) {
    response.headers.add(kStreamVersion, std::string(protocol));
  }
  return response;
}

Task<void> command_over_websocket(net::ByteStream& connection, ChannelDialect dialect,
                                  CommandRun run) {
  WebSocketCommand client(connection, dialect, run.streams);
  co_await serve_command(client, std::move(run));
}

Task<void> command_over_spdy(net::ByteStream& connection, SpdyDialect dialect, CommandRun run) {
  SpdyCommand client(connection, dialect, run.streams);
  co_await serve_command(client, std::move(run));
}

Result<void> check_streams(CommandStreams& streams) {
  if (streams.terminal) {
    streams.error_output = false;  // there is one output
  }
  if (!streams.input && !streams.output && !streams.error_output) {
    return fail(invalid_argument("you must specify at least 1 of stdin, stdout, stderr"));
  }
  return {};
}

}  // namespace

struct StreamService::CountedSession {
  explicit CountedSession(StreamService& service_in) : service(service_in) { ++service.sessions_; }
  ~CountedSession() {
    if (--service.sessions_ == 0) {
      service.idle_.notify_all();
    }
  }
  CountedSession(const CountedSession&) = delete;
  CountedSession& operator=(const CountedSession&) = delete;
  StreamService& service;
};

Task<void> StreamService::run_session(net::Takeover takeover, net::ByteStream& connection) {
  co_await with_stop(stopping_.token(), takeover(connection));
}

net::Body StreamService::session(net::Takeover takeover) {
  net::Takeover counted = [this, counted_session = std::make_shared<const CountedSession>(*this),
                           takeover = std::move(takeover)](net::ByteStream& connection) {
    return run_session(takeover, connection);
  };
  return std::make_unique<net::Upgrade>(std::move(counted));
}

Task<void> StreamService::close() {
  stopping_.request_stop();
  while (sessions_ > 0) {
    co_await idle_.wait_uncancellable();
  }
}

Result<std::string> StreamService::running_container(const model::Pod& pod,
                                                     const std::string& asked) const {
  TRY_ASSIGN(std::string container, choose_container(pod, asked));
  const SandboxView* view = pods_.find(pod.metadata.uid);
  const RunRecord* run = view == nullptr || !view->alive ? nullptr : view->state.last(container);
  if (run == nullptr || !run->running()) {
    return fail(invalid_argument("unable to upgrade connection: container not found (\"" +
                                 container + "\")"));
  }
  if (sessions_ >= kSessionsMax) {
    return fail(resource_exhausted("too many connections into pods"));
  }
  return container;
}

Result<net::Response> StreamService::upgrade_command(const net::Request& request, CommandRun run) {
  if (net::asks_for_websocket(request.headers)) {
    TRY_ASSIGN(const std::vector<std::string> offered, net::websocket_protocols(request));
    const std::optional<ChannelDialect> dialect = command_dialect(offered);
    if (!dialect) {
      return fail(no_common_protocol(offered));
    }
    net::Response response = net::websocket_response(request, dialect->protocol);
    response.body =
        session([dialect = *dialect, run = std::move(run)](net::ByteStream& connection) {
          return command_over_websocket(connection, dialect, run);
        });
    return response;
  }
  if (!asks_for_spdy(request.headers)) {
    return fail(no_upgrade());
  }
  const std::vector<std::string> offered = net::header_words(request.headers, kStreamVersion);
  const std::optional<SpdyDialect> dialect = spdy_dialect(offered);
  if (!dialect) {
    return fail(no_common_protocol(offered));
  }
  net::Response response = spdy_response(dialect->protocol);
  response.body = session([dialect = *dialect, run = std::move(run)](net::ByteStream& connection) {
    return command_over_spdy(connection, dialect, run);
  });
  return response;
}

Result<net::Response> StreamService::exec(const model::Pod& pod, CommandRequest wanted,
                                          const net::Request& request) {
  TRY(check_streams(wanted.streams));
  if (wanted.command.empty()) {
    return fail(invalid_argument("you must specify at least one command for the container"));
  }
  TRY_ASSIGN(std::string container, running_container(pod, wanted.container));
  ExecOptions options{.container = std::move(container),
                      .command = std::move(wanted.command),
                      .input = wanted.streams.input,
                      .terminal = wanted.streams.terminal};
  StartProcess start = [&streams = streams_, uid = pod.metadata.uid, options] {
    return streams.exec(uid, options);
  };
  return upgrade_command(request, {.start = std::move(start),
                                   .streams = wanted.streams,
                                   .what = "error executing command in container"});
}

Result<net::Response> StreamService::attach(const model::Pod& pod, CommandRequest wanted,
                                            const net::Request& request) {
  TRY(check_streams(wanted.streams));
  TRY_ASSIGN(std::string container, running_container(pod, wanted.container));
  StartProcess start = [&streams = streams_, uid = pod.metadata.uid, container] {
    return streams.attach(uid, container);
  };
  return upgrade_command(request, {.start = std::move(start),
                                   .streams = wanted.streams,
                                   .what = "error attaching to container",
                                   .attached = true});
}

Result<net::Response> StreamService::port_forward(const model::Pod& pod,
                                                  const std::vector<std::string>& ports,
                                                  const net::Request& request) {
  const SandboxView* view = pods_.find(pod.metadata.uid);
  if (view == nullptr || !view->alive) {
    return fail(invalid_argument("unable to upgrade connection: pod " + pod.metadata.name +
                                 " is not running"));
  }
  if (sessions_ >= kSessionsMax) {
    return fail(resource_exhausted("too many connections into pods"));
  }
  const PortForwardTarget target{
      .pods = streams_, .name = pod.metadata.name, .uid = pod.metadata.uid};
  if (net::asks_for_websocket(request.headers)) {
    TRY_ASSIGN(const std::vector<std::string> offered, net::websocket_protocols(request));
    if (std::ranges::find(offered, kTunnel) != offered.end()) {
      net::Response response = net::websocket_response(request, kTunnel);
      response.body = session([target](net::ByteStream& connection) {
        return forward_over_tunnel(connection, target);
      });
      return response;
    }
    const std::optional<ChannelDialect> dialect = port_forward_dialect(offered);
    if (!dialect) {
      return fail(no_common_protocol(offered));
    }
    TRY_ASSIGN(const std::vector<std::uint16_t> numbers, parse_ports(ports));
    net::Response response = net::websocket_response(request, dialect->protocol);
    response.body = session([target, dialect = *dialect, numbers](net::ByteStream& connection) {
      return forward_over_channels(connection, dialect, target, numbers);
    });
    return response;
  }
  if (!asks_for_spdy(request.headers)) {
    return fail(no_upgrade());
  }
  const std::vector<std::string> offered = net::header_words(request.headers, kStreamVersion);
  if (!offered.empty() && std::ranges::find(offered, kPortForward) == offered.end()) {
    return fail(no_common_protocol(offered));
  }
  net::Response response = spdy_response(offered.empty() ? "" : kPortForward);
  response.body = session(
      [target](net::ByteStream& connection) { return forward_over_spdy(connection, target); });
  return response;
}

}  // namespace codeflare::node
