#include "controllers/crds/ensure_policy.h"

#include "controllers/crds/crds.h"
#include "json/parse.h"

#include <string>
#include <string_view>
#include <vector>

namespace codeflare::controllers {
namespace {

// How our own server ends its version.
constexpr std::string_view kOwnBuild = "+codeflare";

bool is_absent_or_hidden(const Error& error) {
  return error.code == ErrorCode::not_found || error.code == ErrorCode::permission_denied;
}

Task<Result<bool>> is_our_server(kube::Client& client) {
  Result<kube::Client::RawResponse> answer = co_await client.raw({.target = "/version"});
  if (!answer) {
    if (is_absent_or_hidden(answer.error())) {
      co_return false;  // ours tells everybody
    }
    co_return fail(std::move(answer).error());
  }
  const Result<json::Document> version = json::parse(answer->body);
  co_return version && version->root.string_or_empty("gitVersion").ends_with(kOwnBuild);
}

Task<Result<PolicyReport>> ensure(kube::Client& client, EmbeddedObject object) {
  Result<kube::ObjectRef> applied = co_await client.apply(
      object.type, {"", object.name}, object.json, {.field_manager = "codeflare", .force = true});
  if (applied) {
    co_return PolicyReport::applied;
  }
  // Applying creates what is not there: only the kind can be missing.
  if (applied.error().code == ErrorCode::not_found) {
    co_return PolicyReport::not_served;
  }
  if (applied.error().code != ErrorCode::permission_denied) {
    co_return fail(
        std::move(applied).error().with_context(object.type.qualified_name() + " " + object.name));
  }
  Result<kube::ObjectRef> there = co_await client.get(object.type, {"", object.name});
  if (!there && !is_absent_or_hidden(there.error())) {
    co_return fail(std::move(there).error());
  }
  co_return there ? PolicyReport::left_alone : PolicyReport::not_allowed;
}

}  // namespace

Task<Result<PolicyReport>> ensure_policy(kube::Client& client) {
  CO_TRY_ASSIGN(const bool ours, co_await is_our_server(client));
  if (ours) {
    co_return PolicyReport::built_in;
  }
  PolicyReport report = PolicyReport::applied;
  CO_TRY_ASSIGN(const std::vector<EmbeddedObject> objects, embedded_policy());
  for (const EmbeddedObject& object : objects) {
    CO_TRY_ASSIGN(report, co_await ensure(client, object));
    if (report != PolicyReport::applied && report != PolicyReport::left_alone) {
      break;
    }
  }
  co_return report;
}

}  // namespace codeflare::controllers
