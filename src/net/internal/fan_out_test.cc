#include "net/internal/fan_out.h"

#include "net/testing/certificates.h"
#include "net/testing/loopback.h"

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace codeflare::net::internal {
namespace {

using namespace std::chrono_literals;
using net::testing::CertificateAuthority;
using net::testing::Identity;
using net::testing::Loopback;

// The common news, and its listeners.
struct Source {
  std::vector<Bytes> said{};
  bool closed = false;
  std::size_t bodies = 0;
  std::size_t reads = 0;
  std::set<BodyListener*> listeners{};
  WaitList changed{};

  void say(std::string text) {
    said.push_back(Bytes::from(std::move(text)));
    wake();
  }
  void close() {
    closed = true;
    wake();
  }
  void wake() {
    changed.notify_all();
    for (BodyListener* listener : listeners) {
      listener->on_ready();
    }
  }
  std::string all() const {
    std::string text;
    for (const Bytes& piece : said) {
      text += piece.view();
    }
    return text;
  }
};

class Hearing final : public BodyStream {
 public:
  explicit Hearing(Source& source) : source_(source) { ++source_.bodies; }
  ~Hearing() override {
    EXPECT_EQ(listener_, nullptr) << "whoever listens says when he goes";
    --source_.bodies;
    source_.changed.notify_all();
  }
  std::optional<Bytes> ready() override {
    if (at_ < source_.said.size()) {
      return source_.said[at_++];
    }
    return source_.closed ? std::optional(Bytes()) : std::nullopt;
  }
  bool tell(BodyListener* listener) override {
    source_.listeners.erase(listener_);
    listener_ = listener;
    if (listener != nullptr) {
      source_.listeners.insert(listener);
    }
    return true;
  }
  Task<Result<Bytes>> read() override {
    ++source_.reads;
    while (true) {
      if (std::optional<Bytes> piece = ready()) {
        co_return *std::move(piece);
      }
      CO_TRY(co_await source_.changed.wait());
    }
  }

 private:
  Source& source_;
  std::size_t at_ = 0;
  BodyListener* listener_ = nullptr;
};

class FanOutTest : public ::testing::Test {
 protected:
  // Clients that have the head of their answer.
  std::vector<Response> listen(Loopback& loopback, std::size_t count) {
    std::vector<Response> all;
    for (std::size_t i = 0; i < count; ++i) {
      Result<Response> response = loopback.send({});
      EXPECT_TRUE(response) << response.error().to_string();
      all.push_back(*std::move(response));
    }
    return all;
  }

  std::unique_ptr<Loopback> start(ServerOptions options = {}) {
    options.tls = TlsServerOptions{server_.certificate_pem, server_.key_pem, ca_.certificate_pem()};
    return std::make_unique<Loopback>(
        [this](Request) -> Task<Result<Response>> {
          Response response;
          response.body = std::make_unique<Hearing>(source_);
          return [](Response made) -> Task<Result<Response>> {
            co_return std::move(made);
          }(std::move(response));
        },
        options, ClientOptions{.tls = {.ca_bundle_pem = ca_.certificate_pem()}});
  }

  // Reads until that many bytes have come.
  static Task<Result<std::string>> take(BodyStream& body, std::size_t bytes) {
    std::string text;
    while (text.size() < bytes) {
      CO_TRY_ASSIGN(Bytes piece, co_await body.read());
      if (piece.empty()) {
        co_return fail(unavailable("ended after " + std::to_string(text.size()) + " bytes"));
      }
      text += piece.view();
    }
    co_return text;
  }

  static Task<Result<void>> wait_for_bodies(Source& source, std::size_t count) {
    while (source.bodies != count) {
      CO_TRY(co_await source.changed.wait());
    }
    co_return Result<void>();
  }

  CertificateAuthority ca_{"test-ca"};
  Identity server_ = ca_.issue({.common_name = "server", .dns_names{}, .addresses = {"127.0.0.1"}});
  Source source_;
};

TEST_F(FanOutTest, everybody_hears_everything_in_order_and_nobody_is_woken_for_it) {
  std::unique_ptr<Loopback> loopback = start();
  std::vector<Response> clients = listen(*loopback, 100);  // several groups
  std::vector<std::string> heard(clients.size());
  for (std::size_t i = 0; i < 60; ++i) {
    // Some do not fit a record, some are left to the coroutine.
    const std::size_t size = i % 11 == 10 ? 40'000 : i % 5 == 4 ? 5000 : 10 * i;
    source_.say("event " + std::to_string(i) + std::string(size, '.') + "\n");
    if (i % 3 == 2) {
      continue;  // goes together with the next one
    }
    for (std::string& text : heard) {
      Response& client = clients[static_cast<std::size_t>(&text - heard.data())];
      text += *loopback->world().run(take(*client.body, source_.all().size() - text.size()));
    }
  }
  source_.close();
  for (std::size_t i = 0; i < clients.size(); ++i) {
    EXPECT_EQ(heard[i] + *loopback->read(clients[i]), source_.all());
  }
  EXPECT_EQ(source_.reads, 0u);
}

TEST_F(FanOutTest, who_reads_nothing_holds_nobody_and_finds_everything_later) {
  std::unique_ptr<Loopback> loopback = start();
  std::vector<Response> clients = listen(*loopback, 3);
  // More than the sockets of the slow one take.
  for (std::size_t i = 0; i < 4000; ++i) {
    const std::string event = "event " + std::to_string(i) + std::string(4000, '.') + "\n";
    source_.say(event);
    for (std::size_t fast : {0u, 2u}) {
      ASSERT_EQ(*loopback->world().run(take(*clients[fast].body, event.size())), event);
    }
  }
  source_.close();
  EXPECT_EQ(*loopback->read(clients[1]), source_.all());
}

TEST_F(FanOutTest, who_takes_nothing_for_long_is_dropped_and_the_quiet_are_not) {
  std::unique_ptr<Loopback> loopback = start({.stall_timeout = 50ms});
  std::vector<Response> clients = listen(*loopback, 2);
  while (source_.bodies == 2 && source_.said.size() < 20'000) {
    const std::string event(4000, '.');
    source_.say(event);
    ASSERT_EQ(*loopback->world().run(take(*clients[0].body, event.size())), event);
  }
  EXPECT_EQ(source_.bodies, 1u);
  ASSERT_TRUE(loopback->world().run([]() -> Task<Result<void>> { return sleep_for(100ms); }()));
  source_.say("still here");
  EXPECT_EQ(*loopback->world().run(take(*clients[0].body, 10)), "still here");
}

TEST_F(FanOutTest, who_goes_away_leaves_nothing_behind) {
  std::unique_ptr<Loopback> loopback = start();
  std::vector<Response> clients = listen(*loopback, 40);
  source_.say("first");
  // In the queue at this moment.
  for (std::size_t i = 0; i < clients.size(); i += 2) {
    clients[i].body = nullptr;
  }
  source_.say("second");
  for (std::size_t i = 1; i < clients.size(); i += 2) {
    EXPECT_EQ(*loopback->world().run(take(*clients[i].body, 11)), "firstsecond");
  }
  EXPECT_TRUE(loopback->world().run(wait_for_bodies(source_, 20)));
  EXPECT_EQ(source_.listeners.size(), 20u);
}

TEST_F(FanOutTest, ends_with_the_server) {
  std::unique_ptr<Loopback> loopback = start();
  std::vector<Response> clients = listen(*loopback, 5);
  source_.say("last");
  loopback->world().run(loopback->server().drain(Duration::zero()));
  EXPECT_EQ(source_.bodies, 0u);
  EXPECT_TRUE(source_.listeners.empty());
}

}  // namespace
}  // namespace codeflare::net::internal
