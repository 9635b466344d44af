#include "cli/gather/wrappers.h"

#include "model/codec/app_wrapper.h"
#include "model/codec/codec.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace codeflare::cli {

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

}  // namespace codeflare::cli
