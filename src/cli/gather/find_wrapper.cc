#include "cli/gather/find_wrapper.h"

#include <utility>

namespace codeflare::cli {

namespace {

// "appwrapper.workload.codeflare.dev train": means that one alone.
std::string in_full(const KnownKind& kind, const std::string& name) {
  return kind.singular + "." + kind.type.group + " " + name;
}

// The one of MCAD's group; null when there is none. Where the server has no such kind nobody may
// look for it.
Task<Result<kube::ObjectRef>> find_legacy(Session& session, std::string name) {
  Result<kube::ObjectRef> object = co_await session.client().get(legacy_app_wrapper_kind().type,
                                                                 {session.ns(), std::move(name)});
  if (!object && (object.error().code == ErrorCode::not_found ||
                  object.error().code == ErrorCode::permission_denied)) {
    co_return kube::ObjectRef();
  }
  co_return object;
}

}  // namespace

Task<Result<FoundWrapper>> find_wrapper(Session& session, KnownKind kind, std::string name,
                                        Use use) {
  Result<kube::ObjectRef> object = co_await session.client().get(kind.type, {session.ns(), name});
  kube::ObjectRef legacy;
  if (kind.any_group && (object || object.error().code == ErrorCode::not_found)) {
    CO_TRY_ASSIGN(legacy, co_await find_legacy(session, name));
  }
  if (!object && legacy != nullptr) {
    co_return FoundWrapper{legacy_app_wrapper_kind(), std::move(legacy)};
  }
  if (!object) {
    co_return fail(name_missing_kind(std::move(object).error(), kind, session.server()));
  }
  if (legacy != nullptr) {
    const std::string ours = in_full(kind, name);
    const std::string other = in_full(legacy_app_wrapper_kind(), name);
    if (use == Use::change) {
      co_return fail(
          failed_precondition("there are two of this name: say " + ours + " or " + other));
    }
    session.console().err("there are two of this name: this is " + ours + ", the other is " +
                          other + "\n");
  }
  co_return FoundWrapper{std::move(kind), *std::move(object)};
}

}  // namespace codeflare::cli
