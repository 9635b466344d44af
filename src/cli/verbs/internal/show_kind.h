#pragma once

#include "base/async/task.h"
#include "cli/session/output.h"
#include "cli/session/session.h"
#include "cli/views/kinds.h"
#include "kube/client.h"
#include "model/resources.h"

#include <string>
#include <utility>
#include <vector>

// `list` and `status` of a kind that has a struct. Include the kind's codec header.
namespace codeflare::cli::internal {

struct ListedKind {
  std::string singular;
  bool all_namespaces = false;
  std::string selector;
  std::string instead{};  // where else to look when there is none; empty: nowhere
};

template <typename T>
using RenderMany = std::string (*)(const std::vector<T>&, bool, WallTime);
template <typename T>
using RenderOne = std::string (*)(const T&, WallTime);

template <typename T>
Task<int> list_kind(Session& session, ListedKind listed, RenderMany<T> render) {
  const KnownKind kind{model::resource_type<T>(), listed.singular};
  kube::ListOptions which{.ns = listed.all_namespaces ? "" : session.ns(),
                          .label_selector = listed.selector};
  Result<kube::ObjectList> list = co_await session.client().list_all(kind.type, std::move(which));
  if (!list) {
    co_return report_coded(session.console(),
                           name_missing_kind(std::move(list).error(), kind, session.server()));
  }
  std::vector<TypedObject> objects;
  std::vector<T> items;
  for (const kube::ObjectRef& object : list->items) {
    objects.push_back({kind.type, kind.singular, object});
    if (Result<T> item = object->as<T>()) {
      items.push_back(*std::move(item));
    }
  }
  if (!is_table(session.output())) {
    session.console().out(render_objects(objects, session.output(), true));
  } else if (items.empty()) {
    session.console().err("no " + kind.type.plural + " found" +
                          (listed.all_namespaces ? "" : " in namespace " + session.ns()) +
                          (listed.instead.empty() ? "" : "; " + listed.instead) + "\n");
  } else {
    session.console().out(render(items, listed.all_namespaces, session.now()));
  }
  co_return kDone;
}

struct NamedOne {
  std::string singular;
  std::string name;
};

template <typename T>
Task<int> show_one(Session& session, NamedOne which, RenderOne<T> render) {
  const model::ResourceType type = model::resource_type<T>();
  const std::string label = which.singular + " " + which.name;
  const Result<kube::ObjectRef> object =
      co_await session.client().get(type, {session.ns(), which.name});
  if (!object) {
    co_return report_coded(session.console(), object.error(), label);
  }
  if (!is_table(session.output())) {
    session.console().out(
        render_objects({{type, which.singular, *object}}, session.output(), false));
    co_return kDone;
  }
  const Result<T> item = (*object)->template as<T>();
  if (!item) {
    co_return report_coded(session.console(), item.error(), label);
  }
  session.console().out(render(*item, session.now()));
  co_return kDone;
}

}  // namespace codeflare::cli::internal
