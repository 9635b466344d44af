#include "cli/verbs/priority.h"

#include "cli/gather/find_wrapper.h"
#include "cli/gather/wrappers.h"
#include "cli/session/output.h"
#include "cli/verbs/internal/session_flags.h"
#include "cli/views/kinds.h"

#include <charconv>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace codeflare::cli {

namespace {

std::optional<std::int32_t> number_in(const std::string& text) {
  std::int32_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && at == end ? std::optional(number) : std::nullopt;
}

void add_options(CLI::App& verb, Chosen& chosen) {
  auto typed = std::make_shared<internal::Typed<PriorityFlags>>();
  verb.add_option("WORDS", typed->flags.words,
                  "NAME N: name of the object and its new priority; KIND may stand before them")
      ->required();
  internal::finish(verb, chosen, typed, run_priority);
}

}  // namespace

constinit const Verb kPriority = {.word = "priority",
                                  .about = "Change the priority of work",
                                  .examples = "codeflare priority train 10",
                                  .add = add_options,
                                  .takes_kind = true};

Task<int> run_priority(Session& session, PriorityFlags flags) {
  const std::optional<std::int32_t> number =
      flags.words.size() < 2 ? std::nullopt : number_in(flags.words.back());
  if (!number || flags.words.size() > 3) {
    co_return report_usage(session.console(),
                           "expected NAME and a whole number, such as: priority train 10");
  }
  flags.words.pop_back();
  const std::string kind = flags.words.front();
  flags.words.erase(flags.words.begin());
  const Result<KindNames> typed = read_names(kind, std::move(flags.words));
  if (!typed) {
    co_return report_usage(session.console(), typed.error().message);
  }
  std::string name = typed->names.front();
  const Result<FoundWrapper> found =
      co_await find_wrapper(session, typed->kind, std::move(name), Use::change);
  const Result<GroupedWrapper> wrapper =
      found ? decode_wrapper(found->kind, found->object) : fail(Error(found.error()));
  if (!wrapper && co_await noun_instead(session, typed->kind, typed->names.front()) == "run") {
    co_return report(session.console(),
                     failed_precondition("run " + typed->names.front() +
                                         " has its priority in spec.priority: low, normal or "
                                         "high; nothing was changed"));
  }
  if (!wrapper) {
    co_return report(session.console(), wrapper.error());
  }
  TypedObject object{found->kind.type, found->kind.singular, found->object};
  if (model::is_terminal(wrapper->status) || wrapper->metadata.deleting()) {
    co_return report(session.console(),
                     failed_precondition(object.qualified_name() +
                                         " has already finished; its priority was not changed"));
  }
  const std::int32_t before = wrapper->spec.priority;
  std::string patch = R"({"spec":{"priority":)" + std::to_string(*number) + "}}";
  Result<kube::ObjectRef> changed = co_await session.client().patch(
      object.type, object.object->key(), kube::PatchKind::merge, std::move(patch));
  if (!changed) {
    co_return report(session.console(), changed.error(), object.qualified_name());
  }
  object.object = *std::move(changed);
  session.console().out(is_table(session.output())
                            ? object.qualified_name() + " priority " + std::to_string(*number) +
                                  " (was " + std::to_string(before) + ")\n"
                            : render_objects({object}, session.output(), false));
  co_return kDone;
}

}  // namespace codeflare::cli
