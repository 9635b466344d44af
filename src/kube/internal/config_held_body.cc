#include "kube/internal/config_held_body.h"

#include "net/upgrade.h"

#include <utility>

namespace codeflare::kube::internal {

namespace {

class PiecesThenRest final : public net::BodyStream {
 public:
  PiecesThenRest(std::vector<Bytes> pieces, net::Body rest)
      : pieces_(std::move(pieces)), rest_(std::move(rest)) {}

  Task<Result<Bytes>> read() override {
    if (std::optional<Bytes> piece = take()) {
      co_return *std::move(piece);
    }
    co_return co_await rest_->read();
  }
  std::optional<Bytes> ready() override {
    std::optional<Bytes> piece = take();
    return piece ? piece : rest_->ready();
  }

 private:
  // Nothing when it is the rest's turn.
  std::optional<Bytes> take() {
    if (next_ < pieces_.size()) {
      return std::exchange(pieces_[next_++], Bytes());
    }
    return rest_ == nullptr ? std::optional(Bytes()) : std::nullopt;
  }

  std::vector<Bytes> pieces_;
  std::size_t next_ = 0;
  net::Body rest_;
};

class OwningBody final : public net::BodyStream {
 public:
  OwningBody(net::Body body, std::shared_ptr<void> owner)
      : owner_(std::move(owner)), body_(std::move(body)) {}
  Task<Result<Bytes>> read() override { return body_->read(); }
  std::optional<Bytes> ready() override { return body_->ready(); }

 private:
  std::shared_ptr<void> owner_;  // goes after the body
  net::Body body_;
};

// The same for a connection that has left HTTP behind.
class OwningUpgradedBody final : public net::UpgradedBody {
 public:
  OwningUpgradedBody(net::Body body, net::ByteStream& connection, std::shared_ptr<void> owner)
      : owner_(std::move(owner)), body_(std::move(body)), connection_(connection) {}
  net::ByteStream& connection() override { return connection_; }

 private:
  std::shared_ptr<void> owner_;  // goes after the body
  net::Body body_;
  net::ByteStream& connection_;  // of the body
};

}  // namespace

net::Body HeldBody::stream() {
  if (pieces.empty() && rest == nullptr) {
    return nullptr;
  }
  return std::make_unique<PiecesThenRest>(pieces, std::move(rest));
}

Task<Result<HeldBody>> hold_body(net::Body body, std::optional<std::size_t> body_size,
                                 std::size_t bytes_max) {
  HeldBody held;
  std::size_t total = 0;
  bool may_wait = body_size && *body_size <= bytes_max;
  while (body != nullptr) {
    std::optional<Bytes> piece = body->ready();
    if (!piece && may_wait && total <= bytes_max) {
      CO_TRY_ASSIGN(piece, co_await body->read());
    }
    if (piece && piece->empty()) {
      body = nullptr;
      break;
    }
    if (piece) {
      total += piece->size();
      held.pieces.push_back(*std::move(piece));
    }
    if (!piece || total > bytes_max) {
      held.whole = false;
      break;
    }
  }
  held.rest = std::move(body);
  co_return held;
}

net::Body body_with_owner(net::Body body, std::shared_ptr<void> owner) {
  if (body == nullptr) {
    return nullptr;
  }
  // net::converse() tells these by their types.
  if (auto* remote = dynamic_cast<net::UpgradedBody*>(body.get())) {
    net::ByteStream& connection = remote->connection();
    return std::make_unique<OwningUpgradedBody>(std::move(body), connection, std::move(owner));
  }
  if (const auto* local = dynamic_cast<const net::Upgrade*>(body.get())) {
    return std::make_unique<net::Upgrade>(
        [takeover = local->takeover(), owner = std::move(owner)](net::ByteStream& connection) {
          return takeover(connection);
        });
  }
  return std::make_unique<OwningBody>(std::move(body), std::move(owner));
}

}  // namespace codeflare::kube::internal
