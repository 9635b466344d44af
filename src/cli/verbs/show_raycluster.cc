#include "cli/verbs/show_raycluster.h"

#include "cli/verbs/internal/cluster_flags.h"
#include "cli/verbs/internal/session_flags.h"
#include "cli/views/cluster_view.h"
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
  internal::finish(verb, chosen, typed, run_status_raycluster);
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
  internal::finish(verb, chosen, typed, run_list_raycluster);
}

void add_get(CLI::App& verb, Chosen& chosen) {
  auto typed = std::make_shared<Flags>();
  internal::add_cluster_name(verb, typed->flags.name);
  add_many(verb, *typed);
  internal::finish(verb, chosen, typed, run_get_raycluster);
}

using Render = std::string (*)(const ClusterInfo&, WallTime);

Task<int> show_one(Session& session, ShowRayClusterFlags flags, Render render) {
  if (flags.name.empty()) {
    co_return report_usage(session.console(), "NAME is missing: the name of the cluster");
  }
  sdk::Clusters clusters(session.client(), session.discovery());
  const Result<ClusterInfo> info = co_await clusters.get({session.ns(), flags.name});
  if (!info) {
    co_return report_coded(session.console(), info.error(), "raycluster " + flags.name);
  }
  if (session.output() == Output::name) {
    session.console().out("raycluster/" + info->key.name + "\n");
  } else if (is_table(session.output())) {
    session.console().out(render(*info, session.now()));
  } else {
    session.console().out(machine_text(
        [&](json::Arena& arena) { return sdk::to_json(arena, *info); }, session.output()));
  }
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
    .about = "Show status, sizes, pods and addresses of a Ray cluster",
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
  co_return co_await show_one(session, std::move(flags), render_cluster_status);
}

Task<int> run_details_raycluster(Session& session, ShowRayClusterFlags flags) {
  co_return co_await show_one(session, std::move(flags), render_cluster_details);
}

Task<int> run_list_raycluster(Session& session, ShowRayClusterFlags flags) {
  sdk::Clusters clusters(session.client(), session.discovery());
  std::string ns = flags.all_namespaces ? "" : session.ns();
  const Result<std::vector<ClusterInfo>> infos =
      co_await clusters.list(std::move(ns), std::move(flags.selector));
  if (!infos) {
    co_return report_coded(session.console(), infos.error());
  }
  if (session.output() == Output::name) {
    for (const ClusterInfo& info : *infos) {
      session.console().out("raycluster/" + info.key.name + "\n");
    }
  } else if (!is_table(session.output())) {
    session.console().out(machine_text(
        [&](json::Arena& arena) {
          json::Value list = json::Value::array();
          for (const ClusterInfo& info : *infos) {
            list.push_back(arena, sdk::to_json(arena, info));
          }
          return list;
        },
        session.output()));
  } else if (infos->empty()) {
    session.console().err(flags.all_namespaces
                              ? "no Ray clusters found\n"
                              : "no Ray clusters found in namespace " + session.ns() + "\n");
  } else {
    session.console().out(render_clusters(*infos, session.now()));
  }
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
