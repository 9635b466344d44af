#include "apiserver/identity/request_authenticator.h"

#include "apiserver/identity/testing/put_object.h"
#include "base/async/sleep.h"
#include "base/env/jumping_clock.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace codeflare::apiserver {
namespace {

using namespace std::chrono_literals;

std::string account_text(std::string_view uid, std::string_view more = "") {
  return R"({"metadata":{"name":"robot","namespace":"team","uid":")" + std::string(uid) + '"' +
         std::string(more) + "}}";
}

class AuthenticatorTest : public testing::Test {
 protected:
  AuthenticatorTest() {
    put_object(world_, "serviceaccounts", account_text("u1"));
    put_object(world_, "pods", R"({"metadata":{"name":"p","namespace":"team","uid":"u2"}})");
    auto fixed = StaticTokens::parse(
        Secret("letmein,ann,7,\"dev,ops\"\nroot,root,0,system:masters"), "/f", nullptr);
    authenticator_.emplace(*std::move(fixed), tokens_);
  }

  ServiceAccountTokens::Request request() {
    return {.ns = "team", .service_account = {.name = "robot", .uid = "u1"}};
  }
  ServiceAccountTokens::Request pod_request() {
    auto out = request();
    out.pod = TokenClaims::Ref{"p", "u2"};
    out.node = TokenClaims::Ref{"n", "u3"};
    return out;
  }
  net::Request with_token(const std::string& token, std::string target = "/api/v1/pods") {
    return {.target = std::move(target), .headers = {{"Authorization", "Bearer " + token}}};
  }
  Result<User> ask(const net::Request& request) {
    return world_.wait(authenticator_->authenticate(request));
  }
  std::string refusal(const net::Request& request) {
    auto user = ask(request);
    if (user) {
      return "let in as " + user->name;
    }
    EXPECT_EQ(user.error().code, ErrorCode::unauthenticated);
    return user.error().message;
  }
  void pass(Duration time) { ASSERT_TRUE(world_.wait(sleep_for(time))); }

  StoreWorld world_;
  SigningKey key_ = SigningKey::generate().value();
  ServiceAccountTokens tokens_{world_.env(), world_.store(), key_, {}};
  std::optional<RequestAuthenticator> authenticator_;
};

TEST_F(AuthenticatorTest, a_client_certificate_names_user_and_groups) {
  net::Request request;
  request.peer = std::make_shared<net::Peer>(net::Peer{
      .address = "127.0.0.1:1",
      .certificate = net::Peer::Certificate{"kubernetes-admin", {"system:masters"}, "abcd"}});
  auto user = ask(request);
  ASSERT_TRUE(user);
  EXPECT_EQ(user->name, "kubernetes-admin");
  EXPECT_EQ(user->groups, (std::vector<std::string>{"system:masters", "system:authenticated"}));
  EXPECT_EQ(user->extra.at("authentication.kubernetes.io/credential-id"),
            std::vector<std::string>{"X509SHA256=abcd"});
}

TEST_F(AuthenticatorTest, a_foreign_certificate_is_refused_even_where_anybody_may_look) {
  for (const char* target : {"/api", "/healthz"}) {
    net::Request request{.target = target};
    request.peer = std::make_shared<net::Peer>(
        net::Peer{.certificate = net::Peer::Certificate{"kubernetes-admin", {"system:masters"}, ""},
                  .foreign_certificate = true});
    EXPECT_EQ(refusal(request), "the client certificate is signed by an unknown authority");
    request.headers.set("Authorization", "Bearer letmein");
    EXPECT_EQ(ask(request)->name, "ann");
  }
}

TEST_F(AuthenticatorTest, without_credentials_only_the_health_endpoints_answer) {
  for (const char* target : {"/healthz", "/livez", "/readyz?verbose", "/readyz/ping"}) {
    auto user = ask({.target = target});
    ASSERT_TRUE(user) << target;
    EXPECT_EQ(user->name, "system:anonymous");
    EXPECT_EQ(user->groups, std::vector<std::string>{"system:unauthenticated"});
  }
  for (const char* target : {"/", "/api", "/version", "/healthzz", "/readyzfoo", "/metrics"}) {
    EXPECT_EQ(refusal({.target = target}), "no credentials") << target;
  }
  EXPECT_EQ(refusal({.target = "/api", .headers = {{"Authorization", "Basic YTpi"}}}),
            "no credentials");
  EXPECT_EQ(refusal({.target = "/api", .headers = {{"Authorization", "Bearer"}}}),
            "no credentials");
  EXPECT_EQ(refusal({.target = "/api", .headers = {{"Authorization", "Bearer  letmein"}}}),
            "no credentials");
}

TEST_F(AuthenticatorTest, static_tokens_name_their_users) {
  auto user = ask(with_token("letmein"));
  ASSERT_TRUE(user);
  EXPECT_EQ(user->name, "ann");
  EXPECT_EQ(user->uid, "7");
  EXPECT_EQ(user->groups, (std::vector<std::string>{"dev", "ops", "system:authenticated"}));
  EXPECT_TRUE(ask({.headers = {{"authorization", " bEARER root "}}})->is_admin());
}

TEST_F(AuthenticatorTest, wrong_tokens_are_refused_everywhere) {
  for (const char* token : {"letmei", "letmeinn", "x.y.z", "LETMEIN"}) {
    EXPECT_EQ(refusal(with_token(token)), "invalid bearer token") << token;
    EXPECT_EQ(refusal(with_token(token, "/healthz")), "invalid bearer token") << token;
  }
}

TEST_F(AuthenticatorTest, service_account_tokens_say_who_and_from_where) {
  auto user = ask(with_token(tokens_.issue(pod_request())));
  ASSERT_TRUE(user);
  EXPECT_EQ(user->name, "system:serviceaccount:team:robot");
  EXPECT_EQ(user->uid, "u1");
  EXPECT_EQ(user->groups,
            (std::vector<std::string>{"system:serviceaccounts", "system:serviceaccounts:team",
                                      "system:authenticated"}));
  EXPECT_EQ(user->extra.at("authentication.kubernetes.io/pod-name"), std::vector<std::string>{"p"});
  EXPECT_EQ(user->extra.at("authentication.kubernetes.io/node-uid"),
            std::vector<std::string>{"u3"});
  EXPECT_TRUE(user->extra.at("authentication.kubernetes.io/credential-id")[0].starts_with("JTI="));
}

TEST_F(AuthenticatorTest, tokens_end_at_their_time) {
  std::string token = tokens_.issue(request());
  pass(3600s + 59s);
  EXPECT_TRUE(ask(with_token(token)));
  pass(2s);
  EXPECT_EQ(refusal(with_token(token)), "service account token has expired");

  auto claims = parse_token(tokens_.issue(request()))->claims;
  *claims.not_before += 120;
  EXPECT_EQ(refusal(with_token(sign_token(key_, claims))),
            "service account token is not valid yet");
  *claims.not_before -= 120;
  *claims.issued_at += 120;
  EXPECT_EQ(refusal(with_token(sign_token(key_, claims))),
            "service account token is issued in the future");
}

TEST_F(AuthenticatorTest, a_clock_that_is_set_ends_no_token_for_good_and_revives_none) {
  JumpingClock clock(world_.env().clock);
  ServiceAccountTokens tokens(with_clock(world_.env(), clock), world_.store(), key_, {});
  authenticator_.emplace(StaticTokens(), tokens);
  const std::string token = tokens.issue(request());
  ASSERT_TRUE(ask(with_token(token)));
  // Not yet issued, in upstream's words; a new one is good at once.
  clock.jump(-5h);
  EXPECT_EQ(refusal(with_token(token)), "service account token is not valid yet");
  const std::string later = tokens.issue(request());
  EXPECT_TRUE(ask(with_token(later)));
  pass(50min);
  EXPECT_TRUE(ask(with_token(later)));
  // Set right: each ends at the time that it carries.
  clock.jump(5h);
  EXPECT_TRUE(ask(with_token(token)));
  EXPECT_EQ(refusal(with_token(later)), "service account token has expired");
  clock.jump(5h);
  EXPECT_EQ(refusal(with_token(token)), "service account token has expired");
  authenticator_.reset();
}

TEST_F(AuthenticatorTest, tokens_of_other_keys_algorithms_issuers_and_audiences_are_refused) {
  std::string token = tokens_.issue(request());
  auto claims = parse_token(token)->claims;
  SigningKey other = SigningKey::generate().value();
  EXPECT_EQ(refusal(with_token(sign_token(other, claims))), "invalid signature, no keys found");

  // The same header and claims under another signature.
  std::string forged = sign_token(other, claims);
  std::size_t last = token.rfind('.');
  EXPECT_EQ(refusal(with_token(token.substr(0, last) + forged.substr(forged.rfind('.')))),
            "invalid signature");
  EXPECT_EQ(refusal(with_token(token.substr(0, last + 1))), "invalid signature");
  // {"alg":"none"}
  EXPECT_EQ(refusal(with_token("eyJhbGciOiJub25lIn0" + token.substr(token.find('.')))),
            "invalid signature");

  claims.issuer = "https://elsewhere";
  EXPECT_EQ(refusal(with_token(sign_token(key_, claims))), "invalid bearer token");
  auto vault = request();
  vault.audiences = {"vault"};
  EXPECT_EQ(refusal(with_token(tokens_.issue(vault))),
            "token audiences [\"vault\"] is invalid for the target audiences "
            "[\"https://kubernetes.default.svc.cluster.local\"]");
  auto answer = authenticator_->check_token(tokens_.issue(vault), {"vault", "other"});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->audiences, std::vector<std::string>{"vault"});
}

TEST_F(AuthenticatorTest, tokens_die_with_the_account_and_with_the_pod) {
  std::string plain = tokens_.issue(request());
  std::string bound = tokens_.issue(pod_request());
  ASSERT_TRUE(ask(with_token(plain)) && ask(with_token(bound)));

  remove_object(world_, "pods", "team", "p");
  EXPECT_EQ(refusal(with_token(bound)), "service account token has been invalidated");
  EXPECT_TRUE(ask(with_token(plain)));
  put_object(world_, "pods", R"({"metadata":{"name":"p","namespace":"team","uid":"u9"}})");
  EXPECT_EQ(refusal(with_token(bound)),
            "pod UID (u9) does not match service account pod ref claim (u2)");

  std::string now = to_rfc3339(world_.env().clock.wall());
  put_object(world_, "serviceaccounts",
             account_text("u1", R"(,"deletionTimestamp":")" + now + '"'));
  EXPECT_TRUE(ask(with_token(plain)));
  pass(62s);
  EXPECT_EQ(refusal(with_token(plain)), "service account team/robot has been deleted");
  remove_object(world_, "serviceaccounts", "team", "robot");
  EXPECT_EQ(refusal(with_token(plain)), "serviceaccounts \"robot\" not found");
  put_object(world_, "serviceaccounts", account_text("u8"));
  EXPECT_EQ(refusal(with_token(plain)), "service account UID (u8) does not match claim (u1)");
}

TEST_F(AuthenticatorTest, a_token_may_be_bound_to_a_secret_or_a_node) {
  put_object(world_, "secrets", R"({"metadata":{"name":"s","namespace":"team","uid":"u4"}})");
  put_object(world_, "nodes", R"({"metadata":{"name":"n","uid":"u5"}})");
  auto to_secret = request();
  to_secret.secret = TokenClaims::Ref{"s", "u4"};
  auto to_node = request();
  to_node.node = TokenClaims::Ref{"n", "u5"};
  std::string secret_token = tokens_.issue(to_secret);
  std::string node_token = tokens_.issue(to_node);
  EXPECT_TRUE(ask(with_token(secret_token)));
  EXPECT_TRUE(ask(with_token(node_token)));
  remove_object(world_, "secrets", "team", "s");
  remove_object(world_, "nodes", "", "n");
  EXPECT_EQ(refusal(with_token(secret_token)), "service account token has been invalidated");
  EXPECT_EQ(refusal(with_token(node_token)), "service account token has been invalidated");
}

}  // namespace
}  // namespace codeflare::apiserver
