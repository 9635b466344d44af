#include "apiserver/housekeeping/internal/api_caller.h"

#include "json/parse.h"
#include "json/write.h"
#include "model/codec/codec.h"
#include "model/codec/meta.h"
#include "model/status.h"

#include <algorithm>
#include <utility>

namespace codeflare::apiserver::internal {

namespace {

constexpr std::size_t kAnswerBytesMax = std::size_t{64} << 20;

// The storage version unless nobody can ask for it; one version at least is served.
const ServedVersion& reachable_version(const Resource& resource) {
  const ServedVersion& stored = resource.versions[resource.storage_version];
  const auto served = std::ranges::find(resource.versions, true, &ServedVersion::served);
  return stored.served || served == resource.versions.end() ? stored : *served;
}

}  // namespace

std::string path_of(const Resource& resource, std::string_view ns, std::string_view name,
                    std::string_view subresource) {
  const std::string& version = reachable_version(resource).version;
  std::string path =
      resource.group.empty() ? "/api/" + version : "/apis/" + resource.group + "/" + version;
  if (resource.namespaced && !ns.empty()) {
    path += "/namespaces/" + std::string(ns);
  }
  path += "/" + resource.plural;
  if (!name.empty()) {
    path += "/" + std::string(name);
  }
  if (!subresource.empty()) {
    path += "/" + std::string(subresource);
  }
  return path;
}

Task<Result<json::Document>> ApiCaller::call(std::string method, std::string path, std::string body,
                                             std::string content_type) {
  net::Request request{.method = std::move(method), .target = std::move(path)};
  request.headers.set("Accept", "application/json");
  request.headers.set("User-Agent", "codeflare-housekeeping/1");
  if (!body.empty()) {
    request.headers.set("Content-Type", std::move(content_type));
    request.body_size = body.size();
    request.body = net::body_of(std::move(body));
  }
  CO_TRY_ASSIGN(net::Response response, co_await service_.send(std::move(request)));
  const int status = response.status;
  CO_TRY_ASSIGN(std::string text,
                co_await net::read_all(std::move(response.body), kAnswerBytesMax));
  CO_TRY_ASSIGN(json::Document document, json::parse(text));
  if (status >= 400) {
    CO_TRY_ASSIGN(model::Status failure, model::from_json<model::Status>(document.root));
    co_return fail(model::to_error(std::move(failure)));
  }
  co_return document;
}

Task<Result<void>> ApiCaller::remove(std::string path, std::string uid, std::string propagation,
                                     Revision revision) {
  std::string body;
  json::Writer writer(body);
  writer.begin_object().member("kind", "DeleteOptions").member("apiVersion", "v1");
  writer.member("propagationPolicy", propagation);
  writer.key("preconditions").begin_object().member("uid", uid);
  if (revision != 0) {
    writer.member("resourceVersion", std::to_string(revision));
  }
  writer.end_object().end_object();
  Result<json::Document> answer = co_await call("DELETE", std::move(path), std::move(body));
  // A conflict about the uid alone: the name belongs to another object by now.
  if (!answer && answer.error().code != ErrorCode::not_found &&
      (answer.error().code != ErrorCode::conflict || revision != 0)) {
    co_return fail(std::move(answer).error());
  }
  co_return Result<void>();
}

Task<Result<void>> ApiCaller::merge_patch(std::string path, std::string patch) {
  Result<json::Document> answer =
      co_await call("PATCH", std::move(path), std::move(patch), "application/merge-patch+json");
  if (!answer && answer.error().code != ErrorCode::not_found) {
    co_return fail(std::move(answer).error());
  }
  co_return Result<void>();
}

}  // namespace codeflare::apiserver::internal
