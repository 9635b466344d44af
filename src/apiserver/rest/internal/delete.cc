#include "apiserver/rest/internal/delete.h"

#include "apiserver/rest/internal/errors.h"
#include "apiserver/rest/internal/handlers.h"
#include "apiserver/rest/internal/metadata.h"
#include "apiserver/rest/internal/response.h"
#include "apiserver/rest/internal/selection.h"
#include "apiserver/rest/internal/turns.h"
#include "base/async/task_group.h"
#include "json/parse.h"
#include "model/status.h"

#include <algorithm>
#include <array>

namespace codeflare::apiserver::internal {
namespace {

constexpr int kAttempts = 100;

// Kinds whose deletion answers the last state instead of a Status.
constexpr auto kAnswerObject = std::to_array<std::string_view>(
    {"pods", "services", "namespaces", "serviceaccounts", "podtemplates", "persistentvolumes",
     "persistentvolumeclaims", "resourcequotas", "csidrivers.storage.k8s.io",
     "csinodes.storage.k8s.io", "storageclasses.storage.k8s.io", "volumeattachments.storage.k8s.io",
     "volumeattributesclasses.storage.k8s.io", "deviceclasses.resource.k8s.io",
     "resourceclaims.resource.k8s.io", "resourceclaimtemplates.resource.k8s.io",
     "resourceslices.resource.k8s.io"});

// Kinds whose dependents stay unless the request says otherwise: from before there was a choice.
bool orphans_by_default(const Resource& resource) {
  return resource.qualified_name() == "jobs.batch" ||
         resource.qualified_name() == "replicationcontrollers";
}

Result<void> check_preconditions(const Resource& resource, const Object& live,
                                 const DeleteOptions& options) {
  // Upstream names the kind here, not the resource.
  Resource named;
  named.group = resource.group;
  named.plural = resource.kind;
  if (options.uid && *options.uid != live.uid()) {
    return fail(conflict_error(
        named, live.name(),
        "the UID in the precondition (" + *options.uid + ") does not match the UID in record (" +
            std::string(live.uid()) + "). The object might have been deleted and then recreated"));
  }
  if (options.resource_version && *options.resource_version != std::to_string(live.revision())) {
    return fail(conflict_error(
        named, live.name(),
        "the ResourceVersion in the precondition (" + *options.resource_version +
            ") does not match the ResourceVersion in record (" + std::to_string(live.revision()) +
            "). The object might have been modified"));
  }
  return {};
}

// The finalizers that the propagation policy leaves for the garbage collector.
std::vector<std::string_view> finalizers_for(const Resource& resource, const json::Value& object,
                                             const DeleteOptions& options) {
  std::vector<std::string_view> finalizers = finalizers_of(object);
  auto has = [&](std::string_view name) {
    return std::ranges::find(finalizers, name) != finalizers.end();
  };
  bool orphan = false;
  bool foreground = false;
  if (options.orphan_dependents) {
    orphan = *options.orphan_dependents;
  } else if (options.propagation != Propagation::unset) {
    orphan = options.propagation == Propagation::orphan;
    foreground = options.propagation == Propagation::foreground;
  } else if (has(kOrphanFinalizer)) {
    orphan = true;
  } else if (has(kForegroundFinalizer)) {
    foreground = true;
  } else {
    orphan = orphans_by_default(resource);
  }
  std::erase(finalizers, kOrphanFinalizer);
  std::erase(finalizers, kForegroundFinalizer);
  if (orphan) {
    finalizers.push_back(kOrphanFinalizer);
  }
  if (foreground) {
    finalizers.push_back(kForegroundFinalizer);
  }
  return finalizers;
}

void set_deletion(json::Arena& arena, json::Value& object, WallTime when, std::int64_t grace) {
  json::Value& metadata = metadata_of(arena, object);
  metadata.set_static(arena, "deletionTimestamp", json::Value::string(arena, to_rfc3339(when)));
  metadata.set_static(arena, "deletionGracePeriodSeconds", json::Value::integer(arena, grace));
}

void bump_generation(json::Arena& arena, json::Value& object) {
  json::Value& metadata = metadata_of(arena, object);
  const json::Value* generation = metadata.find("generation");
  if (generation != nullptr && generation->to_int64().value_or(0) > 0) {
    metadata.set_static(arena, "generation",
                        json::Value::integer(arena, *generation->to_int64() + 1));
  }
}

// Marks the object, or shortens what it was given before. Returns the seconds it still has.
std::int64_t begin_deletion(const Resource& resource, WriteContext& context, json::Value& object,
                            const DeleteOptions& options) {
  std::optional<std::int64_t> asked = options.grace_seconds;
  if (asked && *asked < 0) {
    asked = 1;
  }
  const Strategy& strategy = strategy_of(resource);
  if (!is_being_deleted(object)) {
    const std::int64_t grace = std::max<std::int64_t>(strategy.grace_seconds(object, asked), 0);
    bump_generation(context.arena, object);
    // A year is as good as forever, and adding stays within range.
    const std::int64_t shown = std::min<std::int64_t>(grace, 366LL * 24 * 3600);
    set_deletion(context.arena, object, context.now + std::chrono::seconds(shown), grace);
    strategy.begin_delete(context, object);
    return grace;
  }
  const json::Value* given = object.get({"metadata", "deletionGracePeriodSeconds"});
  const std::int64_t before = given == nullptr ? 0 : given->to_int64().value_or(0);
  if (!asked || *asked >= before) {
    return before;
  }
  const WallTime due = parse_rfc3339(meta_text(object, "deletionTimestamp")).value_or(context.now);
  set_deletion(context.arena, object,
               due - std::chrono::seconds(before) + std::chrono::seconds(*asked), *asked);
  return *asked;
}

struct Attempt {
  Written written;
  bool conflict = false;
};

Task<Result<Attempt>> attempt_delete(Call& call, ObjectPtr live, const DeleteOptions& options) {
  const Resource& resource = *call.resource;
  CO_TRY(check_preconditions(resource, *live, options));
  json::Document document;
  WriteContext context{document.arena, call.server.env().clock.wall(), "", &call.warnings,
                       &call.user};
  json::Value old;
  bool remove = false;
  std::string text;
  auto prepare = [&]() -> Result<void> {
    TRY_ASSIGN(document, json::parse_in_place(live->json()));
    TRY(convert(resource, document.arena, document.root, resource.storage_api_version()));
    old = document.root;
    json::Value object = old.clone(document.arena);
    set_finalizers(document.arena, object, finalizers_for(resource, object, options));
    const std::int64_t grace = begin_deletion(resource, context, object, options);
    remove = grace == 0 && finalizers_of(object).empty() && strategy_of(resource).may_go(object);
    text = remove ? std::string() : storage_text(resource, object);
    return {};
  };
  CO_TRY(co_await aside(call, bytes_apart(resource, live->json().size()), std::move(prepare)));

  AdmissionChain admission(call, {.user = call.user,
                                  .resource = resource,
                                  .operation = Operation::remove,
                                  .ns = live->ns(),
                                  .name = live->name(),
                                  .old = &old,
                                  .dry_run = options.dry_run,
                                  .context = context});
  Result<void> admitted = admission.mutate();
  if (admitted) {
    admitted = admission.validate();
  }
  if (!admitted) {
    admission.finish(false);
    co_return fail(std::move(admitted).error());
  }
  const bool same = !remove && text == live->json();
  if (same || options.dry_run) {
    admission.finish(false);
    co_return Attempt{
        .written = {.text = same || remove ? live->text() : Bytes::from(std::move(text)),
                    .removed = remove}};
  }
  Write write{.op = remove ? Write::Op::remove : Write::Op::update,
              .collection = resource.collection,
              .ns = std::string(live->ns()),
              .name = std::string(live->name()),
              .text = std::move(text),
              .expected = live->revision()};
  Result<ObjectPtr> stored = co_await call.server.store().commit(std::move(write));
  admission.finish(stored.has_value());
  if (!stored) {
    if (stored.error().code == ErrorCode::conflict) {
      co_return Attempt{.conflict = true};
    }
    co_return fail(store_error(stored.error(), resource, live->name()));
  }
  co_return Attempt{.written = {.text = (*stored)->text(), .removed = remove}};
}

net::Response deleted_status(const Call& call, std::string_view uid) {
  model::Status status;
  status.status = "Success";
  model::StatusDetails& details = status.details.emplace();
  details.name = call.info.name;
  details.group = call.resource->group;
  details.kind = call.resource->plural;
  details.uid = uid;
  return status_response(status);
}

}  // namespace

Task<Result<Written>> delete_object(Call& call, std::string ns, std::string name,
                                    DeleteOptions options) {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    ObjectPtr live = call.server.store().get(call.resource->collection, ns, name);
    if (live == nullptr) {
      co_return fail(not_found_error(*call.resource, name));
    }
    const std::size_t warnings = call.warnings.size();
    CO_TRY_ASSIGN(Attempt done, co_await attempt_delete(call, live, options));
    if (!done.conflict) {
      co_return std::move(done.written);
    }
    call.warnings.resize(warnings);
  }
  co_return fail(modified_error(*call.resource, name));
}

Task<Result<net::Response>> handle_delete(Call& call) {
  CO_TRY_ASSIGN(DeleteOptions options, co_await delete_options(call));
  if (orphans_by_default(*call.resource) && options.propagation == Propagation::unset &&
      !options.orphan_dependents && call.resource->kind == "Job") {
    call.warnings.emplace_back(
        "child pods are preserved by default when jobs are deleted; set "
        "propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress "
        "this warning");
  }
  const bool legacy_cascade = options.orphan_dependents && !*options.orphan_dependents;
  ObjectPtr before = call.server.store().get(call.resource->collection, call.ns(), call.info.name);
  const std::string uid(before == nullptr ? std::string_view() : before->uid());
  CO_TRY_ASSIGN(Written written, co_await delete_object(call, std::string(call.ns()),
                                                        call.info.name, std::move(options)));
  const bool answers_object =
      std::ranges::find(kAnswerObject, call.resource->qualified_name()) != kAnswerObject.end();
  if (written.removed && !answers_object) {
    co_return deleted_status(call, uid);
  }
  co_return co_await object_response(call, !written.removed && legacy_cascade ? 202 : 200,
                                     written.text);
}

namespace {

// Deletions under way at once: enough to share commits, few enough to be fair.
constexpr std::size_t kDeleters = 16;

struct Deletions {
  std::vector<ObjectPtr> victims;
  std::vector<std::optional<Result<Written>>> results;
  std::size_t next = 0;
  bool failed = false;
};

Task<void> delete_some(Call& call, const DeleteOptions& options, Deletions& work) {
  while (work.next < work.victims.size() && !work.failed) {
    const std::size_t at = work.next++;
    const Object& victim = *work.victims[at];
    Result<Written> written =
        co_await delete_object(call, std::string(victim.ns()), std::string(victim.name()), options);
    // Somebody else may have been faster.
    work.failed = work.failed || (!written && written.error().code != ErrorCode::not_found);
    work.results[at].emplace(std::move(written));
  }
}

Task<void> delete_all(Call& call, const DeleteOptions& options, Deletions& work) {
  work.results.resize(work.victims.size());
  const TaskContext& context = co_await current_context();
  TaskGroup group(*context.loop, context.stop);
  for (std::size_t i = 0; i < std::min(kDeleters, work.victims.size()); ++i) {
    group.spawn(delete_some(call, options, work));
  }
  co_await group.join();
}

}  // namespace

Task<Result<net::Response>> handle_delete_collection(Call& call) {
  CO_TRY_ASSIGN(Selection selection, Selection::parse(call.info, *call.resource, *call.version));
  CO_TRY_ASSIGN(DeleteOptions options, co_await delete_options(call));
  Deletions work;
  Store::Range range;
  if (!selection.ns().empty()) {
    range.ns = selection.ns();
  }
  CO_TRY_ASSIGN(
      const Revision revision,
      call.server.store().visit(call.resource->collection, range, [&](const ObjectPtr& object) {
        if (selection.matches(*object)) {
          work.victims.push_back(object);
        }
        return true;
      }));
  std::vector<Bytes> pieces;
  pieces.push_back(Bytes::from("{\"kind\":\"" + call.resource->list_kind + "\",\"apiVersion\":\"" +
                               call.api_version() + "\",\"metadata\":{\"resourceVersion\":\"" +
                               std::to_string(revision) + "\"},\"items\":["));
  Output output = call.output();
  output.form = {};
  co_await delete_all(call, options, work);
  bool first = true;
  for (std::optional<Result<Written>>& written : work.results) {
    if (!written || (!*written && written->error().code == ErrorCode::not_found)) {
      continue;
    }
    if (!*written) {
      co_return fail(std::move(*written).error());
    }
    if (!std::exchange(first, false)) {
      pieces.push_back(Bytes::from_static(","));
    }
    CO_TRY(append_object(output, (*written)->text, pieces));
  }
  pieces.push_back(Bytes::from_static("]}\n"));
  net::Response response;
  response.headers.set("Content-Type", std::string(kJson));
  response.body = body_of_pieces(std::move(pieces));
  co_return response;
}

}  // namespace codeflare::apiserver::internal
