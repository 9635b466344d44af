#include "cli/verbs/hold.h"

#include "cli/gather/find_wrapper.h"
#include "cli/gather/wrappers.h"
#include "cli/session/output.h"
#include "cli/verbs/internal/session_flags.h"
#include "cli/views/kinds.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace codeflare::cli {

namespace {

struct Held {
  TypedObject object;
  const char* done;  // "held", "released"
};

// Why neither holding nor releasing it means anything any more; empty otherwise.
std::string why_not_held(const model::AppWrapper& wrapper) {
  if (wrapper.metadata.deleting()) {
    return "is being deleted";
  }
  return model::is_terminal(wrapper.status) ? "has already finished (" + wrapper.status.state + ")"
                                            : "";
}

Task<Result<Held>> hold_one(Session& session, KnownKind kind, std::string name, bool hold) {
  CO_TRY_ASSIGN(FoundWrapper found,
                co_await find_wrapper(session, std::move(kind), std::move(name), Use::change));
  CO_TRY_ASSIGN(const GroupedWrapper wrapper, decode_wrapper(found.kind, found.object));
  TypedObject typed{found.kind.type, found.kind.singular, std::move(found.object)};
  if (const std::string why = why_not_held(wrapper); !why.empty()) {
    co_return fail(failed_precondition(typed.qualified_name() + " " + why +
                                       ": there is nothing to " + (hold ? "hold" : "release") +
                                       "; nothing was changed"));
  }
  if (wrapper.spec.suspend.value_or(false) == hold) {
    co_return Held{std::move(typed), hold ? "is already held" : "is not held"};
  }
  std::string patch = hold ? R"({"spec":{"suspend":true}})" : R"({"spec":{"suspend":false}})";
  CO_TRY_ASSIGN(typed.object,
                co_await session.client().patch(typed.type, typed.object->key(),
                                                kube::PatchKind::merge, std::move(patch)));
  co_return Held{std::move(typed), hold ? "held" : "released"};
}

template <bool hold>
void add_options(CLI::App& verb, Chosen& chosen) {
  auto typed = std::make_shared<internal::Typed<NameFlags>>();
  verb.add_option("KIND", typed->flags.kind, internal::kKindHelp)->required();
  verb.add_option("NAME", typed->flags.names, "names of the objects");
  internal::finish<NameFlags>(verb, chosen, typed, [](Session& session, NameFlags flags) {
    return run_hold(session, std::move(flags), hold);
  });
}

}  // namespace

constinit const Verb kHold = {
    .word = "hold",
    .about = "Keep work from starting, or stop it and return it to the queue",
    .examples = "codeflare hold train",
    .add = add_options<true>,
    .takes_kind = true};

constinit const Verb kRelease = {.word = "release",
                                 .about = "Let held work start",
                                 .examples = "codeflare release train",
                                 .add = add_options<false>,
                                 .takes_kind = true};

Task<int> run_hold(Session& session, NameFlags flags, bool hold) {
  const Result<KindNames> typed = read_names(flags.kind, flags.names);
  if (!typed) {
    co_return report_usage(session.console(), typed.error().message);
  }
  int code = kDone;
  std::vector<TypedObject> changed;
  for (const std::string& each : typed->names) {
    std::string name = each;
    Result<Held> held = co_await hold_one(session, typed->kind, std::move(name), hold);
    if (!held) {
      code = both(code, report(session.console(), held.error(), typed->kind.singular + " " + each));
      continue;
    }
    if (is_table(session.output())) {
      session.console().out(held->object.qualified_name() + " " + held->done + "\n");
    }
    changed.push_back(std::move(held->object));
  }
  if (!is_table(session.output()) && !changed.empty()) {
    session.console().out(render_objects(changed, session.output(), false));
  }
  co_return code;
}

}  // namespace codeflare::cli
