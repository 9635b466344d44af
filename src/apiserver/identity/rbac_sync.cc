#include "apiserver/identity/rbac_sync.h"

#include "apiserver/identity/internal/rbac_text.h"
#include "apiserver/identity/rbac_bootstrap.h"
#include "base/async/sleep.h"
#include "json/parse.h"

#include <cstddef>
#include <utility>

namespace codeflare::apiserver {

namespace {

using namespace std::chrono_literals;

constexpr std::array kKinds = {RbacKind::role, RbacKind::cluster_role, RbacKind::role_binding,
                               RbacKind::cluster_role_binding};

}  // namespace

RbacSync::RbacSync(Store& store, RbacPolicy& policy, Logger logger)
    : store_(store), policy_(policy), logger_(std::move(logger)) {
  for (RbacKind kind : kKinds) {
    collections_[static_cast<std::size_t>(kind)] = store.collection(collection_of(kind));
    load(kind);
  }
  store.on_commit([this](CollectionId collection, const Event& event) {
    for (RbacKind kind : kKinds) {
      if (collections_[static_cast<std::size_t>(kind)] == collection) {
        apply(kind, event);
      }
    }
  });
}

void RbacSync::load(RbacKind kind) {
  auto visited =
      store_.visit(collections_[static_cast<std::size_t>(kind)], {}, [&](const ObjectPtr& object) {
        if (auto parsed = json::parse_in_place(object->json())) {
          policy_.put(kind, parsed->root);
        }
        return true;
      });
  CHECK(visited.has_value());
}

void RbacSync::apply(RbacKind kind, const Event& event) {
  auto parsed = event.op == Write::Op::remove ? Result<json::Document>(fail(cancelled()))
                                              : json::parse_in_place(event.object->json());
  if (parsed) {
    policy_.put(kind, parsed->root);
  } else {
    policy_.remove(kind, event.object->ns(), event.object->name());
  }
  if (kind == RbacKind::cluster_role) {
    changed_ = true;
    wake_.notify_all();
  }
}

Task<Result<void>> RbacSync::write_aggregates() {
  CollectionId collection = collections_[static_cast<std::size_t>(RbacKind::cluster_role)];
  std::vector<Write> writes;
  for (const RbacPolicy::Outdated& role : policy_.outdated_aggregates()) {
    ObjectPtr stored = store_.get(collection, "", role.name);
    if (stored == nullptr) {
      continue;
    }
    CO_TRY_ASSIGN(json::Document document, json::parse(stored->json()));
    json::Value rules = json::Value::array();
    for (const PolicyRule& rule : role.rules) {
      rules.push_back(document.arena, to_json(document.arena, rule));
    }
    document.root.set_static(document.arena, "rules", rules);
    writes.push_back(
        {.op = Write::Op::update,
         .collection = collection,
         .name = role.name,
         .text = internal::stored_text(RbacKind::cluster_role, document.root, document.arena),
         .expected = stored->revision()});
  }
  if (!writes.empty()) {
    CO_TRY(co_await store_.commit(std::move(writes)));
  }
  co_return Result<void>();
}

Task<void> RbacSync::run() {
  for (;;) {
    while (!changed_) {
      if (!co_await wake_.wait()) {
        co_return;
      }
    }
    changed_ = false;
    Result<void> written = co_await write_aggregates();
    if (written) {
      continue;
    }
    changed_ = true;
    // Somebody else's write in between is seen on the next round; anything else takes a while.
    if (written.error().code != ErrorCode::conflict) {
      logger_.warn("aggregated roles cannot be written", {{"error", written.error()}});
      if (!co_await sleep_for(1s)) {
        co_return;
      }
    } else if (!co_await sleep_for(10ms)) {
      co_return;
    }
  }
}

}  // namespace codeflare::apiserver
