#include "apiserver/rest/internal/errors.h"
#include "apiserver/rest/internal/handlers.h"
#include "apiserver/rest/internal/list_options.h"
#include "apiserver/rest/internal/response.h"

namespace codeflare::apiserver::internal {

constexpr Duration kFreshnessWait = std::chrono::seconds(3);

Task<Result<void>> wait_for_revision(Server& server, Revision revision) {
  if (revision <= server.store().revision()) {
    co_return {};
  }
  Result<void> waited = co_await server.store().wait_for(revision, kFreshnessWait);
  if (!waited && waited.error().code == ErrorCode::deadline_exceeded) {
    co_return fail(version_too_large(revision, server.store().revision()));
  }
  co_return waited;
}

Task<Result<net::Response>> handle_get(Call& call) {
  CO_TRY_ASSIGN(ListOptions options, ListOptions::parse(call.info, false));
  CO_TRY(co_await wait_for_revision(call.server, options.revision));
  ObjectPtr object = call.server.store().get(call.resource->collection, call.ns(), call.info.name);
  if (object == nullptr) {
    co_return fail(not_found_error(*call.resource, call.info.name));
  }
  const Output output = call.output();
  if (output.form.view == View::object && !output.form.pretty &&
      output.shows(object->api_version())) {
    co_return json_response(200, object->text());  // as it is stored: nothing to encode
  }
  co_return co_await object_response(call, 200, object->text());
}

}  // namespace codeflare::apiserver::internal
