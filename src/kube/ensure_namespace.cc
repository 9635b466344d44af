#include "kube/ensure_namespace.h"

#include "json/write.h"
#include "model/namespace.h"
#include "model/resources.h"

#include <utility>

namespace codeflare::kube {

Task<Result<void>> ensure_namespace(Client& client, std::string name) {
  std::string body;
  json::Writer w(body);
  w.begin_object().member("apiVersion", "v1").member("kind", "Namespace");
  w.key("metadata").begin_object().member("name", name).end_object().end_object();
  const Result<ObjectRef> made =
      co_await client.create(model::resource_type<model::Namespace>(), "", std::move(body));
  if (!made && made.error().code != ErrorCode::already_exists) {
    co_return fail(made.error());
  }
  co_return Result<void>();
}

}  // namespace codeflare::kube
