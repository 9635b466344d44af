#include "cli/wrapper_verbs.h"

#include "cli/find_wrapper.h"
#include "model/codec/app_wrapper.h"
#include "model/codec/codec.h"

#include <algorithm>
#include <iterator>
#include <utility>

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
  return model::is_terminal(wrapper.status) ? "has finished already (" + wrapper.status.state + ")"
                                            : "";
}

Task<Result<Held>> hold_one(Session& session, KnownKind kind, std::string name, bool hold) {
  CO_TRY_ASSIGN(FoundWrapper found,
                co_await find_wrapper(session, std::move(kind), name, Use::change));
  CO_TRY_ASSIGN(const GroupedWrapper wrapper, decode_wrapper(found.kind, found.object));
  TypedObject typed{found.kind.type, found.kind.singular, std::move(found.object)};
  if (const std::string why = why_not_held(wrapper); !why.empty()) {
    co_return fail(failed_precondition(typed.qualified_name() + " " + why +
                                       ": there is nothing to " + (hold ? "hold" : "release") +
                                       ", and nothing was changed"));
  }
  if (wrapper.spec.suspend.value_or(false) == hold) {
    co_return Held{std::move(typed), hold ? "is held already" : "is not held"};
  }
  std::string patch = hold ? R"({"spec":{"suspend":true}})" : R"({"spec":{"suspend":false}})";
  CO_TRY_ASSIGN(typed.object,
                co_await session.client().patch(typed.type, {session.ns(), std::move(name)},
                                                kube::PatchKind::merge, std::move(patch)));
  co_return Held{std::move(typed), hold ? "held" : "released"};
}

}  // namespace

Result<GroupedWrapper> decode_wrapper(const KnownKind& kind, const kube::ObjectRef& object) {
  TRY_ASSIGN(json::Document document, object->parse());
  // Both groups have the same fields.
  document.root.erase("apiVersion");
  document.root.erase("kind");
  Result<model::AppWrapper> wrapper = model::from_json<model::AppWrapper>(document.root);
  if (!wrapper) {
    return fail(
        data_loss(kind.word() + " " + object->key().to_string() + ": " + wrapper.error().message));
  }
  return GroupedWrapper{*std::move(wrapper), kind.api()};
}

Task<Result<WrapperList>> list_wrappers(Session& session, KnownKind kind, std::string ns,
                                        std::string selector) {
  Result<kube::ObjectList> list = co_await session.client().list_all(
      kind.type, {.ns = std::move(ns), .label_selector = std::move(selector)});
  if (!list) {
    co_return fail(name_missing_kind(std::move(list).error(), kind, session.server()));
  }
  WrapperList out;
  for (kube::ObjectRef& object : list->items) {
    if (Result<GroupedWrapper> wrapper = decode_wrapper(kind, object)) {
      out.wrappers.push_back(*std::move(wrapper));
    }
    out.objects.push_back({kind.type, kind.singular, std::move(object)});
  }
  co_return out;
}

namespace {

// With those of MCAD's group unless one was named. Most clusters do not have them, and where they
// do not nobody may list them.
Task<Result<WrapperList>> list_groups(Session& session, KnownKind kind, std::string ns,
                                      std::string selector) {
  CO_TRY_ASSIGN(WrapperList list, co_await list_wrappers(session, kind, ns, selector));
  if (!kind.any_group) {
    co_return list;
  }
  Result<WrapperList> legacy = co_await list_wrappers(session, legacy_app_wrapper_kind(),
                                                      std::move(ns), std::move(selector));
  if (legacy) {
    std::ranges::move(legacy->objects, std::back_inserter(list.objects));
    std::ranges::move(legacy->wrappers, std::back_inserter(list.wrappers));
  } else if (legacy.error().code != ErrorCode::not_found &&
             legacy.error().code != ErrorCode::permission_denied) {
    co_return fail(std::move(legacy).error());
  }
  co_return list;
}

}  // namespace

Task<int> run_list(Session& session, ListFlags flags) {
  const Result<KnownKind> kind = parse_kind(flags.kind);
  if (!kind) {
    co_return report_usage(session.console(), kind.error().message);
  }
  const std::string ns = flags.all_namespaces ? "" : session.ns();
  const Result<WrapperList> list =
      co_await list_groups(session, *kind, ns, std::move(flags.selector));
  if (!list) {
    co_return report(session.console(), list.error());
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
  std::vector<WrapperView> views;
  for (const GroupedWrapper& wrapper : list->wrappers) {
    views.push_back(view_of(wrapper));
  }
  session.console().out(render_list(
      std::move(views),
      {.all_namespaces = flags.all_namespaces, .wide = session.output() == Output::wide},
      session.now()));
  co_return kDone;
}

Task<int> run_status(Session& session, NameFlags flags) {
  const Result<KnownKind> kind = parse_kind(flags.kind);
  if (!kind) {
    co_return report_usage(session.console(), kind.error().message);
  }
  int code = kDone;
  std::vector<TypedObject> shown;
  std::string text;
  for (const std::string& each : flags.names) {
    std::string name = each;
    const Result<FoundWrapper> found =
        co_await find_wrapper(session, *kind, std::move(name), Use::read);
    const Result<GroupedWrapper> wrapper =
        found ? decode_wrapper(found->kind, found->object) : fail(Error(found.error()));
    if (!wrapper) {
      code = report(session.console(), wrapper.error());
      continue;
    }
    shown.push_back({found->kind.type, found->kind.singular, found->object});
    text += (text.empty() ? "" : "\n") + render_status(*wrapper, session.now());
  }
  if (is_table(session.output())) {
    session.console().out(text);
  } else if (!shown.empty()) {
    session.console().out(render_objects(shown, session.output(), false));
  }
  co_return code;
}

Task<int> run_hold(Session& session, NameFlags flags, bool hold) {
  const Result<KnownKind> kind = parse_kind(flags.kind);
  if (!kind) {
    co_return report_usage(session.console(), kind.error().message);
  }
  int code = kDone;
  std::vector<TypedObject> changed;
  for (const std::string& each : flags.names) {
    std::string name = each;
    Result<Held> held = co_await hold_one(session, *kind, std::move(name), hold);
    if (!held) {
      code = report(session.console(), held.error(), kind->singular + " " + each);
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
