#include "cli/verbs/create.h"

#include "base/async/sleep.h"
#include "base/async/when.h"
#include "cli/gather/manifest.h"
#include "cli/gather/target.h"
#include "cli/session/output.h"
#include "cli/verbs/internal/session_flags.h"
#include "queue/field_hint.h"

#include <chrono>
#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace codeflare::cli {

namespace {

// How long a kind may take to be served after its definition was created.
constexpr Duration kKindServedWithin = std::chrono::seconds(20);
constexpr std::string_view kDefinition = "CustomResourceDefinition";
constexpr Duration kKindPoll = std::chrono::milliseconds(250);

// Kinds that this very run defines take a moment on a real server.
Task<Result<Target>> find_new_target(Session& session, Manifest manifest, bool kinds_are_new) {
  const Instant deadline = after(session.env().clock.now(), kKindServedWithin);
  ProgressLine progress(session.console());
  while (true) {
    Manifest copy = manifest;
    Result<Target> target = co_await find_target(session, std::move(copy));
    if (target || target.error().code != ErrorCode::not_found || !kinds_are_new ||
        session.env().clock.now() >= deadline) {
      co_return target;
    }
    progress.show("waiting until " + manifest.kind + " of " + manifest.api_version + " is served");
    CO_TRY(co_await sleep_for(kKindPoll));
    CO_TRY(co_await session.discovery().refresh());
  }
}

struct How {
  bool dry_run = false;
  bool kinds_are_new = false;  // this run has defined some
};

Task<Result<TypedObject>> create_one(Session& session, Manifest manifest, How how) {
  std::string body = std::move(manifest.body);
  CO_TRY_ASSIGN(Target target,
                co_await find_new_target(session, std::move(manifest), how.kinds_are_new));
  kube::WriteOptions options{.field_validation = "Strict", .dry_run = how.dry_run};
  CO_TRY_ASSIGN(kube::ObjectRef object,
                co_await session.client().create(target.resource.type, target.key.ns,
                                                 std::move(body), std::move(options)));
  co_return TypedObject{target.resource.type, target.resource.singular, std::move(object)};
}

// The end of the objects that may be created at the same time: of one kind, because one of another
// may need them, and each with a name of its own.
std::size_t together(const std::vector<Manifest>& all, std::size_t begin) {
  constexpr std::size_t kInFlight = 8;
  std::set<std::pair<std::string, std::string>> names;
  std::size_t end = begin;
  while (end < all.size() && end - begin < kInFlight && all[end].kind == all[begin].kind &&
         all[end].api_version == all[begin].api_version &&
         names.emplace(all[end].ns, all[end].name).second) {
    ++end;
  }
  return end;
}

void add_options(CLI::App& verb, Chosen& chosen) {
  auto typed = std::make_shared<internal::Typed<CreateFlags>>();
  verb.add_option("-f,--filename", typed->flags.files,
                  "file or directory with YAML or JSON; - for standard input")
      ->required()
      ->type_name("FILE");
  internal::add_dry_run(verb, typed->flags.dry_run);
  internal::finish(verb, chosen, typed, run_create);
}

}  // namespace

constinit const Verb kCreate = {.word = "create",
                                .about = "Create objects from files",
                                .examples = "codeflare create -f train.yaml -n team-a",
                                .add = add_options};

Task<int> run_create(Session& session, CreateFlags flags) {
  Manifests manifests = read_manifests(session, flags.files);
  int code = kDone;
  for (const Error& error : manifests.errors) {
    code = both(code, report_file(session.console(), error));
  }
  std::vector<TypedObject> created;
  How how{.dry_run = flags.dry_run};
  ProgressLine progress(session.console());
  const std::vector<Manifest>& all = manifests.objects;
  for (std::size_t begin = 0; begin < all.size();) {
    const std::size_t end = together(all, begin);
    std::vector<Task<Result<TypedObject>>> tasks;
    for (std::size_t i = begin; i < end; ++i) {
      tasks.push_back(create_one(session, all[i], how));
    }
    std::vector<Result<TypedObject>> made = co_await when_all(std::move(tasks));
    progress.clear();
    for (std::size_t i = begin; i < end; ++i) {
      Result<TypedObject>& object = made[i - begin];
      if (!object) {
        Error error = std::move(object).error();
        error.message = queue::with_field_hints(error.message);
        code = both(code, report(session.console(), std::move(error).with_context(all[i].where())));
        continue;
      }
      how.kinds_are_new = how.kinds_are_new || object->type.kind == kDefinition;
      if (session.output() == Output::name) {
        session.console().out(object->qualified_name() + "\n");
      } else if (is_table(session.output())) {
        session.console().out(object->qualified_name() + " created" +
                              (flags.dry_run ? " (server dry run)\n" : "\n"));
      }
      created.push_back(*std::move(object));
    }
    begin = end;
    if (begin < all.size()) {
      progress.show("created " + std::to_string(created.size()) + " of " +
                    std::to_string(all.size()));
    }
  }
  progress.clear();
  const bool whole = session.output() == Output::json || session.output() == Output::yaml;
  if (whole && !created.empty()) {
    session.console().out(render_objects(created, session.output(), false));
  }
  co_return code;
}

}  // namespace codeflare::cli
