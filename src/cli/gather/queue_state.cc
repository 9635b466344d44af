#include "cli/gather/queue_state.h"

#include "cli/gather/namespace_hint.h"
#include "cli/gather/training_jobs.h"
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

Task<std::set<std::string>> quota_trees(Session& session) {
  std::set<std::string> names;
  const Result<kube::ObjectList> subtrees =
      co_await session.client().list_all(model::resource_type<model::QuotaSubtree>(), {});
  for (const kube::ObjectRef& each : subtrees ? subtrees->items : std::vector<kube::ObjectRef>()) {
    if (std::string tree(each->string_at({"metadata", "labels", "tree"})); !tree.empty()) {
      names.insert(std::move(tree));
    }
  }
  co_return names;
}

Task<void> look_at_jobs(Session& session, QueueState& state) {
  std::string ns = state.ns;
  Result<std::vector<model::TrainingJob>> jobs =
      co_await list_standalone_jobs(session, std::move(ns));
  state.jobs_unseen = jobs ? "" : jobs.error().message;
  if (jobs) {
    state.jobs = *std::move(jobs);
  }
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
  co_await look_at_jobs(session, state);
  state.note = co_await read_note(session, std::move(controller_ns));
  state.trees = co_await quota_trees(session);
  co_return state;
}

void tell_scope(Session& session, const QueueState& state) {
  if (!state.ns.empty()) {
    session.console().err("note: you can list AppWrappers of namespace " + state.ns +
                          " only; positions leave out other namespaces\n");
  }
  if (!state.jobs_unseen.empty()) {
    session.console().err("note: TrainingJobs are left out: " + state.jobs_unseen + "\n");
  }
}

}  // namespace codeflare::cli
