#include "tests/sim/sim_apiserver_gate.h"

#include "net/in_process.h"
#include "tests/sim/event_filter.h"
#include "tests/sim/sim_apiserver_definitions.h"

#include <utility>

namespace codeflare::sim {

namespace {

constexpr std::size_t kBodyMax = 64u << 20;

net::Peer administrator() {
  return {.address = "simulation",
          .certificate =
              net::Peer::Certificate{.common_name = "admin", .organizations = {"system:masters"}}};
}

bool is_read(const std::string& request) {
  return request.starts_with("GET ");
}

// The UID of the object in the path of a read, as far as the ledger is asked about it.
std::string uid_of(const Ledger& ledger, const std::string& request) {
  std::vector<std::string> parts;
  for (std::size_t at = request.find('/'); at < request.find('?') && at != std::string::npos;) {
    const std::size_t next = request.find_first_of("/?", at + 1);
    parts.push_back(request.substr(at + 1, next == std::string::npos ? next : next - at - 1));
    at = next;
  }
  if (parts.size() == 6 && parts[4] == "configmaps") {
    return ledger.uid_at("configmaps", {parts[3], parts[5]});
  }
  if (parts.size() == 7 && parts[5] == "greetings") {
    return ledger.uid_at("greetings.examples.codeflare.dev", {parts[4], parts[6]});
  }
  return {};
}

}  // namespace

// A response body that breaks off when the server dies.
class Gate::Stream final : public net::BodyStream {
 public:
  Stream(Gate& gate, net::Body inner) : gate_(gate), inner_(std::move(inner)) {
    gate_.streams_.push_back(this);
  }
  ~Stream() override { std::erase(gate_.streams_, this); }

  Task<Result<Bytes>> read() override {
    if (inner_ == nullptr) {
      co_return fail(unavailable("connection was reset"));
    }
    ++gate_.inside_;
    reading_ = true;
    Result<Bytes> piece = co_await inner_->read();
    reading_ = false;
    if (broken_) {
      inner_ = nullptr;
      piece = fail(unavailable("connection was reset"));
    }
    gate_.leave();
    co_return piece;
  }

  void break_off() {
    broken_ = true;
    if (!reading_) {
      inner_ = nullptr;
    }
  }

 private:
  Gate& gate_;
  net::Body inner_;
  bool reading_ = false;
  bool broken_ = false;
};

Task<Result<net::Response>> Gate::send(net::Request request) {
  if (server_ == nullptr) {
    co_return fail(unavailable("connection refused"));
  }
  const std::uint64_t life = life_;
  ++inside_;
  Result<net::Response> response = co_await answer(std::move(request), life);
  leave();
  co_return response;
}

Task<Result<net::Response>> Gate::answer(net::Request request, std::uint64_t life) {
  const std::string what = request.method + " " + request.target;
  const std::uint64_t asked_at = ledger_.revision();
  const std::string there = uid_of(ledger_, what);
  net::InProcessService service(*server_, administrator());
  Result<net::Response> response = co_await service.send(std::move(request));
  if (!response || response->body == nullptr) {
    co_return life == life_ ? std::move(response) : fail(deadline_exceeded("connection was reset"));
  }
  if (life == life_ && is_read(what) && what.contains("watch=") && response->status == 200) {
    if (swallow_every_ != 0) {
      response->body = std::make_unique<EventFilter>(
          std::move(response->body),
          [this](std::string_view, const std::string&) { return !swallows(); });
    }
    response->body = std::make_unique<Stream>(*this, std::move(response->body));
    co_return response;
  }
  Result<std::string> body = co_await net::read_all(std::move(response->body), kBodyMax);
  if (life != life_) {
    co_return fail(deadline_exceeded("connection was reset"));
  }
  if (!body) {
    co_return fail(std::move(body).error());
  }
  check(what, response->status, asked_at, there, *body);
  response->body = net::body_of(std::move(*body));
  co_return response;
}

void Gate::check(const std::string& request, int status, std::uint64_t asked_at,
                 const std::string& there, const std::string& body) {
  if (status < 300) {
    if (std::string wrong = wrong_version(request, body); !wrong.empty()) {
      violations_.push_back(std::move(wrong));
    }
    is_read(request) ? ledger_.answered_read(request, asked_at, body)
                     : ledger_.answered_write(request, body);
    return;
  }
  ++refusals_[status];
  if (is_read(request) && status == 404 && !there.empty() && ledger_.has_uid(there)) {
    violations_.push_back(request + " was not found, but " + there + " is there");
  }
  // The clients' requests are sensible: it may be forbidden or too late, but never wrong.
  const bool late = status == 422 && body.contains("no new finalizers can be added");
  const bool explained =
      status == 403 || status == 404 || status == 409 || status == 410 || status == 503 || late;
  if (!explained) {
    violations_.push_back(request + " was answered with " + std::to_string(status) + ": " + body);
  }
}

void Gate::reset() {
  server_ = nullptr;
  ++life_;
  for (Stream* stream : streams_) {
    stream->break_off();
  }
  streams_.clear();
}

void Gate::leave() {
  --inside_;
  left_.notify_all();
}

Task<void> Gate::drained() {
  while (inside_ != 0) {
    co_await left_.wait_uncancellable();
  }
}

std::uint64_t Gate::refusals(int status) const {
  const auto found = refusals_.find(status);
  return found == refusals_.end() ? 0 : found->second;
}

}  // namespace codeflare::sim
