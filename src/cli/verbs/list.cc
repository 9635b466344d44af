#include "cli/verbs/list.h"

#include "cli/gather/causes.h"
#include "cli/gather/clusters.h"
#include "cli/gather/namespace_hint.h"
#include "cli/gather/wrappers.h"
#include "cli/verbs/internal/session_flags.h"
#include "cli/views/kinds.h"
#include "cli/views/wrapper_view.h"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace codeflare::cli {

namespace {

void add_options(CLI::App& verb, Chosen& chosen) {
  auto typed = std::make_shared<internal::Typed<ListFlags>>();
  verb.add_option("KIND", typed->flags.kind, "kind of the objects: appwrapper (aw), the default");
  verb.add_flag("-A,--all-namespaces,--all", typed->flags.all_namespaces,
                "list objects of all namespaces");
  verb.add_option("-l,--selector", typed->flags.selector,
                  "label selector, such as app=web,tier!=test")
      ->type_name("LABELS");
  internal::finish(verb, chosen, typed, run_list);
}

}  // namespace

constinit const Verb kList = {.word = "list",
                              .about = "List work with state, pods, reason and age",
                              .examples = "codeflare list -A -o wide",
                              .add = add_options};

Task<int> run_list(Session& session, ListFlags flags) {
  const Result<KnownKind> kind = parse_kind(flags.kind.empty() ? "appwrapper" : flags.kind);
  if (!kind) {
    co_return report_usage(session.console(), kind.error().message);
  }
  std::string ns = flags.all_namespaces ? "" : session.ns();
  Result<WrapperList> list = co_await list_groups(session, *kind, ns, flags.selector);
  if (!list && flags.all_namespaces && list.error().code == ErrorCode::permission_denied) {
    ns = session.ns();
    list = co_await list_groups(session, *kind, ns, flags.selector);
    if (list) {
      session.console().err("note: you can list " + kind->type.plural + " of namespace " + ns +
                            " only; use -n for other namespaces\n");
    }
  }
  if (!list) {
    co_return report(session.console(), with_namespace_hint(session, list.error(), ns));
  }
  if (!is_table(session.output())) {
    session.console().out(render_objects(list->objects, session.output(), true));
    co_return kDone;
  }
  if (list->objects.empty()) {
    session.console().err(flags.all_namespaces ? "no " + kind->type.plural + " found\n"
                                               : "no " + kind->type.plural +
                                                     " found in namespace " + session.ns() + "\n");
    co_return kDone;
  }
  std::vector<GroupedWrapper> wrappers = list->wrappers;
  const std::map<std::string, Cause> causes =
      co_await gather_causes(session, std::move(ns), std::move(wrappers));
  std::vector<WrapperView> views;
  for (const GroupedWrapper& wrapper : list->wrappers) {
    views.push_back(view_of(wrapper));
    if (const auto cause = causes.find(wrapper.metadata.uid); cause != causes.end()) {
      add_cause(views.back(), cause->second);
    }
  }
  const bool clusters = co_await has_workers(session);
  session.console().out(render_list(std::move(views),
                                    {.all_namespaces = flags.all_namespaces,
                                     .wide = session.output() == Output::wide,
                                     .clusters = clusters},
                                    session.now()));
  co_return kDone;
}

}  // namespace codeflare::cli
