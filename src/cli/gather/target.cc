#include "cli/gather/target.h"

#include <utility>

namespace codeflare::cli {

Task<Result<Target>> find_target(Session& session, Manifest manifest) {
  const model::GroupVersion version = model::parse_api_version(manifest.api_version);
  CO_TRY_ASSIGN(kube::ApiResource resource,
                co_await session.discovery().find(manifest.kind, version.group, version.version));
  Target target{std::move(resource), {"", manifest.name}};
  if (!target.resource.type.namespaced) {
    co_return target;
  }
  if (session.ns_given() && !manifest.ns.empty() && manifest.ns != session.ns()) {
    co_return fail(invalid_argument("namespace is " + manifest.ns + ", but -n is " + session.ns()));
  }
  target.key.ns = manifest.ns.empty() ? session.ns() : manifest.ns;
  co_return target;
}

}  // namespace codeflare::cli
