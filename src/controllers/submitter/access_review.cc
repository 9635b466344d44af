#include "controllers/submitter/access_review.h"

#include "json/parse.h"
#include "json/write.h"

#include <utility>

namespace codeflare::controllers {

namespace {

void append_strings(json::Writer& writer, const std::vector<std::string>& strings) {
  writer.begin_array();
  for (const std::string& text : strings) {
    writer.string(text);
  }
  writer.end_array();
}

std::string review_of(const AccessQuestion& question) {
  std::string body;
  json::Writer w(body);
  w.begin_object().member("apiVersion", "authorization.k8s.io/v1");
  w.member("kind", "SubjectAccessReview").key("spec").begin_object();
  w.member("user", question.user).member_if_set("uid", question.uid).key("groups");
  append_strings(w, question.groups);
  w.key("extra").begin_object();
  for (const auto& [key, values] : question.extra) {
    w.key(key);
    append_strings(w, values);
  }
  w.end_object().key("resourceAttributes").begin_object().member("verb", question.verb);
  w.member("group", question.group).member_if_set("version", question.version);
  w.member("resource", question.resource).member_if_set("subresource", question.subresource);
  w.member("namespace", question.ns).member_if_set("name", question.name);
  w.end_object().end_object().end_object();
  return body;
}

}  // namespace

Task<Result<bool>> may(kube::Client& client, AccessQuestion question) {
  CO_TRY_ASSIGN(const kube::Client::RawResponse response,
                co_await client.raw({.method = "POST",
                                     .target = "/apis/authorization.k8s.io/v1/subjectaccessreviews",
                                     .body = review_of(question)}));
  CO_TRY_ASSIGN(const json::Document answer, json::parse(response.body));
  const json::Value* allowed = answer.root.get({"status", "allowed"});
  co_return allowed != nullptr && allowed->is_boolean() && allowed->as_bool();
}

}  // namespace codeflare::controllers
