#pragma once

#include "base/async/stop_token.h"
#include "base/env/env.h"
#include "net/http.h"
#include "net/internal/body_reader.h"
#include "net/internal/fan_out.h"
#include "net/internal/http1.h"
#include "net/internal/input_buffer.h"
#include "net/internal/real_stream.h"
#include "net/internal/watchdog.h"
#include "net/server.h"
#include "net/upgrade.h"

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

namespace codeflare::net::internal {

// Bytes are read into this one buffer and copied out at once, so connections need none of their
// own.
using ReadBuffer = std::array<char, 64u << 10>;

// State that all connections of a server share.
struct ServerShared {
  Env env;
  HttpService& service;
  ServerOptions options;
  bool draining = false;
  bool crowded = false;  // somebody waits for a connection to end
  ReadBuffer buffer{};
  FanOut fan_out{env.loop};
};

class RequestBody;

// One accepted connection: request after request, until either side closes. Shared with the body of
// the request under way, which a handler may keep for longer.
class ServerConnection final : public std::enable_shared_from_this<ServerConnection> {
 public:
  ServerConnection(ServerShared& shared, Stream stream);
  ServerConnection(const ServerConnection&) = delete;
  ServerConnection& operator=(const ServerConnection&) = delete;

  Task<void> run();
  // Ends the connection if no request is under way.
  void end_if_idle();
  // Since when no request has been under way; nothing while one is.
  std::optional<Instant> idle_since() const { return idle_since_; }
  bool has_served() const { return has_served_; }
  // Since when the client has owed the rest of its handshake, head or body, however it trickles;
  // nothing while it owes none.
  std::optional<Instant> owed_since() const {
    return owing_ ? std::optional(owing_since_) : std::nullopt;
  }
  // As if the time for it were over.
  void give_up_if_owed();

 private:
  friend class RequestBody;

  Task<bool> handshake();
  // Nothing: the connection is over (an answer, if one is due, has been sent).
  Task<std::optional<RequestHead>> read_head();
  Task<Result<void>> read_more();
  // True when another request may follow.
  Task<bool> serve(RequestHead head);
  Task<bool> respond(const RequestHead& head, Response response);
  // After the head the connection is the service's, until it is done.
  Task<bool> hand_over(Response response, const Takeover& takeover);
  // Reads past what the handler left of the request's body.
  Task<bool> skip_body();
  Task<void> answer_problem(WireError problem);
  // Lets the client read what was sent before the connection closes under its unread input.
  Task<void> linger();

  void watch_peer();
  void on_peer_readable();
  void on_expiry();
  void lose_peer();
  void detach_body();
  std::string date() const;

  ServerShared& shared_;
  Stream stream_;
  InputBuffer input_;
  std::shared_ptr<const Peer> peer_;
  Watchdog watchdog_;
  StopSource* exchange_stop_ = nullptr;  // of the request under way
  RequestBody* body_ = nullptr;          // of the request under way, while its handler keeps it
  BodyReader body_reader_;
  std::optional<Instant> idle_since_;
  Instant owing_since_{};
  bool owing_ = false;
  bool has_served_ = false;  // a request, at least
  bool timed_out_ = false;
  bool peer_gone_ = false;
  bool body_stalled_ = false;
  bool continue_due_ = false;  // the client waits for "100 Continue"
  bool unread_input_ = false;
  std::optional<std::uint64_t> stall_mark_;  // bytes written when the stall timer was set
};

}  // namespace codeflare::net::internal
