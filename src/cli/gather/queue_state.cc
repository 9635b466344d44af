#include "cli/gather/queue_state.h"

#include "cli/gather/namespace_hint.h"
#include "cli/gather/wrappers.h"
#include "cli/views/kinds.h"
#include "model/config_map.h"
#include "model/quota_subtree.h"
#include "model/resources.h"
#include "queue/marks.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace codeflare::cli {

Task<QueueNote> read_note(Session& session, std::string controller_ns) {
  const Result<kube::ObjectRef> map = co_await session.client().get(
      model::resource_type<model::ConfigMap>(),
      {std::move(controller_ns), std::string(queue::kQueueConfigMap)});
  QueueNote note;
  if (map) {
    note.paused = (*map)->string_at({"data", "paused"}) == "true";
    note.settings = queue::settings_from((*map)->string_at({"data", "settings"}));
  } else if (map.error().code != ErrorCode::not_found) {
    note.unseen = map.error().message;
  }
  co_return note;
}

Task<Result<QueueState>> look_at_queue(Session& session, std::string controller_ns) {
  QueueState state;
  Result<WrapperList> list = co_await list_wrappers(session, app_wrapper_kind(), "", "");
  if (!list && list.error().code == ErrorCode::permission_denied) {
    state.ns = session.ns();
    std::string ns = session.ns();
    list = co_await list_wrappers(session, app_wrapper_kind(), std::move(ns), "");
  }
  if (!list) {
    co_return fail(with_namespace_hint(session, std::move(list).error(), state.ns));
  }
  state.wrappers = std::move(list->wrappers);
  // Most clusters do not have them.
  std::string ns = state.ns;
  Result<WrapperList> legacy =
      co_await list_wrappers(session, legacy_app_wrapper_kind(), std::move(ns), "");
  state.legacy = legacy.has_value();
  if (legacy) {
    std::ranges::move(legacy->wrappers, std::back_inserter(state.wrappers));
  }
  state.note = co_await read_note(session, std::move(controller_ns));
  const Result<kube::ObjectList> trees =
      co_await session.client().list_all(model::resource_type<model::QuotaSubtree>(), {});
  for (const kube::ObjectRef& each : trees ? trees->items : std::vector<kube::ObjectRef>()) {
    if (std::string tree(each->string_at({"metadata", "labels", "tree"})); !tree.empty()) {
      state.trees.insert(std::move(tree));
    }
  }
  co_return state;
}

void tell_scope(Session& session, const QueueState& state) {
  if (!state.ns.empty()) {
    session.console().err("note: you can list AppWrappers of namespace " + state.ns +
                          " only; positions leave out other namespaces\n");
  }
}

}  // namespace codeflare::cli
