#include "cli/queue_verbs.h"

#include "cli/internal/queue_watch.h"
#include "cli/kinds.h"
#include "cli/queue_view.h"
#include "cli/wrapper_verbs.h"
#include "json/write.h"
#include "kube/ensure_namespace.h"
#include "model/config_map.h"
#include "model/resources.h"

#include <utility>

namespace codeflare::cli {

namespace {

model::ResourceType config_maps() {
  return model::resource_type<model::ConfigMap>();
}

std::string config_map_json(std::string_view ns, bool paused) {
  std::string text;
  json::Writer w(text);
  w.begin_object().member("apiVersion", "v1").member("kind", "ConfigMap");
  w.key("metadata").begin_object().member("name", kQueueConfigMap).member("namespace", ns);
  w.end_object().key("data").begin_object().member("paused", paused ? "true" : "false");
  w.end_object().end_object();
  return text;
}

Task<Result<kube::ObjectRef>> create_config_map(Session& session, std::string ns, bool paused) {
  std::string body = config_map_json(ns, paused);
  Result<kube::ObjectRef> made =
      co_await session.client().create(config_maps(), ns, std::move(body));
  if (made || made.error().code != ErrorCode::not_found) {
    co_return made;
  }
  CO_TRY(co_await kube::ensure_namespace(session.client(), ns));
  std::string again = config_map_json(ns, paused);
  co_return co_await session.client().create(config_maps(), std::move(ns), std::move(again));
}

Task<Result<kube::ObjectRef>> set_paused(Session& session, std::string ns, bool paused) {
  std::string patch = paused ? R"({"data":{"paused":"true"}})" : R"({"data":{"paused":"false"}})";
  Result<kube::ObjectRef> changed = co_await session.client().patch(
      config_maps(), {ns, std::string(kQueueConfigMap)}, kube::PatchKind::merge, std::move(patch));
  if (changed || changed.error().code != ErrorCode::not_found) {
    co_return changed;
  }
  co_return co_await create_config_map(session, std::move(ns), paused);
}

}  // namespace

Task<int> run_pause(Session& session, QueueFlags flags, bool pause) {
  Result<kube::ObjectRef> changed =
      co_await set_paused(session, std::move(flags.controller_ns), pause);
  if (!changed) {
    co_return report(session.console(), changed.error(),
                     "ConfigMap " + std::string(kQueueConfigMap));
  }
  if (is_table(session.output())) {
    session.console().out(pause ? "queue paused: what runs goes on, nothing new starts\n"
                                : "queue resumed\n");
  } else {
    session.console().out(render_objects({{config_maps(), "configmap", *std::move(changed)}},
                                         session.output(), false));
  }
  co_return kDone;
}

Task<int> run_queue(Session& session, QueueFlags flags) {
  if (session.output() == Output::yaml || session.output() == Output::name) {
    co_return report_usage(session.console(), "queue prints a table, -o wide or -o json");
  }
  if (flags.watch) {
    co_return co_await internal::watch_queue(session, std::move(flags.controller_ns));
  }
  Result<internal::QueueState> state =
      co_await internal::look_at_queue(session, std::move(flags.controller_ns));
  if (!state) {
    co_return report(session.console(), state.error());
  }
  internal::tell_scope(session, *state);
  const QueueView queue =
      queue_of(state->wrappers, state->note.settings, state->note.paused, session.now());
  const QueueOptions options{.ns = session.ns_given() ? session.ns() : "",
                             .wide = session.output() == Output::wide};
  session.console().out(session.output() == Output::json
                            ? queue_json(queue, options, session.now())
                            : render_queue(queue, options, session.now()));
  co_return kDone;
}

}  // namespace codeflare::cli
