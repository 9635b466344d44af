#include "cli/verbs/cancel.h"

#include "base/time.h"
#include "cli/gather/find_wrapper.h"
#include "cli/gather/who.h"
#include "cli/gather/wrappers.h"
#include "cli/session/output.h"
#include "cli/verbs/internal/session_flags.h"
#include "cli/views/kinds.h"
#include "cli/views/submitter.h"
#include "sdk/job_marks.h"

#include <memory>
#include <utility>

namespace codeflare::cli {

namespace {

struct Work {
  TypedObject object;
  GroupedWrapper wrapper;
};

std::string stop_patch(WallTime now) {
  return R"({"metadata":{"annotations":{")" + std::string(sdk::kStoppedAnnotation) + R"(":")" +
         to_rfc3339(now) + R"("}},"spec":{"suspend":true}})";
}

// The outcome, for people.
Task<Result<std::string>> cancel_one(Session& session, Work work) {
  const bool job = work.wrapper.metadata.labels.contains(sdk::kJobLabel);
  if (work.wrapper.metadata.deleting()) {
    co_return "is already being deleted";
  }
  if (model::is_terminal(work.wrapper.status)) {
    co_return "has already ended (" + work.wrapper.status.state + ")";
  }
  if (job) {
    std::string patch = stop_patch(session.now());
    CO_TRY(co_await session.client().patch(work.object.type, work.object.object->key(),
                                           kube::PatchKind::merge, std::move(patch)));
    co_return "stopped";
  }
  kube::DeleteOptions options{.propagation_policy = "Background"};
  CO_TRY(co_await session.client().remove(work.object.type, work.object.object->key(),
                                          std::move(options)));
  co_return "cancelled";
}

Task<Result<std::vector<Work>>> by_filter(Session& session, CancelFlags flags) {
  std::vector<Work> chosen;
  std::string user = flags.user;
  if (flags.mine) {
    CO_TRY_ASSIGN(user, co_await user_of(session));
  }
  KnownKind kind = app_wrapper_kind();
  kind.any_group = true;
  std::string ns = flags.all_namespaces ? "" : session.ns();
  CO_TRY_ASSIGN(const WrapperList list,
                co_await list_groups(session, std::move(kind), std::move(ns), flags.selector));
  for (const GroupedWrapper& wrapper : list.wrappers) {
    const bool over = model::is_terminal(wrapper.status) || wrapper.metadata.deleting();
    if (over || (!user.empty() && submitter_of(wrapper) != user)) {
      continue;
    }
    for (const TypedObject& object : list.objects) {
      if (object.object->uid() == wrapper.metadata.uid) {
        chosen.push_back({object, wrapper});
      }
    }
  }
  co_return chosen;
}

Task<int> report_cancelled(Session& session, Work work) {
  const std::string name = work.object.qualified_name();
  const Result<std::string> done = co_await cancel_one(session, std::move(work));
  if (!done) {
    co_return report(session.console(), done.error(), name);
  }
  session.console().out(session.output() == Output::name ? name + "\n" : name + " " + *done + "\n");
  co_return kDone;
}

Task<int> cancel_named(Session& session, CancelFlags flags) {
  const Result<KindNames> typed = read_names(flags.kind, flags.names);
  if (!typed) {
    co_return report_usage(session.console(), typed.error().message);
  }
  int code = kDone;
  for (const std::string& each : typed->names) {
    std::string name = each;
    const Result<FoundWrapper> found =
        co_await find_wrapper(session, typed->kind, std::move(name), Use::change);
    const Result<GroupedWrapper> wrapper =
        found ? decode_wrapper(found->kind, found->object) : fail(Error(found.error()));
    if (!wrapper) {
      code = both(code, report(session.console(), wrapper.error()));
      continue;
    }
    Work work{{found->kind.type, found->kind.singular, found->object}, *wrapper};
    code = both(code, co_await report_cancelled(session, std::move(work)));
  }
  co_return code;
}

void add_options(CLI::App& verb, Chosen& chosen) {
  auto typed = std::make_shared<internal::Typed<CancelFlags>>();
  verb.add_option("KIND", typed->flags.kind, internal::kKindHelp);
  verb.add_option("NAME", typed->flags.names, "names of the objects");
  verb.add_option("-l,--selector", typed->flags.selector,
                  "cancel all work with these labels, such as app=web,tier!=test")
      ->type_name("LABELS");
  verb.add_option("--user", typed->flags.user, "cancel all work that this user submitted")
      ->type_name("NAME");
  verb.add_flag("--mine", typed->flags.mine, "cancel all work that you submitted");
  verb.add_flag("-A,--all-namespaces", typed->flags.all_namespaces,
                "with -l, --user or --mine: in all namespaces");
  internal::add_session_flags(verb, typed->session, {"name"});
  verb.callback([&chosen, typed] {
    const CancelFlags& flags = typed->flags;
    const bool filter = !flags.selector.empty() || !flags.user.empty() || flags.mine;
    if (filter != flags.kind.empty()) {
      throw CLI::ValidationError("cancel", "give NAME..., or -l LABELS, --user NAME or --mine");
    }
    chosen = internal::in_session<CancelFlags>(typed, run_cancel);
  });
}

}  // namespace

constinit const Verb kCancel = {
    .word = "cancel",
    .about = "Stop work: jobs keep their record, other AppWrappers are deleted",
    .examples = "codeflare cancel train\n  codeflare cancel -l team=a",
    .add = add_options,
    .takes_kind = true};

Task<int> run_cancel(Session& session, CancelFlags flags) {
  if (!flags.kind.empty()) {
    co_return co_await cancel_named(session, std::move(flags));
  }
  Result<std::vector<Work>> chosen = co_await by_filter(session, std::move(flags));
  if (!chosen) {
    co_return report(session.console(), chosen.error());
  }
  if (chosen->empty()) {
    session.console().err("no running or waiting work found\n");
  }
  int code = kDone;
  for (Work& work : *chosen) {
    code = both(code, co_await report_cancelled(session, std::move(work)));
  }
  co_return code;
}

}  // namespace codeflare::cli
