#include "net/sim_link.h"

#include "base/async/sleep.h"
#include "net/upgrade.h"

#include <string>
#include <utility>

namespace codeflare::net {

struct SimLink::State {
  Random& random;
  LinkFaults faults;
  bool down = false;
  Answer answer;
  Counts counts;

  bool happens(double probability) {
    // Every question takes one number, so that one fault's probability does not shift the choice
    // of the others.
    if (random.fraction() >= probability) {
      return false;
    }
    ++counts.faults;
    return true;
  }
  Duration up_to(Duration longest) {
    auto count = static_cast<std::uint64_t>(longest.count());
    return count == 0 ? Duration::zero() : Duration(random.below(count + 1));
  }
};

namespace {

enum class Fate : std::uint8_t { none, cut, silent };

// Waits until the reader gives up.
Task<Result<Bytes>> silence() {
  Result<void> never = co_await sleep_until(Instant::max());
  co_return fail(never ? unavailable("the end of time") : never.error());
}

class LinkBody final : public BodyStream {
 public:
  LinkBody(std::shared_ptr<SimLink::State> state, Body inner, Fate fate, std::uint64_t pieces)
      : state_(std::move(state)), inner_(std::move(inner)), fate_(fate), pieces_(pieces) {}

  Task<Result<Bytes>> read() override {
    if (broken_) {
      co_return fail(unavailable("connection was reset"));
    }
    if (fate_ == Fate::silent && pieces_ == 0) {
      co_return co_await silence();
    }
    // A piece stays here if the reader gives up during the delay.
    if (!pending_) {
      pending_.emplace(co_await inner_->read());
      if (!*pending_ && pending_->error().code == ErrorCode::cancelled) {
        co_return *std::exchange(pending_, std::nullopt);
      }
    }
    if (state_->down) {
      fate_ = Fate::silent;
      pieces_ = 0;
      co_return co_await silence();
    }
    CO_TRY(co_await sleep_for(state_->up_to(state_->faults.piece_delay_max)));
    Result<Bytes> piece = *std::exchange(pending_, std::nullopt);
    if (fate_ == Fate::cut && pieces_ == 0) {
      broken_ = true;
      inner_ = nullptr;
      // Perhaps some bytes of this piece still arrive.
      if (piece && !piece->empty()) {
        Bytes part = piece->slice(0, state_->random.below(piece->size()));
        if (!part.empty()) {
          co_return part;
        }
      }
      co_return fail(unavailable("connection was reset"));
    }
    if (pieces_ > 0) {
      --pieces_;
    }
    co_return piece;
  }

 private:
  std::shared_ptr<SimLink::State> state_;
  Body inner_;
  Fate fate_;
  std::uint64_t pieces_;
  std::optional<Result<Bytes>> pending_;
  bool broken_ = false;
};

// The service's end of an upgraded connection. Its writes count as pieces.
class LinkStream final : public ByteStream {
 public:
  LinkStream(std::shared_ptr<SimLink::State> state, ByteStream& inner, Fate fate,
             std::uint64_t pieces)
      : state_(std::move(state)), inner_(inner), fate_(fate), pieces_(pieces) {}

  Task<Result<std::string>> read() override {
    if (broken_) {
      co_return fail(unavailable("connection was reset"));
    }
    co_return co_await inner_.read();
  }

  Task<Result<void>> write(std::string bytes) override {
    if (broken_) {
      co_return fail(unavailable("connection was reset"));
    }
    if (state_->down || (fate_ == Fate::silent && pieces_ == 0)) {
      CO_TRY(co_await silence());
    }
    CO_TRY(co_await sleep_for(state_->up_to(state_->faults.piece_delay_max)));
    if (fate_ == Fate::cut && pieces_ == 0) {
      broken_ = true;
      bytes.resize(state_->random.below(bytes.size() + 1));
      CO_TRY(co_await inner_.write(std::move(bytes)));
      co_return fail(unavailable("connection was reset"));
    }
    if (pieces_ > 0) {
      --pieces_;
    }
    co_return co_await inner_.write(std::move(bytes));
  }
  Task<Result<void>> finish() override { return inner_.finish(); }

 private:
  std::shared_ptr<SimLink::State> state_;
  ByteStream& inner_;
  Fate fate_;
  std::uint64_t pieces_;
  bool broken_ = false;
};

Task<void> take_over_link(std::shared_ptr<SimLink::State> state, Takeover takeover, Fate fate,
                          std::uint64_t pieces, ByteStream& connection) {
  LinkStream link(std::move(state), connection, fate, pieces);
  co_await takeover(link);
}

bool writes(std::string_view method) {
  return method != "GET" && method != "HEAD" && method != "OPTIONS";
}

Task<Error> lost(std::shared_ptr<SimLink::State> state, std::string_view what) {
  Result<void> waited = co_await sleep_for(state->faults.loss_noticed_after);
  co_return waited ? deadline_exceeded(std::string(what)) : waited.error();
}

Response made_up(SimLink::State& state, int status) {
  Response response =
      state.answer
          ? state.answer(status)
          : make_response(status, "text/plain",
                          Bytes::from("simulated answer " + std::to_string(status) + "\n"));
  if (status == 429) {
    std::uint64_t seconds = 1 + state.random.below(state.faults.retry_after_seconds_max + 1);
    response.headers.set("Retry-After", std::to_string(seconds));
  }
  return response;
}

// An answer in place of the target's, if the dice say so.
std::optional<int> answer_instead(SimLink::State& state, std::string_view method) {
  const LinkFaults& faults = state.faults;
  if (writes(method) && state.happens(faults.conflict)) {
    return 409;
  }
  if (state.happens(faults.throttled)) {
    return 429;
  }
  if (state.happens(faults.internal)) {
    return 500;
  }
  if (state.happens(faults.unavailable)) {
    return 503;
  }
  return std::nullopt;
}

Body through_link(std::shared_ptr<SimLink::State> state, Body body) {
  Fate fate = Fate::none;
  if (state->happens(state->faults.cut_stream)) {
    fate = Fate::cut;
  } else if (state->happens(state->faults.silent_stream)) {
    fate = Fate::silent;
  }
  std::uint64_t pieces = state->random.below(state->faults.pieces_before_fault_max + 1);
  if (const auto* upgrade = dynamic_cast<const Upgrade*>(body.get())) {
    return std::make_unique<Upgrade>([state = std::move(state), takeover = upgrade->takeover(),
                                      fate, pieces](ByteStream& connection) {
      return take_over_link(state, takeover, fate, pieces, connection);
    });
  }
  return std::make_unique<LinkBody>(std::move(state), std::move(body), fate, pieces);
}

}  // namespace

SimLink::SimLink(HttpService& target, Random& random, LinkFaults faults)
    : state_(std::make_shared<State>(random, faults)), target_(target) {}

SimLink::~SimLink() = default;

void SimLink::set_faults(const LinkFaults& faults) {
  state_->faults = faults;
}

void SimLink::partition() {
  state_->down = true;
}

void SimLink::heal() {
  state_->down = false;
  LinkFaults healed;
  healed.delay_max = state_->faults.delay_max;
  healed.piece_delay_max = state_->faults.piece_delay_max;
  state_->faults = healed;
}

void SimLink::set_answer(Answer answer) {
  state_->answer = std::move(answer);
}

SimLink::Counts SimLink::counts() const {
  return state_->counts;
}

Task<Result<Response>> SimLink::send(Request request) {
  std::shared_ptr<State> state = state_;
  ++state->counts.requests;
  if (state->happens(state->faults.refused)) {
    co_return fail(unavailable("connection refused"));
  }
  CO_TRY(co_await sleep_for(state->up_to(state->faults.delay_max)));
  if (state->down || state->happens(state->faults.lost_request)) {
    co_return fail(co_await lost(state, "no answer: request lost"));
  }
  bool reply_lost = state->happens(state->faults.lost_reply);
  if (!reply_lost) {
    if (std::optional<int> status = answer_instead(*state, request.method)) {
      CO_TRY(co_await sleep_for(state->up_to(state->faults.delay_max)));
      co_return made_up(*state, *status);
    }
  }
  CO_TRY_ASSIGN(Response response, co_await target_.send(std::move(request)));
  if (state->down || reply_lost) {
    response.body = nullptr;
    co_return fail(co_await lost(state, "no answer: reply lost"));
  }
  CO_TRY(co_await sleep_for(state->up_to(state->faults.delay_max)));
  if (response.body != nullptr) {
    response.body = through_link(state, std::move(response.body));
  }
  co_return response;
}

}  // namespace codeflare::net
