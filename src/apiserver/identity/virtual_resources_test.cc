#include "apiserver/identity/virtual_resources.h"

#include "apiserver/identity/openid_documents.h"
#include "apiserver/identity/testing/put_object.h"
#include "json/parse.h"
#include "json/write.h"
#include "model/status.h"

#include <gtest/gtest.h>

#include <string>

namespace codeflare::apiserver {
namespace {

class ReviewTest : public testing::Test {
 protected:
  ReviewTest()
      : authenticator_(*StaticTokens::parse(Secret("letmein,ann,7,dev"), "/f", nullptr), tokens_),
        routes_(identity_resources({.env = world_.env(),
                                    .store = world_.store(),
                                    .policy = policy_,
                                    .authenticator = authenticator_,
                                    .tokens = tokens_})) {
    put(RbacKind::role,
        R"({"metadata":{"name":"maps","namespace":"team"},
            "rules":[{"verbs":["get"],"apiGroups":[""],"resources":["configmaps"]}]})");
    put(RbacKind::role_binding,
        R"({"metadata":{"name":"b","namespace":"team"},"roleRef":{"kind":"Role","name":"maps"},
            "subjects":[{"kind":"User","name":"ann"},{"kind":"Group","name":"ops"}]})");
    put_object(world_, "serviceaccounts",
               R"({"metadata":{"name":"robot","namespace":"team","uid":"u1"}})");
  }
  void put(RbacKind kind, std::string_view text) { policy_.put(kind, json::parse(text)->root); }

  // The whole answer, or the error with its HTTP code.
  std::string create(const std::string& resource, const std::string& body, std::string ns = "",
                     std::string name = "") {
    for (VirtualRoute& route : routes_) {
      if (route.resource != resource) {
        continue;
      }
      auto document = json::parse(body);
      CHECK(document.has_value());
      RequestInfo info;
      info.ns = std::move(ns);
      info.name = std::move(name);
      VirtualResource::Call call{
          .user = user_, .info = info, .arena = document->arena, .body = document->root};
      Result<json::Value> answer = world_.wait(route.handler->create(call));
      return answer ? json::to_text(*answer)
                    : std::to_string(model::to_status(answer.error()).code) + ' ' +
                          answer.error().message;
    }
    return "no such resource";
  }
  static std::string review(const std::string& kind, const std::string& spec) {
    return R"({"kind":")" + kind + R"(","apiVersion":"x/v1","spec":)" + spec + "}";
  }

  StoreWorld world_;
  RbacPolicy policy_;
  SigningKey key_ = SigningKey::generate().value();
  ServiceAccountTokens tokens_{world_.env(), world_.store(), key_, {}};
  RequestAuthenticator authenticator_;
  std::vector<VirtualRoute> routes_;
  User user_{.name = "ann",
             .uid = "7",
             .groups = {"dev", "system:authenticated"},
             .extra = {{"k", {"a", "b"}}}};
};

const std::string kMaps =
    R"({"resourceAttributes":{"namespace":"team","verb":"get","resource":"configmaps"}})";

TEST_F(ReviewTest, everybody_may_ask_about_themselves) {
  EXPECT_EQ(create("selfsubjectaccessreviews", review("SelfSubjectAccessReview", kMaps)),
            R"({"kind":"SelfSubjectAccessReview","apiVersion":"x/v1","metadata":{},"spec":)" +
                kMaps +
                R"(,"status":{"allowed":true,"reason":"RBAC: allowed by )"
                R"(RoleBinding \"b/team\" of Role \"maps\" to User \"ann\""}})");
  EXPECT_TRUE(create("selfsubjectaccessreviews",
                     review("SelfSubjectAccessReview",
                            R"({"resourceAttributes":{"verb":"get","resource":"configmaps"}})"))
                  .ends_with(R"("status":{"allowed":false}})"));
  EXPECT_TRUE(create("selfsubjectaccessreviews",
                     review("SelfSubjectAccessReview",
                            R"({"nonResourceAttributes":{"verb":"get","path":"/metrics"}})"))
                  .ends_with(R"("status":{"allowed":false}})"));
  user_.groups = {"system:masters"};
  EXPECT_TRUE(create("selfsubjectaccessreviews",
                     review("SelfSubjectAccessReview",
                            R"({"nonResourceAttributes":{"verb":"get","path":"/metrics"}})"))
                  .ends_with(R"("status":{"allowed":true}})"));
}

TEST_F(ReviewTest, malformed_questions_are_answered_with_upstreams_words) {
  EXPECT_EQ(create("selfsubjectaccessreviews", review("SelfSubjectAccessReview", "{}")),
            "422 .authorization.k8s.io \"\" is invalid: "
            "spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or "
            "resourceAttributes must be specified");
  EXPECT_EQ(create("subjectaccessreviews", review("SubjectAccessReview", kMaps)),
            "422 .authorization.k8s.io \"\" is invalid: spec.user: Invalid "
            "value: \"\": at least one of user or group must be specified");
  EXPECT_EQ(
      create("selfsubjectaccessreviews",
             review("SelfSubjectAccessReview",
                    R"({"nonResourceAttributes":{"verb":"get","path":"/x"},)" + kMaps.substr(1))),
      "422 .authorization.k8s.io \"\" is invalid: spec.nonResourceAttributes: Invalid value: "
      "{\"Path\":\"/x\",\"Verb\":\"get\"}: cannot be specified in combination with "
      "resourceAttributes");
  EXPECT_EQ(create("selfsubjectaccessreviews", R"({"metadata":{"name":"q"},"spec":)" + kMaps + "}"),
            "422 .authorization.k8s.io \"\" is invalid: metadata: Invalid value: "
            "{\"name\":\"q\"}: must be empty");
  EXPECT_EQ(create("selfsubjectrulesreviews", review("SelfSubjectRulesReview", "{}")),
            "400 no namespace on request");
  EXPECT_EQ(create("tokenreviews", review("TokenReview", "{}")),
            "400 token is required for TokenReview in authentication");
}

TEST_F(ReviewTest, others_are_known_by_name_and_groups) {
  auto ask = [&](const std::string& who) {
    return create("subjectaccessreviews",
                  review("SubjectAccessReview", "{" + who + "," + kMaps.substr(1)));
  };
  EXPECT_TRUE(ask(R"("user":"ann")").contains(R"("allowed":true)"));
  EXPECT_TRUE(ask(R"("user":"eve")").contains(R"("allowed":false)"));
  EXPECT_TRUE(ask(R"("user":"eve","groups":["ops"])").contains(R"(to Group \"ops\")"));
  EXPECT_TRUE(ask(R"("groups":["system:masters"])").contains(R"("allowed":true)"));
}

TEST_F(ReviewTest, a_local_review_stays_in_its_namespace) {
  std::string spec = R"({"user":"ann",)" + kMaps.substr(1);
  EXPECT_TRUE(create("localsubjectaccessreviews", review("LocalSubjectAccessReview", spec), "team")
                  .contains(R"("allowed":true)"));
  EXPECT_EQ(create("localsubjectaccessreviews", review("LocalSubjectAccessReview", spec), "other"),
            "422 .authorization.k8s.io \"\" is invalid: "
            "spec.resourceAttributes.namespace: Invalid value: \"team\": must match "
            "metadata.namespace");
}

TEST_F(ReviewTest, the_rules_of_the_caller_are_listed) {
  EXPECT_EQ(create("selfsubjectrulesreviews",
                   review("SelfSubjectRulesReview", R"({"namespace":"team"})")),
            R"({"kind":"SelfSubjectRulesReview","apiVersion":"x/v1","metadata":{},"spec":{},)"
            R"("status":{"resourceRules":[{"verbs":["get"],"apiGroups":[""],)"
            R"("resources":["configmaps"]}],"nonResourceRules":[],"incomplete":false}})");
}

TEST_F(ReviewTest, the_caller_is_told_who_they_are) {
  EXPECT_EQ(create("selfsubjectreviews", review("SelfSubjectReview", "{}")),
            R"({"kind":"SelfSubjectReview","apiVersion":"x/v1",)"
            R"("metadata":{"creationTimestamp":")" +
                to_rfc3339(world_.env().clock.wall()) +
                R"("},"status":{"userInfo":{"username":"ann","uid":"7",)"
                R"("groups":["dev","system:authenticated"],"extra":{"k":["a","b"]}}}})");
}

TEST_F(ReviewTest, tokens_are_reviewed) {
  EXPECT_TRUE(create("tokenreviews", review("TokenReview", R"({"token":"letmein"})"))
                  .ends_with(R"("status":{"authenticated":true,"user":{"username":"ann","uid":"7",)"
                             R"("groups":["dev","system:authenticated"]},)"
                             R"("audiences":["https://kubernetes.default.svc.cluster.local"]}})"));
  EXPECT_TRUE(create("tokenreviews", review("TokenReview", R"({"token":"wrong"})"))
                  .ends_with(R"("status":{"user":{},"error":"invalid bearer token"}})"));
  std::string vault = tokens_.issue(
      {.ns = "team", .service_account = {.name = "robot", .uid = "u1"}, .audiences = {"vault"}});
  EXPECT_TRUE(create("tokenreviews", review("TokenReview", R"({"token":")" + vault + R"("})"))
                  .ends_with(R"("error":"[invalid bearer token, token audiences [\"vault\"] is )"
                             R"(invalid for the target audiences )"
                             R"([\"https://kubernetes.default.svc.cluster.local\"]]"}})"));
  EXPECT_TRUE(create("tokenreviews",
                     review("TokenReview", R"({"token":")" + vault + R"(","audiences":["vault"]})"))
                  .ends_with(R"("audiences":["vault"]}})"));
}

class TokenRequestTest : public ReviewTest {
 protected:
  std::string request(const std::string& spec, const std::string& name = "robot",
                      const std::string& metadata = "{}") {
    return create("serviceaccounts",
                  R"({"kind":"TokenRequest","apiVersion":"authentication.k8s.io/v1","metadata":)" +
                      metadata + R"(,"spec":)" + spec + "}",
                  "team", name);
  }
  TokenClaims claims_of(const std::string& answer) {
    auto document = json::parse(answer);
    const json::Value* token = document ? document->root.get({"status", "token"}) : nullptr;
    EXPECT_NE(token, nullptr) << answer;
    if (token == nullptr) {
      return {};
    }
    EXPECT_TRUE(authenticator_.check_token(token->as_string(), {}).has_value());
    auto parsed = parse_token(token->as_string());
    EXPECT_TRUE(parsed.has_value());
    return parsed ? parsed->claims : TokenClaims();
  }
};

TEST_F(TokenRequestTest, gives_a_token_for_an_hour) {
  std::string answer = request("{}");
  EXPECT_TRUE(answer.contains(
      R"("metadata":{"name":"robot","namespace":"team","uid":"u1","creationTimestamp":")"))
      << answer;
  EXPECT_TRUE(
      answer.contains(R"("spec":{"audiences":["https://kubernetes.default.svc.cluster.local"],)"
                      R"("expirationSeconds":3600,"boundObjectRef":null})"))
      << answer;
  TokenClaims claims = claims_of(answer);
  EXPECT_EQ(*claims.expires - *claims.issued_at, 3600);
  EXPECT_EQ(claims.subject, "system:serviceaccount:team:robot");
  EXPECT_EQ(claims.service_account, (TokenClaims::Ref{"robot", "u1"}));
}

TEST_F(TokenRequestTest, a_pods_token_is_bound_and_lives_longer_than_it_says) {
  put_object(world_, "nodes", R"({"metadata":{"name":"n1","uid":"u3"}})");
  put_object(world_, "pods",
             R"({"metadata":{"name":"p","namespace":"team","uid":"u2"},
                 "spec":{"serviceAccountName":"robot","nodeName":"n1"}})");
  std::string answer = request(
      R"({"expirationSeconds":3607,"boundObjectRef":{"kind":"Pod","apiVersion":"v1","name":"p"}})");
  EXPECT_TRUE(answer.contains(R"("expirationSeconds":3607)"));
  TokenClaims claims = claims_of(answer);
  EXPECT_EQ(claims.pod, (TokenClaims::Ref{"p", "u2"}));
  EXPECT_EQ(claims.node, (TokenClaims::Ref{"n1", "u3"}));
  EXPECT_EQ(*claims.expires - *claims.issued_at, 365 * 24 * 3600);
  EXPECT_EQ(*claims.warn_after - *claims.issued_at, 3607);
}

TEST_F(TokenRequestTest, refuses_what_upstream_refuses) {
  put_object(world_, "pods",
             R"({"metadata":{"name":"p","namespace":"team","uid":"u2"},
                 "spec":{"serviceAccountName":"other"}})");
  put_object(world_, "secrets", R"({"metadata":{"name":"s","namespace":"team","uid":"u4"}})");
  EXPECT_EQ(request("{}", "nobody"), "404 serviceaccounts \"nobody\" not found");
  EXPECT_EQ(request(R"({"expirationSeconds":599})"),
            "422 TokenRequest.authentication.k8s.io \"\" is invalid: spec.expirationSeconds: "
            "Invalid value: 599: may not specify a duration less than 10 minutes");
  EXPECT_EQ(request(R"({"expirationSeconds":4294967297})"),
            "422 TokenRequest.authentication.k8s.io \"\" is invalid: spec.expirationSeconds: "
            "Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds");
  EXPECT_EQ(request(R"({"boundObjectRef":{"kind":"Pod","apiVersion":"v1","name":"p"}})"),
            "400 cannot bind token for serviceaccount \"robot\" to pod running with different "
            "serviceaccount name.");
  EXPECT_EQ(request(R"({"boundObjectRef":{"kind":"Pod","apiVersion":"v1","name":"q"}})"),
            "404 pods \"q\" not found");
  EXPECT_EQ(request(R"({"boundObjectRef":{"kind":"Job","apiVersion":"batch/v1","name":"q"}})"),
            "400 cannot bind token to object of type batch/v1, Kind=Job");
  EXPECT_EQ(
      request(R"({"boundObjectRef":{"kind":"Secret","apiVersion":"v1","name":"s","uid":"u9"}})"),
      "409 Operation cannot be fulfilled on Secret \"s\": the UID in the bound object reference "
      "(u9) does not match the UID in record. The object might have been deleted and then "
      "recreated");
  EXPECT_EQ(request("{}", "robot", R"({"name":"x"})"),
            "422 TokenRequest.authentication.k8s.io \"robot\" is invalid: metadata.name: Invalid "
            "value: \"x\": must match the service account name if specified");
  EXPECT_EQ(request("{}", "robot", R"({"uid":"u9"})"),
            "409 Operation cannot be fulfilled on TokenRequest.authentication.k8s.io \"robot\": "
            "the UID in the token request (u9) does not match the UID of the service account (u1)");
}

TEST(OpenidDocuments, say_how_to_check_tokens) {
  SigningKey key = SigningKey::generate().value();
  EXPECT_EQ(openid_configuration({.issuer = "https://i", .keys_url = "https://k/openid/v1/jwks"}),
            R"({"issuer":"https://i","jwks_uri":"https://k/openid/v1/jwks",)"
            R"("response_types_supported":["id_token"],"subject_types_supported":["public"],)"
            R"("id_token_signing_alg_values_supported":["ES256"]})");
  std::string keys = openid_keys(key);
  EXPECT_TRUE(keys.starts_with(R"({"keys":[{"use":"sig","kty":"EC","kid":")" + key.id() +
                               R"(","crv":"P-256","alg":"ES256","x":")"))
      << keys;
  EXPECT_FALSE(keys.contains("\"d\""));
}

}  // namespace
}  // namespace codeflare::apiserver
