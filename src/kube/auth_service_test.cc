#include "kube/auth_service.h"

#include "base/async/sleep.h"
#include "kube/internal/config_testing.h"
#include "net/memory_pair.h"
#include "net/testing/scripted_service.h"
#include "net/upgrade.h"

#include <gtest/gtest.h>

#include <deque>
#include <functional>

namespace codeflare::kube {
namespace {

using namespace std::chrono_literals;
using net::testing::ListBody;

// Gives "Bearer 1" and, after each rejection of the last, the next number.
class CountingSource final : public CredentialSource {
 public:
  Task<Result<CredentialRef>> get() override {
    if (failing) {
      co_return fail(unauthenticated("plugin failed"));
    }
    co_return last_;
  }
  bool renewable() const override { return renews; }
  void refused(const CredentialRef& used) override {
    ++refusals;
    if (used == last_ && changes) {
      last_ = make(++number_);
    }
    failing = fail_after_refusal;
  }

  bool renews = true;
  bool changes = true;
  bool failing = false;
  bool fail_after_refusal = false;
  int refusals = 0;

 private:
  static CredentialRef make(int number) {
    auto credential = std::make_shared<Credential>();
    credential->authorization = Secret("Bearer " + std::to_string(number));
    credential->certificate_pem = "cert " + std::to_string(number);
    return credential;
  }
  int number_ = 1;
  CredentialRef last_ = make(1);
};

class AuthTest : public ::testing::Test, public Transport {
 protected:
  // The requests that the server saw, one line per request.
  struct Seen {
    net::Headers headers;
    std::string target;
    std::string body;
    std::optional<std::size_t> body_size;
  };

  Env env() { return sim_.env(); }

  Task<Result<std::shared_ptr<net::HttpService>>> service_for(CredentialRef credential) override {
    certificates_.push_back(credential->certificate_pem);
    auto alive = alive_;
    auto service = std::make_shared<net::testing::ScriptedService>(
        [this, alive](net::Request request) { return serve(std::move(request)); });
    co_return service;
  }
  Task<Result<net::Response>> serve(net::Request request) {
    Seen seen{request.headers, request.target, "", request.body_size};
    CO_TRY_ASSIGN(seen.body, co_await net::read_all(std::move(request.body), 1 << 20));
    seen_.push_back(std::move(seen));
    int status = 200;
    if (!statuses_.empty()) {
      status = statuses_.front();
      statuses_.pop_front();
    }
    net::Response response = net::make_response(status, "text/plain", Bytes::from_static("said"));
    if (upgraded_) {
      response.body = upgraded_();
    }
    co_return response;
  }
  Result<net::Response> send(net::Request request, AuthOptions options = {}) {
    AuthService service(source_, *this, std::move(options));
    return run(env().loop, service.send(std::move(request))).value();
  }
  int status(net::Request request) {
    Result<net::Response> response = send(std::move(request));
    EXPECT_TRUE(response) << response.error().message;
    return response ? response->status : 0;
  }
  static net::Request post(std::string body) {
    net::Request request;
    request.method = "POST";
    request.body_size = body.size();
    request.body = net::body_of(std::move(body));
    return request;
  }
  std::string authorization(std::size_t index) {
    return std::string(seen_.at(index).headers.get("Authorization").value_or("none"));
  }

  SimEnv sim_;
  CountingSource source_;
  std::deque<int> statuses_;
  std::function<net::Body()> upgraded_;  // the body of an answer with status 101
  std::vector<Seen> seen_;
  std::vector<std::string> certificates_;
  std::shared_ptr<int> alive_ = std::make_shared<int>();
};

TEST_F(AuthTest, adds_credentials_and_user_agent) {
  EXPECT_EQ(status({}), 200);
  EXPECT_EQ(authorization(0), "Bearer 1");
  EXPECT_EQ(seen_[0].headers.get("User-Agent"), "codeflare");
  net::Request request;
  request.headers.set("User-Agent", "mine/1");
  status(std::move(request));
  EXPECT_EQ(seen_[1].headers.get("User-Agent"), "mine/1");
}

TEST_F(AuthTest, adds_impersonation_in_the_form_the_server_reads) {
  AuthOptions options;
  options.impersonation = {.user = "jane",
                           .uid = "7",
                           .groups = {"dev", "ops"},
                           .extra = {{"acme.com/Scopes %", {"view", "edit"}}}};
  ASSERT_TRUE(send({}, options));
  std::string text;
  for (const auto& field : seen_.at(0).headers.fields()) {
    if (field.name.starts_with("Impersonate-")) {
      text += field.name + "=" + field.value + ";";
    }
  }
  EXPECT_EQ(text,
            "Impersonate-User=jane;Impersonate-Uid=7;Impersonate-Group=dev;Impersonate-Group=ops;"
            "Impersonate-Extra-acme.com%2FScopes%20%25=view;"
            "Impersonate-Extra-acme.com%2FScopes%20%25=edit;");
  net::Request own;
  own.headers.set("Impersonate-User", "root");
  ASSERT_TRUE(send(std::move(own), options));
  EXPECT_EQ(seen_.at(1).headers.get("Impersonate-User"), "root");
  EXPECT_FALSE(seen_[1].headers.has("Impersonate-Group"));
}

TEST_F(AuthTest, a_refusal_is_answered_with_new_credentials_and_the_same_request) {
  statuses_ = {401, 201};
  EXPECT_EQ(status(post("the body")), 201);
  ASSERT_EQ(seen_.size(), 2u);
  EXPECT_EQ(authorization(0), "Bearer 1");
  EXPECT_EQ(authorization(1), "Bearer 2");
  EXPECT_EQ(seen_[0].body, "the body");
  EXPECT_EQ(seen_[1].body, "the body");
  EXPECT_EQ(seen_[1].body_size, 8u);
  EXPECT_EQ(certificates_, (std::vector<std::string>{"cert 1", "cert 2"}));
  EXPECT_EQ(source_.refusals, 1);
}

TEST_F(AuthTest, puts_the_path_of_the_server_before_each_target) {
  statuses_ = {401, 200};
  net::Request request;
  request.target = "/api/v1/pods?limit=1";
  ASSERT_TRUE(send(std::move(request), {.target_prefix = "/k8s/c-1"}));
  ASSERT_EQ(seen_.size(), 2u);
  EXPECT_EQ(seen_[0].target, "/k8s/c-1/api/v1/pods?limit=1");
  EXPECT_EQ(seen_[1].target, "/k8s/c-1/api/v1/pods?limit=1");
}

TEST_F(AuthTest, it_is_tried_again_only_once) {
  statuses_ = {401, 401, 200};
  EXPECT_EQ(status({}), 401);
  EXPECT_EQ(seen_.size(), 2u);
}

TEST_F(AuthTest, other_errors_are_not_tried_again) {
  statuses_ = {403};
  EXPECT_EQ(status({}), 403);
  EXPECT_EQ(seen_.size(), 1u);
}

TEST_F(AuthTest, the_same_credentials_are_not_tried_again) {
  source_.changes = false;
  statuses_ = {401};
  Result<net::Response> response = send({});
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 401);
  EXPECT_EQ(run(env().loop, net::read_all(std::move(response->body), 100))->value(), "said");
  EXPECT_EQ(seen_.size(), 1u);
}

TEST_F(AuthTest, fixed_credentials_are_not_tried_again) {
  source_.renews = false;
  statuses_ = {401};
  EXPECT_EQ(status(post("x")), 401);
  EXPECT_EQ(seen_.size(), 1u);
  EXPECT_EQ(source_.refusals, 0);
}

TEST_F(AuthTest, a_body_that_is_too_large_to_keep_is_sent_once) {
  statuses_ = {401, 200};
  Result<net::Response> response = send(post("12345"), {.replay_bytes_max = 4});
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 401);
  ASSERT_EQ(seen_.size(), 1u);
  EXPECT_EQ(seen_[0].body, "12345");
  // The next request has new credentials anyway.
  EXPECT_EQ(status({}), 200);
  EXPECT_EQ(authorization(1), "Bearer 2");
}

// A body whose pieces are not at hand before they are awaited.
class SlowBody final : public net::BodyStream {
 public:
  explicit SlowBody(std::vector<std::string> pieces) : inner_(std::move(pieces)) {}
  Task<Result<Bytes>> read() override {
    CO_TRY(co_await sleep_for(1s));
    co_return co_await inner_.read();
  }

 private:
  ListBody inner_;
};

TEST_F(AuthTest, a_stream_of_unknown_length_is_passed_on_and_sent_once) {
  statuses_ = {401, 200};
  net::Request request;
  request.body = std::make_unique<SlowBody>(std::vector<std::string>{"a", "b"});
  EXPECT_EQ(status(std::move(request)), 401);
  ASSERT_EQ(seen_.size(), 1u);
  EXPECT_EQ(seen_[0].body, "ab");
}

TEST_F(AuthTest, a_stream_of_known_small_length_is_kept_and_sent_again) {
  statuses_ = {401, 200};
  net::Request request;
  request.body = std::make_unique<SlowBody>(std::vector<std::string>{"a", "bc"});
  request.body_size = 3;
  EXPECT_EQ(status(std::move(request)), 200);
  ASSERT_EQ(seen_.size(), 2u);
  EXPECT_EQ(seen_[1].body, "abc");
}

TEST_F(AuthTest, pieces_at_hand_are_kept_without_a_known_length) {
  statuses_ = {401, 200};
  net::Request request;
  request.body = std::make_unique<ListBody>(std::vector<std::string>{"a", "bc"});
  EXPECT_EQ(status(std::move(request)), 200);
  EXPECT_EQ(seen_.at(1).body, "abc");
}

TEST_F(AuthTest, a_request_with_its_own_authorization_is_left_alone) {
  statuses_ = {401, 200};
  net::Request request;
  request.headers.set("Authorization", "Bearer own");
  EXPECT_EQ(status(std::move(request)), 401);
  EXPECT_EQ(seen_.size(), 1u);
  EXPECT_EQ(authorization(0), "Bearer own");
}

TEST_F(AuthTest, a_failure_to_get_credentials_is_the_answer) {
  source_.failing = true;
  Result<net::Response> response = send({});
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().message, "plugin failed");
  source_.failing = false;
  source_.fail_after_refusal = true;
  statuses_ = {401};
  response = send({});
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().message, "plugin failed");
}

TEST_F(AuthTest, the_transport_lives_as_long_as_the_response) {
  Result<net::Response> response = send({});
  ASSERT_TRUE(response);
  EXPECT_EQ(alive_.use_count(), 2);
  response->body.reset();
  EXPECT_EQ(alive_.use_count(), 1);
}

Task<void> greet(net::ByteStream& connection) {
  static_cast<void>(co_await connection.write("hello"));
}

// The client's end of a connection whose other end has greeted.
class Greeted final : public net::UpgradedBody {
 public:
  explicit Greeted(Loop& loop) { CHECK(run(loop, greet(pair_.far())), "it greets"); }
  net::ByteStream& connection() override { return pair_.near(); }

 private:
  net::MemoryPair pair_;
};

Task<void> hear(std::string* heard, net::ByteStream& connection) {
  *heard = (co_await connection.read()).value_or("nothing");
}

TEST_F(AuthTest, an_upgraded_connection_stays_one_and_keeps_its_transport) {
  for (const bool remote : {true, false}) {
    net::Body body;
    if (remote) {
      body = std::make_unique<Greeted>(env().loop);
    } else {
      body = std::make_unique<net::Upgrade>(greet);
    }
    upgraded_ = [&] { return std::move(body); };
    statuses_ = {101};
    Result<net::Response> response = send({});
    ASSERT_TRUE(response);
    EXPECT_EQ(alive_.use_count(), 2);
    std::string heard;
    const auto talk = [&](net::ByteStream& connection) { return hear(&heard, connection); };
    const auto done = run(env().loop, net::converse(*std::move(response), talk));
    ASSERT_TRUE(done && *done);
    EXPECT_EQ(heard, "hello");
    response = Result<net::Response>(net::Response());
    EXPECT_EQ(alive_.use_count(), 1);
  }
}

TEST(CredentialSourceTest, fixed_credentials_become_headers) {
  SimEnv sim;
  auto authorization = [&](Auth auth) {
    Config config;
    config.auth = std::move(auth);
    std::unique_ptr<CredentialSource> source = make_credential_source(sim.env(), config);
    EXPECT_FALSE(source->renewable());
    return run(sim.env().loop, source->get())->value()->authorization.reveal();
  };
  EXPECT_EQ(authorization({}), "");
  EXPECT_EQ(authorization(BearerToken{Secret("t")}), "Bearer t");
  EXPECT_EQ(authorization(BasicAuth{"Aladdin", Secret("open sesame")}),
            "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
}

}  // namespace
}  // namespace codeflare::kube
