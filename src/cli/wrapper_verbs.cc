#include "cli/wrapper_verbs.h"

#include "cli/output.h"
#include "cli/wrapper_view.h"
#include "model/codec/app_wrapper.h"
#include "model/codec/codec.h"

#include <utility>

namespace codeflare::cli {

namespace {

std::vector<TypedObject> typed(const KnownKind& kind, const std::vector<kube::ObjectRef>& objects) {
  std::vector<TypedObject> out;
  out.reserve(objects.size());
  for (const kube::ObjectRef& object : objects) {
    out.push_back({kind.type, kind.singular, object});
  }
  return out;
}

Task<Result<kube::ObjectRef>> get_wrapper(Session& session, KnownKind kind, std::string name) {
  Result<kube::ObjectRef> object =
      co_await session.client().get(kind.type, {session.ns(), std::move(name)});
  if (!object) {
    co_return fail(name_missing_kind(std::move(object).error(), kind, session.server()));
  }
  co_return object;
}

struct Held {
  TypedObject object;
  const char* done;  // "held", "released"
};

Task<Result<Held>> hold_one(Session& session, KnownKind kind, std::string name, bool hold) {
  CO_TRY_ASSIGN(kube::ObjectRef object, co_await get_wrapper(session, kind, name));
  CO_TRY_ASSIGN(const model::AppWrapper wrapper, decode_wrapper(object));
  if (wrapper.spec.suspend.value_or(false) == hold) {
    co_return Held{{kind.type, kind.singular, std::move(object)},
                   hold ? "is held already" : "is not held"};
  }
  std::string patch = hold ? R"({"spec":{"suspend":true}})" : R"({"spec":{"suspend":false}})";
  CO_TRY_ASSIGN(object, co_await session.client().patch(kind.type, {session.ns(), std::move(name)},
                                                        kube::PatchKind::merge, std::move(patch)));
  co_return Held{{kind.type, kind.singular, std::move(object)}, hold ? "held" : "released"};
}

}  // namespace

Result<model::AppWrapper> decode_wrapper(const kube::ObjectRef& object) {
  TRY_ASSIGN(json::Document document, object->parse());
  // Both groups have the same fields.
  document.root.erase("apiVersion");
  document.root.erase("kind");
  Result<model::AppWrapper> wrapper = model::from_json<model::AppWrapper>(document.root);
  if (!wrapper) {
    return fail(
        data_loss("appwrapper " + object->key().to_string() + ": " + wrapper.error().message));
  }
  return wrapper;
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
    if (Result<model::AppWrapper> wrapper = decode_wrapper(object)) {
      out.wrappers.push_back(*std::move(wrapper));
    }
    out.objects.push_back(std::move(object));
  }
  co_return out;
}

Task<int> run_list(Session& session, ListFlags flags) {
  const Result<KnownKind> kind = parse_kind(flags.kind);
  if (!kind) {
    co_return report_usage(session.console(), kind.error().message);
  }
  std::string ns = flags.all_namespaces ? "" : session.ns();
  Result<WrapperList> list =
      co_await list_wrappers(session, *kind, std::move(ns), std::move(flags.selector));
  if (!list) {
    co_return report(session.console(), list.error());
  }
  if (!is_table(session.output())) {
    session.console().out(render_objects(typed(*kind, list->objects), session.output(), true));
    co_return kDone;
  }
  if (list->objects.empty()) {
    session.console().err(flags.all_namespaces ? "no " + kind->type.plural + " found\n"
                                               : "no " + kind->type.plural +
                                                     " found in namespace " + session.ns() + "\n");
    co_return kDone;
  }
  std::vector<WrapperView> views;
  for (const model::AppWrapper& wrapper : list->wrappers) {
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
  std::vector<kube::ObjectRef> found;
  std::string text;
  for (const std::string& each : flags.names) {
    std::string name = each;
    const Result<kube::ObjectRef> object = co_await get_wrapper(session, *kind, std::move(name));
    const Result<model::AppWrapper> wrapper =
        object ? decode_wrapper(*object) : fail(Error(object.error()));
    if (!wrapper) {
      code = report(session.console(), wrapper.error());
      continue;
    }
    found.push_back(*object);
    text += (text.empty() ? "" : "\n") + render_status(*wrapper, session.now());
  }
  if (is_table(session.output())) {
    session.console().out(text);
  } else if (!found.empty()) {
    session.console().out(render_objects(typed(*kind, found), session.output(), false));
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
