#include "cli/verbs/show_raycluster.h"

#include "cli/gather/namespace_hint.h"
#include "cli/verbs/internal/cluster_extras.h"
#include "cli/verbs/internal/cluster_flags.h"
#include "cli/verbs/internal/session_flags.h"
#include "cli/verbs/internal/watch_view.h"
#include "cli/views/cluster_view.h"
#include "model/app_wrapper.h"
#include "model/ray_cluster.h"
#include "model/resources.h"
#include "sdk/cluster_json.h"

#include <memory>
#include <utility>

namespace codeflare::cli {

namespace {

using Flags = internal::Typed<ShowRayClusterFlags>;
using sdk::ClusterInfo;

void add_status(CLI::App& verb, Chosen& chosen) {
  auto typed = std::make_shared<Flags>();
  internal::add_cluster_name(verb, typed->flags.name);
  internal::finish_watchable(verb, chosen, typed, run_status_raycluster);
}

void add_details(CLI::App& verb, Chosen& chosen) {
  auto typed = std::make_shared<Flags>();
  internal::add_cluster_name(verb, typed->flags.name);
  internal::finish(verb, chosen, typed, run_details_raycluster);
}

void add_many(CLI::App& verb, Flags& typed) {
  verb.add_flag("-A,--all-namespaces,--all", typed.flags.all_namespaces, "every namespace");
  verb.add_option("-l,--selector", typed.flags.selector,
                  "label selector, such as app=web,tier!=test")
      ->type_name("LABELS");
}

void add_list(CLI::App& verb, Chosen& chosen) {
  auto typed = std::make_shared<Flags>();
  add_many(verb, *typed);
  internal::finish_watchable(verb, chosen, typed, run_list_raycluster);
}

void add_get(CLI::App& verb, Chosen& chosen) {
  auto typed = std::make_shared<Flags>();
  internal::add_cluster_name(verb, typed->flags.name);
  add_many(verb, *typed);
  internal::finish(verb, chosen, typed, run_get_raycluster);
}

// `status` or `details`.
struct Form {
  std::string (*render)(const ClusterInfo&, WallTime);
  bool details = false;
};

struct OneCluster {
  ClusterInfo info;
  internal::ClusterExtras extras;
};

std::string one_text(const OneCluster& cluster, Output output, Form form, WallTime now) {
  if (output == Output::name) {
    return "raycluster/" + cluster.info.key.name + "\n";
  }
  if (is_table(output)) {
    return form.render(cluster.info, now) + internal::render_extras(cluster.extras, now);
  }
  return machine_text(
      [&](json::Arena& arena) {
        json::Value object = sdk::to_json(arena, cluster.info);
        internal::add_extras(arena, object, cluster.extras);
        return object;
      },
      output);
}

std::string all_text(const std::vector<ClusterInfo>& infos, Output output, WallTime now) {
  if (output == Output::name) {
    std::string names;
    for (const ClusterInfo& info : infos) {
      names += "raycluster/" + info.key.name + "\n";
    }
    return names;
  }
  if (is_table(output)) {
    return infos.empty() ? "" : render_clusters(infos, now);
  }
  return machine_text(
      [&](json::Arena& arena) {
        json::Value list = json::Value::array();
        for (const ClusterInfo& info : infos) {
          list.push_back(arena, sdk::to_json(arena, info));
        }
        return list;
      },
      output);
}

std::vector<model::ResourceType> watched_kinds() {
  return {model::resource_type<model::AppWrapper>(), model::resource_type<model::RayCluster>()};
}

Task<Result<internal::Look>> look_at(Session& session, std::string name, Form form) {
  sdk::Clusters clusters(session.client(), session.discovery());
  OneCluster cluster;
  CO_TRY_ASSIGN(cluster.info, co_await clusters.get({session.ns(), std::move(name)}));
  const Output output = session.output();
  if (output != Output::name) {
    ClusterInfo info = cluster.info;
    cluster.extras = co_await internal::gather_extras(session, std::move(info), form.details);
  }
  co_return internal::Look{.render = [cluster = std::move(cluster), output, form](WallTime now) {
    return one_text(cluster, output, form, now);
  }};
}

Task<Result<internal::Look>> look_at_all(Session& session, std::string ns, std::string selector) {
  sdk::Clusters clusters(session.client(), session.discovery());
  CO_TRY_ASSIGN(std::vector<ClusterInfo> infos,
                co_await clusters.list(std::move(ns), std::move(selector)));
  const Output output = session.output();
  co_return internal::Look{.render = [infos = std::move(infos), output](WallTime now) {
    return all_text(infos, output, now);
  }};
}

Task<int> show_one(Session& session, ShowRayClusterFlags flags, Form form) {
  if (flags.name.empty()) {
    co_return report_usage(session.console(), "NAME is missing: the name of the cluster");
  }
  if (flags.watch) {
    co_return co_await internal::watch_view(
        session, {.kinds = watched_kinds(), .ns = session.ns(), .look = [&session, &flags, form] {
                    return look_at(session, flags.name, form);
                  }});
  }
  const Result<internal::Look> look = co_await look_at(session, flags.name, form);
  if (!look) {
    co_return report_coded(session.console(),
                           with_namespace_hint(session, look.error(), session.ns()),
                           "raycluster " + flags.name);
  }
  session.console().out(look->render(session.now()));
  co_return kDone;
}

}  // namespace

constinit const Verb kStatusRayCluster = {.word = "status",
                                          .noun = "raycluster",
                                          .about = "Show where a Ray cluster is and why",
                                          .examples = "codeflare status raycluster demo",
                                          .add = add_status};
constinit const Verb kDetails = {.word = "details",
                                 .about = "Show everything about an object",
                                 .examples = "codeflare details raycluster demo"};
constinit const Verb kDetailsRayCluster = {
    .word = "details",
    .noun = "raycluster",
    .about = "Show status, sizes, pods, addresses, jobs and last Events of a Ray cluster",
    .examples = "codeflare details raycluster demo",
    .add = add_details};
constinit const Verb kListRayCluster = {.word = "list",
                                        .noun = "raycluster",
                                        .about = "List Ray clusters, queued ones included",
                                        .examples = "codeflare list raycluster --all",
                                        .add = add_list};
constinit const Verb kGet = {.word = "get",
                             .about = "Print objects as the server has them",
                             .examples = "codeflare get raycluster demo"};
constinit const Verb kGetRayCluster = {.word = "get",
                                       .noun = "raycluster",
                                       .about = "Print RayClusters as the server has them (YAML)",
                                       .examples = "codeflare get raycluster demo -o json",
                                       .add = add_get};

Task<int> run_status_raycluster(Session& session, ShowRayClusterFlags flags) {
  co_return co_await show_one(session, std::move(flags), {.render = render_cluster_status});
}

Task<int> run_details_raycluster(Session& session, ShowRayClusterFlags flags) {
  co_return co_await show_one(session, std::move(flags),
                              {.render = render_cluster_details, .details = true});
}

Task<int> run_list_raycluster(Session& session, ShowRayClusterFlags flags) {
  const std::string ns = flags.all_namespaces ? "" : session.ns();
  if (flags.watch) {
    co_return co_await internal::watch_view(
        session, {.kinds = watched_kinds(), .ns = ns, .look = [&session, &ns, &flags] {
                    return look_at_all(session, ns, flags.selector);
                  }});
  }
  const Result<internal::Look> look = co_await look_at_all(session, ns, flags.selector);
  if (!look) {
    co_return report_coded(session.console(), with_namespace_hint(session, look.error(), ns));
  }
  const std::string text = look->render(session.now());
  if (text.empty() && is_table(session.output())) {
    session.console().err(ns.empty() ? "no Ray clusters found\n"
                                     : "no Ray clusters found in namespace " + ns + "\n");
  }
  session.console().out(text);
  co_return kDone;
}

Task<int> run_get_raycluster(Session& session, ShowRayClusterFlags flags) {
  const model::ResourceType type = model::resource_type<model::RayCluster>();
  const Output output = is_table(session.output()) ? Output::yaml : session.output();
  std::vector<TypedObject> objects;
  if (!flags.name.empty()) {
    const Result<kube::ObjectRef> object =
        co_await session.client().get(type, {session.ns(), flags.name});
    if (!object) {
      co_return report_coded(session.console(), object.error(), "raycluster " + flags.name);
    }
    objects.push_back({type, "raycluster", *object});
  } else {
    kube::ListOptions which{.ns = flags.all_namespaces ? "" : session.ns(),
                            .label_selector = flags.selector};
    const Result<kube::ObjectList> list =
        co_await session.client().list_all(type, std::move(which));
    if (!list) {
      co_return report_coded(session.console(), list.error());
    }
    for (const kube::ObjectRef& object : list->items) {
      objects.push_back({type, "raycluster", object});
    }
  }
  session.console().out(render_objects(objects, output, flags.name.empty()));
  co_return kDone;
}

}  // namespace codeflare::cli
