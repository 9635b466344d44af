#include "sdk/view_api.h"

#include "base/async/sleep.h"
#include "json/parse.h"
#include "kube/path.h"

#include <chrono>
#include <utility>

namespace codeflare::sdk {

namespace {

// A controller that hangs is not waited for: the caller can look for itself.
constexpr Duration kPatienceOfView = std::chrono::seconds(10);

}  // namespace

Result<std::string> view_path(std::string_view plural, const model::ObjectKey& key,
                              std::string_view subresource) {
  const model::ResourceType type{.group = "view.codeflare.dev",
                                 .version = "v1alpha1",
                                 .kind = "Explanation",
                                 .plural = std::string(plural)};
  return kube::object_path(type, key, subresource);
}

Task<Result<json::Document>> ask_explanation(kube::Client& client, std::string plural,
                                             model::ObjectMeta object) {
  CO_TRY_ASSIGN(const std::string path, view_path(plural, object.key(), "explain"));
  kube::Client::RawRequest request{.target = kube::Query().add("uid", object.uid).on(path)};
  CO_TRY_ASSIGN(const kube::Client::RawResponse answer,
                co_await with_timeout(kPatienceOfView, "explanation of the controller",
                                      client.raw(std::move(request))));
  co_return json::parse(answer.body);
}

}  // namespace codeflare::sdk
