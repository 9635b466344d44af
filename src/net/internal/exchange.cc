#include "net/internal/exchange.h"

#include "net/internal/body_reader.h"
#include "net/internal/body_writer.h"
#include "net/internal/upgraded_connection.h"
#include "net/internal/watchdog.h"
#include "net/upgrade.h"

#include <utility>

namespace codeflare::net::internal {

namespace {

constexpr std::size_t kRememberedBytesMax = 1u << 20;

// A response body that is read from its connection, at the reader's pace.
class IncomingBody final : public BodyStream {
 public:
  IncomingBody(std::shared_ptr<ConnectionPool> pool, std::unique_ptr<ClientConnection> connection,
               const Framing& framing, bool reusable)
      : pool_(std::move(pool)),
        connection_(std::move(connection)),
        reader_(framing),
        reusable_(reusable) {}

  Task<Result<Bytes>> read() override {
    for (;;) {
      CO_TRY_ASSIGN(std::optional<Bytes> piece, take());
      if (piece) {
        co_return *std::move(piece);
      }
      std::span<char> buffer = pool_->read_buffer();
      Result<std::size_t> count = co_await connection_->stream.read(buffer);
      if (!count) {
        // A wait that was given up has lost nothing: the reader may come again.
        if (count.error().code == ErrorCode::cancelled) {
          co_return fail(std::move(count).error());
        }
        co_return fail(broke(count.error().message));
      }
      if (*count == 0) {
        if (!reader_.end_of_input()) {
          co_return fail(broke("connection closed before the end"));
        }
        finish();
        co_return Bytes();
      }
      Wire<std::optional<Bytes>> fresh =
          reader_.take(std::string_view(buffer.data(), *count), connection_->input);
      CO_TRY_ASSIGN(std::optional<Bytes> next, settle(std::move(fresh)));
      if (next) {
        co_return *std::move(next);
      }
    }
  }

  std::optional<Bytes> ready() override {
    Result<std::optional<Bytes>> piece = take();
    return piece ? *std::move(piece) : std::nullopt;
  }

 private:
  // From the buffered input; an empty piece is the end.
  Result<std::optional<Bytes>> take() {
    if (broken_) {
      return fail(*broken_);
    }
    if (connection_ == nullptr) {
      return Bytes();
    }
    return settle(reader_.take(connection_->input));
  }

  Result<std::optional<Bytes>> settle(Wire<std::optional<Bytes>> piece) {
    if (!piece) {
      return fail(broke(piece.error().what));
    }
    // With its last bytes the connection is free, before anybody asks for the end.
    if (reader_.done()) {
      finish();
      return *piece ? *std::move(piece) : Bytes();
    }
    return *std::move(piece);
  }

  void finish() {
    if (connection_ != nullptr && reusable_) {
      pool_->give_back(std::move(connection_));
    }
    connection_ = nullptr;
  }

  Error broke(std::string_view why) {
    connection_ = nullptr;
    broken_ = unavailable("response body: " + std::string(why));
    return *broken_;
  }

  std::shared_ptr<ConnectionPool> pool_;
  std::unique_ptr<ClientConnection> connection_;
  BodyReader reader_;
  bool reusable_;
  std::optional<Error> broken_;
};

// A connection that has left HTTP behind; it never goes back to the pool.
class ClientUpgrade final : public UpgradedBody {
 public:
  ClientUpgrade(std::shared_ptr<ConnectionPool> pool, std::unique_ptr<ClientConnection> connection)
      : pool_(std::move(pool)),
        connection_(std::move(connection)),
        upgraded_(connection_->stream, connection_->input, pool_->read_buffer(), [] {}) {}

  ByteStream& connection() override { return upgraded_; }

 private:
  std::shared_ptr<ConnectionPool> pool_;
  std::unique_ptr<ClientConnection> connection_;
  UpgradedConnection upgraded_;
};

// One attempt under way.
class Exchange {
 public:
  Exchange(std::shared_ptr<ConnectionPool> pool, std::unique_ptr<ClientConnection> connection,
           OutgoingRequest& request)
      : pool_(std::move(pool)), connection_(std::move(connection)), request_(request) {}

  Task<Attempt> run() {
    std::uint64_t before = connection_->stream.bytes_written();
    Result<void> sent = co_await send_request();
    Attempt attempt{fail(internal_error("not tried"))};
    if (!sent && (sent.error().code == ErrorCode::cancelled || producer_failed())) {
      attempt.response = fail(producer_failed() ? *request_.body->failure() : sent.error());
    } else {
      // Even when sending failed, the server may have said why before it closed.
      Result<ResponseHead> head = co_await read_head();
      if (head) {
        attempt.response = make_response_of(*std::move(head), sent.has_value() && !answered_early_);
      } else {
        attempt.response =
            fail(!sent && head.error().code != ErrorCode::cancelled ? sent.error() : head.error());
      }
    }
    attempt.wrote = connection_ == nullptr || connection_->stream.bytes_written() != before;
    attempt.received = received_;
    co_return attempt;
  }

 private:
  bool producer_failed() const { return request_.body != nullptr && request_.body->failure(); }

  // Ends early, and well, when the server answers before it has everything.
  Task<Result<void>> send_request() {
    const TaskContext& outer = co_await current_context();
    StopSource stop(outer.stop);
    TaskContext inner{outer.loop, stop.token()};
    early_stop_ = &stop;
    watch();
    auto nothing = [] {};
    Result<void> sent =
        co_await write_message(
            connection_->stream,
            {.start = request_.head, .body = request_.body.get(), .framing = request_.framing},
            nothing, nothing)
            .under(inner);
    early_stop_ = nullptr;
    connection_->stream.socket().unwatch();
    if (!sent && stop.stop_requested() && !outer.stop.stop_requested()) {
      answered_early_ = true;
      co_return Result<void>();
    }
    co_return sent;
  }

  void watch() {
    connection_->stream.socket().watch([this] {
      Io io = connection_->stream.try_read(pool_->read_buffer());
      if (io.wants()) {
        watch();
        return;
      }
      if (io.kind == Io::Kind::done) {
        received_ = true;
        connection_->input.append({pool_->read_buffer().data(), io.bytes});
      }
      early_stop_->request_stop();
    });
  }

  Task<Result<ResponseHead>> read_head() {
    bool timed_out = false;
    Watchdog watchdog(pool_->env().loop, [&] {
      timed_out = true;
      connection_->stream.socket().interrupt();
    });
    watchdog.set(pool_->options().head_timeout);
    HeadScanner scanner(pool_->options().header_bytes_max);
    for (;;) {
      std::string_view input = connection_->input.view();
      Wire<std::optional<std::size_t>> size = scanner.scan(input);
      if (!size) {
        co_return fail(unavailable("malformed response: " + size.error().what));
      }
      if (*size) {
        Wire<ResponseHead> head = parse_response_head(input.substr(0, **size), request_.method);
        if (!head) {
          co_return fail(unavailable("malformed response: " + head.error().what));
        }
        connection_->input.consume(**size);
        // Interim answers carry nothing that is asked for here; 101 ends HTTP on this connection.
        if (head->status >= 200 || head->status == 101) {
          co_return *std::move(head);
        }
        scanner.reset();
        continue;
      }
      Result<std::size_t> count = co_await connection_->stream.read(pool_->read_buffer());
      if (timed_out) {
        co_return fail(
            codeflare::internal::timeout_error(pool_->options().head_timeout, "response"));
      }
      CO_TRY(count);
      if (*count == 0) {
        co_return fail(unavailable("connection closed before the response"));
      }
      received_ = true;
      connection_->input.append({pool_->read_buffer().data(), *count});
    }
  }

  Response make_response_of(ResponseHead head, bool sent_whole) {
    Response response;
    response.status = head.status;
    response.headers = std::move(head.headers);
    if (head.status == 101 && request_.upgrade) {
      response.body = std::make_unique<ClientUpgrade>(pool_, std::move(connection_));
      return response;
    }
    bool reusable = head.keep_alive && sent_whole && head.status != 101;
    if (head.framing.kind == Framing::Kind::none) {
      release(reusable);
      return response;
    }
    if (head.framing.kind == Framing::Kind::sized) {
      response.body_size = head.framing.size;
      // All of a small body is often here already: then the connection is free at once.
      if (connection_->input.size() >= head.framing.size) {
        std::string_view bytes = connection_->input.view().substr(0, head.framing.size);
        response.body = body_of(std::string(bytes));
        connection_->input.consume(bytes.size());
        release(reusable);
        return response;
      }
    }
    response.body =
        std::make_unique<IncomingBody>(pool_, std::move(connection_), head.framing, reusable);
    return response;
  }

  void release(bool reusable) {
    if (reusable) {
      pool_->give_back(std::move(connection_));
    }
    connection_ = nullptr;
  }

  std::shared_ptr<ConnectionPool> pool_;
  std::unique_ptr<ClientConnection> connection_;
  OutgoingRequest& request_;
  StopSource* early_stop_ = nullptr;
  bool answered_early_ = false;
  bool received_ = false;
};

}  // namespace

void OutgoingBody::remember(const Bytes& piece) {
  seen_bytes_ += piece.size();
  if (forgotten_ || seen_bytes_ > kRememberedBytesMax) {
    forgotten_ = true;
    seen_.clear();
    next_ = 0;
    return;
  }
  seen_.push_back(piece);
  next_ = seen_.size();
}

Task<Result<Bytes>> OutgoingBody::read() {
  if (next_ < seen_.size()) {
    co_return seen_[next_++];
  }
  Result<Bytes> piece = co_await inner_->read();
  if (piece) {
    remember(*piece);
  } else if (piece.error().code != ErrorCode::cancelled) {
    failure_ = piece.error();
  }
  co_return piece;
}

std::optional<Bytes> OutgoingBody::ready() {
  if (next_ < seen_.size()) {
    return seen_[next_++];
  }
  std::optional<Bytes> piece = inner_->ready();
  if (piece) {
    remember(*piece);
  }
  return piece;
}

Task<Attempt> exchange(std::shared_ptr<ConnectionPool> pool,
                       std::unique_ptr<ClientConnection> connection, OutgoingRequest& request) {
  Exchange attempt(std::move(pool), std::move(connection), request);
  co_return co_await attempt.run();
}

}  // namespace codeflare::net::internal
