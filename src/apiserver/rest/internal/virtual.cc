#include "apiserver/rest/internal/decode.h"
#include "apiserver/rest/internal/errors.h"
#include "apiserver/rest/internal/handlers.h"
#include "apiserver/rest/internal/response.h"
#include "apiserver/schema/builtin.h"

#include <algorithm>
#include <cstddef>

namespace codeflare::apiserver::internal {
namespace {

// Everybody who is known may ask for reviews, and gets back what they sent. Answers that nobody
// reads keep their place in flight: these are small enough for the sockets' buffers.
constexpr std::size_t kBodyBytesMax = 256u << 10;

// The kind that the endpoint takes: its own for a subresource that says so.
Expected expected_body(const Call& call) {
  const auto& subs = call.version->subresources;
  auto sub = std::ranges::find(subs, call.info.subresource, &Subresource::name);
  if (call.info.subresource.empty() || sub == subs.end()) {
    return expected_of(call);
  }
  const bool own = sub->version.empty();
  const std::string group = own ? call.resource->group : sub->group;
  const std::string version = own ? call.version->version : sub->version;
  return {.api_version = group.empty() ? version : group + "/" + version,
          .kind = sub->kind,
          .schema = schema::find_builtin(group, version, sub->kind),
          .custom = false};
}

// kubectl before 1.22 evicts in policy/v1beta1, whose fields are the same; upstream takes both.
void accept_old_eviction(json::Document& document) {
  json::Value* version = document.root.find("apiVersion");
  if (version != nullptr && document.root.string_or_empty("kind") == "Eviction" &&
      document.root.string_or_empty("apiVersion") == "policy/v1beta1") {
    *version = json::Value::string_view_of("policy/v1");
  }
}

}  // namespace

Task<Result<net::Response>> handle_virtual(Call& call, VirtualResource& handler) {
  CO_TRY_ASSIGN(WriteOptions options,
                write_options(call.info, call.request.headers, "CreateOptions"));
  CO_TRY_ASSIGN(std::string body, co_await read_body(call, kBodyBytesMax));
  std::vector<std::string> duplicates;
  json::Document document;
  if (!body.empty()) {
    CO_TRY_ASSIGN(document, decode_body(body, call.header("Content-Type"), &duplicates));
  } else {
    document.root = json::Value::object();
  }
  accept_old_eviction(document);
  CO_TRY(check_object(expected_body(call), document.arena, document.root, options.field_validation,
                      duplicates, call.warnings));
  VirtualResource::Call inner{.user = call.user,
                              .info = call.info,
                              .arena = document.arena,
                              .body = document.root,
                              .dry_run = options.dry_run};
  CO_TRY_ASSIGN(json::Value answer, co_await handler.create(inner));
  co_return value_response(201, answer, call.form);
}

Task<Result<net::Response>> handle_connect(Call& call) {
  ObjectPtr object = call.server.store().get(call.resource->collection, call.ns(), call.info.name);
  if (object == nullptr) {
    co_return fail(not_found_error(*call.resource, call.info.name));
  }
  ConnectHandler* connect = call.server.parts.connect;
  if (connect == nullptr || call.resource->qualified_name() != "pods") {
    co_return fail(not_implemented("no node serves " + call.resource->plural + "/" +
                                   call.info.subresource + " here"));
  }
  User user = call.user;
  RequestInfo info = call.info;
  net::Request request = std::move(call.request);
  co_return co_await connect->connect(std::move(user), std::move(info), std::move(object),
                                      std::move(request));
}

}  // namespace codeflare::apiserver::internal
