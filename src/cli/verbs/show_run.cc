#include "cli/verbs/show_run.h"

#include "cli/verbs/internal/session_flags.h"
#include "cli/verbs/internal/show_kind.h"
#include "cli/views/run_view.h"
#include "model/codec/platform.h"
#include "model/resources.h"

#include <memory>
#include <utility>
#include <vector>

namespace codeflare::cli {

namespace {

using Flags = internal::Typed<ShowRunFlags>;

template <Task<int> (*run)(Session&, ShowRunFlags)>
void add_list(CLI::App& verb, Chosen& chosen) {
  auto typed = std::make_shared<Flags>();
  verb.add_flag("-A,--all-namespaces,--all", typed->flags.all_namespaces, "every namespace");
  verb.add_option("-l,--selector", typed->flags.selector, "only these labels: app=web,tier!=test")
      ->type_name("LABELS");
  internal::finish(verb, chosen, typed, run);
}

void add_sizes(CLI::App& verb, Chosen& chosen) {
  auto typed = std::make_shared<Flags>();
  internal::finish(verb, chosen, typed, run_list_sizes);
}

template <Task<int> (*run)(Session&, ShowRunFlags)>
void add_one(CLI::App& verb, Chosen& chosen) {
  auto typed = std::make_shared<Flags>();
  verb.add_option("NAME,--name", typed->flags.name, "name of the run")->required();
  internal::finish(verb, chosen, typed, run);
}

template <typename T>
Task<int> list_of(Session& session, ShowRunFlags flags, std::string singular,
                  internal::RenderMany<T> render, std::string instead = {}) {
  internal::ListedKind listed{std::move(singular), flags.all_namespaces, std::move(flags.selector),
                              std::move(instead)};
  co_return co_await internal::list_kind<T>(session, std::move(listed), render);
}

Task<int> one_run(Session& session, ShowRunFlags flags, internal::RenderOne<model::Run> render) {
  internal::NamedOne which{"run", std::move(flags.name)};
  co_return co_await internal::show_one<model::Run>(session, std::move(which), render);
}

}  // namespace

constinit const Verb kListRun = {.word = "list",
                                 .noun = "run",
                                 .about = "List runs of applications",
                                 .examples = "codeflare list run -A",
                                 .add = add_list<run_list_run>};
constinit const Verb kListApplications = {.word = "list",
                                          .noun = "applications",
                                          .about = "List applications that runs can use",
                                          .examples = "codeflare list applications",
                                          .add = add_list<run_list_applications>};
constinit const Verb kListDataSets = {.word = "list",
                                      .noun = "datasets",
                                      .about = "List data sets",
                                      .examples = "codeflare list datasets",
                                      .add = add_list<run_list_datasets>};
constinit const Verb kListSizes = {.word = "list",
                                   .noun = "sizes",
                                   .about = "List sizes of runs and their resources",
                                   .examples = "codeflare list sizes",
                                   .add = add_sizes};
constinit const Verb kStatusRun = {.word = "status",
                                   .noun = "run",
                                   .about = "Show where a run is and why",
                                   .examples = "codeflare status run train",
                                   .add = add_one<run_status_run>};
constinit const Verb kDetailsRun = {.word = "details",
                                    .noun = "run",
                                    .about = "Show status and every value of a run",
                                    .examples = "codeflare details run train",
                                    .add = add_one<run_details_run>};

Task<int> run_list_run(Session& session, ShowRunFlags flags) {
  co_return co_await list_of<model::Run>(session, std::move(flags), "run", render_runs,
                                         "work of 'codeflare run' is in 'codeflare list job'");
}

Task<int> run_list_applications(Session& session, ShowRunFlags flags) {
  co_return co_await list_of<model::Application>(session, std::move(flags), "application",
                                                 render_applications);
}

Task<int> run_list_datasets(Session& session, ShowRunFlags flags) {
  co_return co_await list_of<model::DataSet>(session, std::move(flags), "dataset",
                                             render_data_sets);
}

Task<int> run_list_sizes(Session& session, ShowRunFlags /*flags*/) {
  const model::ResourceType type = model::resource_type<model::RunSizeConfiguration>();
  const Result<kube::ObjectList> list = co_await session.client().list_all(type, {});
  if (!list) {
    co_return report_coded(session.console(), list.error());
  }
  std::vector<TypedObject> objects;
  std::vector<model::RunSizeConfiguration> configurations;
  for (const kube::ObjectRef& object : list->items) {
    objects.push_back({type, "runsizeconfiguration", object});
    if (auto each = object->as<model::RunSizeConfiguration>()) {
      configurations.push_back(*std::move(each));
    }
  }
  session.console().out(is_table(session.output())
                            ? render_sizes(platform::size_table(std::move(configurations)))
                            : render_objects(objects, session.output(), true));
  co_return kDone;
}

Task<int> run_status_run(Session& session, ShowRunFlags flags) {
  co_return co_await one_run(session, std::move(flags), render_run_status);
}

Task<int> run_details_run(Session& session, ShowRunFlags flags) {
  co_return co_await one_run(session, std::move(flags), render_run_details);
}

}  // namespace codeflare::cli
