#include "cli/gather/quota_state.h"

#include "cli/gather/queue_state.h"
#include "model/codec/quota_subtree.h"
#include "model/resources.h"
#include "queue/marks.h"

#include <utility>

namespace codeflare::cli {

namespace {

Error about_trees(const Error& error, const std::string& ns) {
  if (error.code == ErrorCode::not_found) {
    return not_found(
        "the server has no QuotaSubtrees; run 'codeflare crds apply' to install the definition");
  }
  if (error.code == ErrorCode::permission_denied) {
    return permission_denied("you cannot list QuotaSubtrees in namespace " + ns +
                             "; use -n with the namespace of the quota tree");
  }
  return error;
}

}  // namespace

Task<Result<QuotaState>> look_at_quota(Session& session) {
  const model::ResourceType type = model::resource_type<model::QuotaSubtree>();
  QuotaState state;
  std::string ns = session.ns_given() ? session.ns() : "";
  Result<kube::ObjectList> list = co_await session.client().list_all(type, {.ns = ns});
  if (!list && list.error().code == ErrorCode::permission_denied && ns.empty()) {
    ns = session.ns();
    state.subtrees_ns = ns;
    list = co_await session.client().list_all(type, {.ns = ns});
  }
  if (!list) {
    co_return fail(about_trees(list.error(), ns));
  }
  for (const kube::ObjectRef& object : list->items) {
    CO_TRY_ASSIGN(model::QuotaSubtree subtree, object->as<model::QuotaSubtree>());
    state.subtrees.push_back(std::move(subtree));
  }
  Result<QueueState> queue =
      co_await look_at_queue(session, std::string(queue::kControllerNamespace));
  if (!queue) {
    co_return fail(std::move(queue).error());
  }
  state.wrappers = std::move(queue->wrappers);
  state.wrappers_ns = std::move(queue->ns);
  co_return state;
}

void tell_scope(Session& session, const QuotaState& state) {
  if (!state.subtrees_ns.empty()) {
    session.console().err("note: you can list QuotaSubtrees of namespace " + state.subtrees_ns +
                          " only\n");
  }
  if (!state.wrappers_ns.empty()) {
    session.console().err("note: you can list AppWrappers of namespace " + state.wrappers_ns +
                          " only; WAITING leaves out other namespaces\n");
  }
}

}  // namespace codeflare::cli
