#include "net/internal/server_connection.h"

#include "net/cut_body.h"
#include "net/internal/body_writer.h"
#include "net/internal/real_tls.h"
#include "net/internal/upgraded_connection.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <utility>

namespace codeflare::net::internal {

namespace {

constexpr std::size_t kReadAheadMax = 64u << 10;
constexpr std::size_t kSkipBytesMax = 256u << 10;
constexpr std::size_t kLingerBytesMax = 4u << 20;
constexpr Duration kLingerTime = std::chrono::seconds(2);

int status_of(const Error& error) {
  switch (error.code) {
    case ErrorCode::invalid_argument:
      return 400;
    case ErrorCode::unavailable:
      return 503;
    case ErrorCode::deadline_exceeded:
      return 504;
    case ErrorCode::too_large:
      return 413;
    default:
      return 500;
  }
}

// Path and query of a target in absolute form, which servers must accept; nothing when the target
// has a form that only proxies serve.
std::optional<std::string> origin_form(const std::string& method, const std::string& target) {
  if (target.starts_with('/') || (target == "*" && method == "OPTIONS")) {
    return target;
  }
  for (std::string_view scheme : {"http://", "https://"}) {
    if (target.starts_with(scheme)) {
      std::size_t path = target.find_first_of("/?", scheme.size());
      if (path == std::string::npos) {
        return "/";
      }
      return target[path] == '/' ? target.substr(path) : "/" + target.substr(path);
    }
  }
  return std::nullopt;
}

}  // namespace

// The body of the request under way, read from the connection. A handler may keep it longer than
// the request lives; then it only fails.
class RequestBody final : public BodyStream {
 public:
  explicit RequestBody(std::shared_ptr<ServerConnection> connection)
      : connection_(std::move(connection)) {
    connection_->body_ = this;
  }
  ~RequestBody() override {
    if (connection_ != nullptr) {
      connection_->body_ = nullptr;
    }
  }
  void detach() { connection_ = nullptr; }

  Task<Result<Bytes>> read() override {
    // Held, because the request may end while this waits.
    std::shared_ptr<ServerConnection> held = connection_;
    for (;;) {
      if (connection_ == nullptr) {
        co_return fail(unavailable("the request is over"));
      }
      ServerConnection& connection = *held;
      CO_TRY_ASSIGN(std::optional<Bytes> piece, take());
      if (piece) {
        co_return *std::move(piece);
      }
      if (connection.body_reader_.done()) {
        co_return Bytes();
      }
      if (std::exchange(connection.continue_due_, false)) {
        CO_TRY(co_await connection.stream_.write("HTTP/1.1 100 Continue\r\n\r\n"));
        continue;
      }
      Result<void> more = co_await connection.read_more();
      if (connection_ == nullptr) {
        continue;
      }
      connection.watch_peer();
      if (!more) {
        co_return fail(more.error().with_context("request body"));
      }
    }
  }

  std::optional<Bytes> ready() override {
    if (connection_ == nullptr) {
      return std::nullopt;
    }
    Result<std::optional<Bytes>> piece = take();
    if (!piece) {
      return std::nullopt;
    }
    if (!*piece && connection_->body_reader_.done()) {
      return Bytes();
    }
    return *piece;
  }

 private:
  Result<std::optional<Bytes>> take() {
    if (!broken_.empty()) {
      return fail(invalid_argument("request body: " + broken_));
    }
    Wire<std::optional<Bytes>> piece = connection_->body_reader_.take(connection_->input_);
    if (!piece) {
      broken_ = piece.error().what;
      return fail(invalid_argument("request body: " + broken_));
    }
    std::optional<std::uint64_t> limit = connection_->shared_.options.body_bytes_max;
    if (limit && connection_->body_reader_.taken() > *limit) {
      return fail(too_large("request body exceeds " + std::to_string(*limit) + " bytes"));
    }
    return *std::move(piece);
  }

  std::shared_ptr<ServerConnection> connection_;
  std::string broken_;
};

ServerConnection::ServerConnection(ServerShared& shared, Stream stream)
    : shared_(shared),
      stream_(std::move(stream)),
      watchdog_(shared.env.loop, [this] { on_expiry(); }) {}

// Wakes a reader of the body, which fails; the socket is the connection's again.
void ServerConnection::detach_body() {
  if (body_ != nullptr) {
    std::exchange(body_, nullptr)->detach();
    stream_.socket().interrupt();
    stream_.socket().resume_waits();
  }
}

void ServerConnection::lose_peer() {
  peer_gone_ = true;
  if (exchange_stop_ != nullptr) {
    exchange_stop_->request_stop();
  }
}

void ServerConnection::end_if_idle() {
  if (idle_since_ && input_.empty()) {
    stream_.socket().interrupt();
  }
}

void ServerConnection::give_up_if_owed() {
  if (owing_) {
    on_expiry();
  }
}

void ServerConnection::on_expiry() {
  if (stall_mark_ && *stall_mark_ != stream_.bytes_written()) {
    stall_mark_ = stream_.bytes_written();
    watchdog_.set(shared_.options.stall_timeout);
    return;
  }
  timed_out_ = true;
  stream_.socket().interrupt();
}

Task<void> ServerConnection::run() {
  if (!co_await handshake()) {
    co_return;
  }
  for (;;) {
    std::optional<RequestHead> head = co_await read_head();
    if (!head) {
      break;
    }
    bool more = co_await serve(*std::move(head));
    detach_body();
    if (!more || !co_await skip_body()) {
      break;
    }
  }
  if (!peer_gone_) {
    stream_.finish_writing();
    if (unread_input_ && !shared_.crowded) {
      co_await linger();
    }
  }
  watchdog_.clear();
  stream_.socket().close();
}

Task<bool> ServerConnection::handshake() {
  auto peer = std::make_shared<Peer>();
  peer->address = stream_.socket().remote().to_string();
  if (TlsSession* tls = stream_.tls()) {
    watchdog_.set(shared_.options.header_timeout);
    owing_since_ = shared_.env.loop.now();
    owing_ = true;
    const Result<void> shaken = co_await tls->handshake(stream_.socket());
    owing_ = false;
    if (!shaken) {
      co_return false;
    }
    watchdog_.clear();
    peer->certificate = tls->verified_certificate();
    peer->foreign_certificate = tls->foreign_certificate();
  }
  peer_ = std::move(peer);
  co_return true;
}

// Appends what arrives to the input; fails when nothing more will.
Task<Result<void>> ServerConnection::read_more() {
  watchdog_.set(shared_.options.stall_timeout);
  owing_ = true;
  Result<std::size_t> count = co_await stream_.read(shared_.buffer);
  owing_ = false;
  watchdog_.clear();
  if (std::exchange(timed_out_, false)) {
    // An answer can still be sent.
    stream_.socket().resume_waits();
    body_stalled_ = true;
    co_return fail(deadline_exceeded("the client sent nothing more"));
  }
  if (!count) {
    co_return fail(count.error());
  }
  if (*count == 0) {
    lose_peer();
    co_return fail(unavailable("the client closed the connection"));
  }
  input_.append({shared_.buffer.data(), *count});
  co_return Result<void>();
}

Task<std::optional<RequestHead>> ServerConnection::read_head() {
  HeadScanner scanner(shared_.options.header_bytes_max);
  bool started = false;
  for (;;) {
    Wire<std::optional<std::size_t>> size = scanner.scan(input_.view());
    if (!size) {
      co_await answer_problem(size.error());
      co_return std::nullopt;
    }
    if (*size) {
      Wire<RequestHead> head = parse_request_head(input_.view().substr(0, **size));
      input_.consume(**size);
      if (!head) {
        co_await answer_problem(head.error());
        co_return std::nullopt;
      }
      co_return *std::move(head);
    }
    const bool idle = input_.empty();
    if (idle && (shared_.draining || (shared_.crowded && has_served_))) {
      co_return std::nullopt;
    }
    if (idle) {
      idle_since_ = shared_.env.loop.now();
      watchdog_.set(shared_.options.idle_timeout);
      if (!stream_.holds_input()) {
        // Nothing can be there yet: waiting first saves an attempt. A failed wait fails again
        // below.
        static_cast<void>(co_await stream_.socket().readable());
      }
    } else if (!std::exchange(started, true)) {
      // The whole head has to arrive within this time, however it trickles.
      watchdog_.set(shared_.options.header_timeout);
      owing_since_ = shared_.env.loop.now();
    }
    owing_ = !idle;
    Result<std::size_t> count = co_await stream_.read(shared_.buffer);
    owing_ = false;
    idle_since_.reset();
    if (!count || *count == 0) {
      if (timed_out_ && !input_.empty()) {
        stream_.socket().resume_waits();
        timed_out_ = false;
        co_await answer_problem({408, "the request took too long to arrive"});
      }
      peer_gone_ = count.has_value();
      co_return std::nullopt;
    }
    input_.append({shared_.buffer.data(), *count});
  }
}

Task<bool> ServerConnection::serve(RequestHead head) {
  watchdog_.clear();
  has_served_ = true;
  std::optional<std::string> target = origin_form(head.method, head.target);
  if (!target) {
    co_await answer_problem({400, "the target is not a path"});
    co_return false;
  }
  std::optional<std::uint64_t> limit = shared_.options.body_bytes_max;
  if (limit && head.framing.size > *limit) {
    co_await answer_problem({413, "the body exceeds " + std::to_string(*limit) + " bytes"});
    co_return false;
  }
  Request request;
  request.method = head.method;
  request.target = *std::move(target);
  request.headers = std::move(head.headers);
  request.peer = peer_;
  body_reader_ = BodyReader(head.framing);
  owing_since_ = shared_.env.loop.now();
  continue_due_ = head.expects_continue && input_.empty();
  if (head.framing.kind != Framing::Kind::none) {
    request.body = std::make_unique<RequestBody>(shared_from_this());
    if (head.framing.kind == Framing::Kind::sized) {
      request.body_size = head.framing.size;
    }
  }
  const TaskContext& outer = co_await current_context();
  StopSource stop(outer.stop);
  TaskContext inner{outer.loop, stop.token()};
  exchange_stop_ = &stop;
  watch_peer();
  Result<Response> response = co_await shared_.service.send(std::move(request)).under(inner);
  bool more = false;
  if (!peer_gone_ && !outer.stop.stop_requested()) {
    if (!response) {
      int status = body_stalled_ ? 408 : status_of(response.error());
      response = make_response(status, "text/plain; charset=utf-8",
                               Bytes::from(response.error().message + "\n"));
    }
    more = co_await respond(head, *std::move(response)).under(inner);
  }
  stream_.socket().unwatch();
  exchange_stop_ = nullptr;
  co_return more && !peer_gone_;
}

Task<bool> ServerConnection::respond(const RequestHead& head, Response response) {
  if (const auto* upgrade = dynamic_cast<const Upgrade*>(response.body.get());
      upgrade != nullptr && response.status == 101) {
    co_return co_await hand_over(std::move(response), upgrade->takeover());
  }
  // A body that the handler did not read would have to be read past; small rests are here already.
  while (!body_reader_.done() && !input_.empty() && body_ == nullptr) {
    if (!body_reader_.take(input_)) {
      break;
    }
  }
  bool skippable =
      body_reader_.done() || (head.framing.kind == Framing::Kind::sized && !continue_due_ &&
                              head.framing.size - body_reader_.taken() <= kSkipBytesMax);
  // The rest of one that stopped coming is not waited for once more.
  bool keep_alive = head.keep_alive && skippable && !body_stalled_ && !shared_.draining;
  unread_input_ |= !body_reader_.done();
  // Too late to invite the body: the answer is on its way.
  continue_due_ = false;
  bool no_body = head.method == "HEAD" || response.status < 200 || response.status == 204 ||
                 response.status == 304;
  Framing framing;
  if (response.status >= 200 && response.status != 204 && response.status != 304) {
    if (response.body_size || response.body == nullptr) {
      framing = {Framing::Kind::sized, response.body_size.value_or(0)};
    } else if (!head.http_1_0) {
      framing.kind = Framing::Kind::chunked;
    } else {
      framing.kind = Framing::Kind::until_close;
      keep_alive = false;
    }
  }
  if (!response.headers.has("Date")) {
    response.headers.add("Date", date());
  }
  std::string start;
  if (!write_response_head(start, response, framing, keep_alive)) {
    Response broken = make_response(500, "text/plain", Bytes::from("the answer cannot be sent\n"));
    framing = {Framing::Kind::sized, *broken.body_size};
    response = std::move(broken);
    start.clear();
    keep_alive = false;
    static_cast<void>(write_response_head(start, response, framing, keep_alive));
  }
  if (no_body) {
    response.body = nullptr;
    framing = {};
  }
  stall_mark_ = stream_.bytes_written();
  const auto* cut_body = dynamic_cast<const CutBody*>(response.body.get());
  // By a reset: what the client has not taken is not kept for it any longer.
  StopCallback cut(cut_body == nullptr ? StopToken() : cut_body->cut(), [this] {
    stream_.socket().reset_on_close();
    stream_.socket().interrupt();
  });
  Result<void> sent = co_await write_message(
      stream_,
      {.start = std::move(start),
       .body = response.body.get(),
       .framing = framing,
       .fan_out = &shared_.fan_out},
      [this] { watchdog_.set(shared_.options.stall_timeout); }, [this] { watchdog_.clear(); });
  watchdog_.clear();
  stall_mark_.reset();
  // The source of the body stops before the next request is read.
  response.body = nullptr;
  co_return sent&& keep_alive;
}

Task<bool> ServerConnection::hand_over(Response response, const Takeover& takeover) {
  std::string start;
  if (!write_response_head(start, response, {}, true)) {
    co_await answer_problem({500, "the answer cannot be sent"});
    co_return false;
  }
  // From here on whoever takes over reads what the client sends.
  stream_.socket().unwatch();
  watchdog_.set(shared_.options.header_timeout);
  const Result<void> sent = co_await stream_.write(start);
  watchdog_.clear();
  if (sent) {
    UpgradedConnection connection(stream_, input_, shared_.buffer,
                                  [this] { watchdog_.set(shared_.options.upgraded_idle_timeout); });
    co_await takeover(connection);
    watchdog_.clear();
  }
  unread_input_ = true;
  co_return false;
}

Task<bool> ServerConnection::skip_body() {
  // For the whole rest: drop by drop it could take indefinitely.
  watchdog_.set(shared_.options.header_timeout);
  while (!body_reader_.done()) {
    if (!body_reader_.take(input_)) {
      co_return false;
    }
    if (body_reader_.done() || !input_.empty()) {
      continue;
    }
    owing_ = true;
    Result<std::size_t> count = co_await stream_.read(shared_.buffer);
    owing_ = false;
    if (!count || *count == 0) {
      peer_gone_ = count.has_value();
      co_return false;
    }
    input_.append({shared_.buffer.data(), *count});
  }
  watchdog_.clear();
  unread_input_ = false;
  co_return true;
}

Task<void> ServerConnection::answer_problem(WireError problem) {
  Response response =
      make_response(problem.status, "text/plain; charset=utf-8", Bytes::from(problem.what + "\n"));
  response.headers.add("Date", date());
  Framing framing{Framing::Kind::sized, *response.body_size};
  std::string start;
  static_cast<void>(write_response_head(start, response, framing, false));
  watchdog_.set(shared_.options.header_timeout);
  auto nothing = [] {};
  Message message{.start = std::move(start), .body = response.body.get(), .framing = framing};
  static_cast<void>(co_await write_message(stream_, std::move(message), nothing, nothing));
  watchdog_.clear();
  unread_input_ = true;
}

Task<void> ServerConnection::linger() {
  watchdog_.set(kLingerTime);
  for (std::size_t total = 0; total < kLingerBytesMax;) {
    Result<std::size_t> count = co_await stream_.read(shared_.buffer);
    if (!count || *count == 0) {
      break;
    }
    total += *count;
  }
}

// While a request is served, a read stays pending: it notices a client that goes away and takes in
// what is pipelined, within a bound.
void ServerConnection::watch_peer() {
  if (exchange_stop_ == nullptr || peer_gone_ || input_.size() >= kReadAheadMax) {
    return;
  }
  if (stream_.holds_input()) {
    on_peer_readable();
    return;
  }
  stream_.socket().watch([this] { on_peer_readable(); });
}

void ServerConnection::on_peer_readable() {
  Io io = stream_.try_read(shared_.buffer);
  switch (io.kind) {
    case Io::Kind::done:
      input_.append({shared_.buffer.data(), io.bytes});
      if (input_.size() < kReadAheadMax) {
        stream_.socket().watch([this] { on_peer_readable(); });
      }
      break;
    case Io::Kind::want_read:
    case Io::Kind::want_write:
      stream_.socket().watch([this] { on_peer_readable(); });
      break;
    case Io::Kind::end:
    case Io::Kind::failed:
      lose_peer();
      break;
  }
}

std::string ServerConnection::date() const {
  std::time_t seconds =
      std::chrono::duration_cast<std::chrono::seconds>(shared_.env.clock.wall().time_since_epoch())
          .count();
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 40> text{};
  std::size_t size = std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  return {text.data(), size};
}

}  // namespace codeflare::net::internal
