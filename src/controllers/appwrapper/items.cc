#include "controllers/appwrapper/items.h"

#include "controllers/pods_type.h"
#include "json/parse.h"
#include "json/write.h"
#include "kube/impersonation.h"
#include "queue/item_end.h"
#include "queue/marks.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace codeflare::controllers {

using kube::ObjectRef;
using model::AppWrapper;
using model::ResourceType;
using runtime::Informer;

namespace {

// The server will say the same again.
bool is_final(ErrorCode code) {
  return code == ErrorCode::not_found || code == ErrorCode::invalid_argument ||
         code == ErrorCode::permission_denied || code == ErrorCode::too_large ||
         code == ErrorCode::unsupported || code == ErrorCode::failed_precondition;
}

std::string name_of(const ResourceType& type, const model::ObjectKey& key) {
  return type.qualified_name() + " " + key.to_string();
}

// The same may go well in a moment.
bool may_pass(ErrorCode code) {
  return code == ErrorCode::cancelled || code == ErrorCode::unavailable ||
         code == ErrorCode::deadline_exceeded || code == ErrorCode::resource_exhausted ||
         code == ErrorCode::conflict;
}

Creation refused(std::string message) {
  return {Creation::Kind::refused, std::move(message)};
}

// The object's owner, for people.
std::string owner_name(const kube::Object& object) {
  const std::string text(object.owner_references_json());
  const Result<json::Document> owners =
      text.empty() ? Result<json::Document>(json::Document()) : json::parse_in_place(text);
  if (!owners || owners->root.size() == 0) {
    return "nobody, but not created for this AppWrapper";
  }
  const json::Value& owner = owners->root.items().front();
  // With the group: both kinds of AppWrappers may have one of this name.
  const std::string group = model::parse_api_version(owner.string_or_empty("apiVersion")).group;
  return std::string(owner.string_or_empty("kind")) + " " +
         std::string(owner.string_or_empty("name")) + (group.empty() ? "" : " of " + group);
}

std::vector<bool> awaited_of(const AppWrapper& wrapper, const std::vector<ItemQuery>& items) {
  std::vector<queue::ItemInfo> infos;
  for (const ItemQuery& item : items) {
    infos.push_back(item.info);
  }
  return queue::awaited_items(wrapper, infos);
}

}  // namespace

std::vector<ItemQuery> queries_of(const queue::Demand& demand) {
  std::vector<ItemQuery> queries;
  for (const queue::ItemInfo& item : demand.items) {
    queries.push_back({.info = item});
  }
  for (const queue::PodSetDemand& set : demand.pod_sets) {
    queries[set.item].pods += std::max(set.pods.count, set.total.value_or(0));
  }
  return queries;
}

Items::Items(kube::Client& client, ItemWatch& watch, queue::InstrumentOptions options,
             std::optional<SubmitterTrust> submitters, Logger logger)
    : client_(client),
      watch_(watch),
      options_(std::move(options)),
      submitters_(std::move(submitters)),
      logger_(std::move(logger)) {}

Task<Result<Items::ItemRef>> Items::ref_of(queue::ItemInfo item) {
  CO_TRY_ASSIGN(ResourceType type, co_await watch_.type_of(item.api_version, item.kind));
  if (!type.namespaced) {
    co_return fail(invalid_argument(type.qualified_name() +
                                    " are cluster-scoped, items live in the AppWrapper's "
                                    "namespace"));
  }
  co_return ItemRef{std::move(type), std::move(item.key)};
}

// --- creating ---

Task<Result<std::size_t>> Items::created(const AppWrapper& wrapper) {
  Result<queue::Demand> demand = queue::demand_of(wrapper);
  std::size_t count = demand ? demand->items.size() : 0;
  // One item alone shows nothing.
  for (; count > 1; --count) {
    Result<ItemRef> ref = co_await ref_of(demand->items[count - 1]);
    if (!ref) {
      continue;  // whoever creates it says what is wrong
    }
    Result<ObjectRef> there = co_await client_.get(ref->type, ref->key);
    if (!there && there.error().code != ErrorCode::not_found) {
      co_return fail(std::move(there).error());
    }
    if (there && is_owned_by(**there, wrapper.metadata.uid)) {
      co_return count;
    }
  }
  co_return std::size_t{0};
}

Task<Result<Creation>> Items::create(const AppWrapper& wrapper, std::size_t first,
                                     std::map<std::uint32_t, model::StringMap> annotations) {
  Result<queue::Demand> demand = queue::demand_of(wrapper);
  if (!demand) {
    co_return refused(demand.error().message);
  }
  Result<kube::Impersonation> in_the_name_of = creator(wrapper);
  if (!in_the_name_of) {
    co_return refused(in_the_name_of.error().message);
  }
  queue::InstrumentOptions options = options_;
  options.pod_annotations = std::move(annotations);
  for (std::size_t i = first; i < demand->items.size(); ++i) {
    const std::string field = " (spec.resources.GenericItems[" + std::to_string(i) + "])";
    Result<ItemRef> ref = co_await ref_of(demand->items[i]);
    if (!ref) {
      if (is_final(ref.error().code)) {
        co_return refused(ref.error().message + field);
      }
      co_return fail(std::move(ref).error());
    }
    Result<std::string> body = queue::instrumented_item(wrapper, *demand, i, options);
    if (!body) {
      co_return refused(body.error().message);
    }
    CO_TRY_ASSIGN(Creation creation, co_await create_one(*std::move(body), *std::move(ref),
                                                         wrapper.metadata.uid, *in_the_name_of));
    if (creation.kind != Creation::Kind::done) {
      creation.message += field;
      co_return creation;
    }
  }
  co_return Creation();
}

// Nobody: we do it ourselves.
Result<kube::Impersonation> Items::creator(const AppWrapper& wrapper) const {
  if (!submitters_) {
    return kube::Impersonation();
  }
  // Asked again: the annotation may be another one than the queue saw.
  TRY_ASSIGN(Submitter submitter, submitter_of(wrapper, *submitters_));
  return kube::Impersonation{.user = std::move(submitter.username),
                             .uid = std::move(submitter.uid),
                             .groups = std::move(submitter.groups),
                             .extra = std::move(submitter.extra)};
}

Task<Result<Creation>> Items::create_one(std::string body, ItemRef ref, std::string uid,
                                         kube::Impersonation creator) {
  logger_.debug("create item",
                {{"kind", ref.type.qualified_name()}, {"object", ref.key.to_string()}});
  const bool impersonates = !creator.empty();
  Result<ObjectRef> made =
      co_await kube::create_as(client_, std::move(creator), ref.type, ref.key.ns, std::move(body));
  if (made) {
    if (Informer* informer = watch_.running(ref.type)) {
      informer->note_written(**made);
    }
    co_return Creation();
  }
  const Error& error = made.error();
  if (error.code == ErrorCode::already_exists) {
    co_return co_await examine(std::move(ref), std::move(uid));
  }
  if (error.code == ErrorCode::permission_denied && error.message.contains("exceeded quota")) {
    co_return Creation{Creation::Kind::quota, error.message};
  }
  // Our own rights are missing, not the submitter's: the work is not at fault.
  if (impersonates && error.code == ErrorCode::permission_denied &&
      error.message.contains("cannot impersonate resource")) {
    co_return fail(unavailable("missing impersonate permission: " + error.message));
  }
  if (is_final(error.code)) {
    co_return refused(error.message);
  }
  co_return fail(std::move(made).error());
}

// Something of that name is there: ours from before a crash, or somebody else's.
Task<Result<Creation>> Items::examine(ItemRef ref, std::string uid) {
  const std::string name = ref.type.qualified_name() + " " + ref.key.to_string();
  Result<ObjectRef> there = co_await client_.get(ref.type, ref.key);
  if (!there) {
    Error error = std::move(there).error();
    co_return fail(error.code == ErrorCode::not_found ? unavailable(name + " has just gone")
                                                      : std::move(error));
  }
  if ((*there)->deleting()) {
    co_return fail(unavailable(name + " is still being deleted"));
  }
  if (is_owned_by(**there, uid)) {
    co_return Creation();
  }
  co_return refused(name + " already exists, claimed by " + owner_name(**there));
}

// --- looking ---

Task<Result<std::vector<ItemSeen>>> Items::look(const AppWrapper& wrapper,
                                                std::vector<ItemQuery> items) {
  std::vector<ItemSeen> seen;
  const auto& written = wrapper.spec.resources.generic_items;
  const std::vector<bool> awaited = awaited_of(wrapper, items);
  for (std::size_t i = 0; i < items.size(); ++i) {
    const queue::ItemInfo& info = items[i].info;
    const Completion completion{.awaited = awaited[i],
                                .words = i < written.size() ? written[i].completion_status : ""};
    Result<ItemRef> ref = co_await ref_of(info);
    if (!ref && ref.error().code == ErrorCode::not_found) {
      seen.push_back(
          {.name = info.kind + " " + info.key.to_string(), .counts = awaited[i], .lost = true});
      continue;
    }
    if (!ref) {
      co_return fail(std::move(ref).error());
    }
    CO_TRY_ASSIGN(ItemSeen item,
                  co_await look_at(*std::move(ref), wrapper.metadata.uid, completion));
    item.pods = items[i].pods;
    seen.push_back(std::move(item));
  }
  co_return seen;
}

// Ours as the cache shows it; null when it does not, or when there is none.
Task<Result<ObjectRef>> Items::cached(ItemRef ref, std::string uid) {
  CO_TRY_ASSIGN(Informer * informer, co_await watch_.informer(ref.type));
  if (informer == nullptr) {
    co_return nullptr;
  }
  CO_TRY(co_await informer->fresh(ref.key));
  ObjectRef object = informer->store().get(ref.key);
  co_return object != nullptr&& is_owned_by(*object, uid) ? object : nullptr;
}

Task<Result<ItemSeen>> Items::look_at(ItemRef ref, std::string uid, Completion completion) {
  ItemSeen seen{.name = name_of(ref.type, ref.key), .counts = completion.awaited};
  CO_TRY_ASSIGN(ObjectRef object, co_await cached(ref, uid));
  const Informer* informer = watch_.running(ref.type);
  seen.watched = informer != nullptr && informer->synced();
  if (object == nullptr) {
    // Gone, without our label, or of a kind that we may not watch: the server knows.
    Result<ObjectRef> there = co_await client_.get(ref.type, ref.key);
    if (!there && there.error().code != ErrorCode::not_found) {
      co_return fail(std::move(there).error());
    }
    seen.lost = !there || !is_owned_by(**there, uid);
    object = seen.lost ? watch_.departed(uid, ref.type, ref.key) : *there;
  }
  if (object == nullptr) {
    co_return seen;
  }
  CO_TRY_ASSIGN(json::Document document, object->parse());
  seen.complete = seen.counts &&
                  (completion.words.empty() ? queue::has_succeeded(document.root)
                                            : queue::is_complete(document.root, completion.words));
  if (!seen.complete) {
    seen.failure = queue::failure_of(document.root);
  }
  seen.finished = seen.complete || queue::is_finished(document.root);
  co_return seen;
}

// --- taking back ---

// Where items of it may be: those that it names, and whatever else it owns with its label. A label
// alone means nothing: people copy manifests of live objects.
Task<Result<std::vector<Items::ItemRef>>> Items::refs(const AppWrapper& wrapper) {
  std::vector<ItemRef> refs;
  Result<queue::Demand> demand = queue::demand_of(wrapper);
  for (const queue::ItemInfo& item : demand ? demand->items : std::vector<queue::ItemInfo>()) {
    Result<ItemRef> ref = co_await ref_of(item);
    if (ref) {
      refs.push_back(*std::move(ref));
    } else if (!is_final(ref.error().code)) {
      co_return fail(std::move(ref).error());
    }
  }
  for (const ItemWatch::Item& item : watch_.labelled(wrapper.metadata.uid)) {
    if (item.object->ns() != wrapper.metadata.ns ||
        !is_owned_by(*item.object, wrapper.metadata.uid)) {
      continue;
    }
    const bool known = std::ranges::any_of(refs, [&](const ItemRef& ref) {
      return ref.type == item.type && ref.key == item.object->key();
    });
    if (!known) {
      refs.push_back({item.type, item.object->key()});
    }
  }
  co_return refs;
}

Task<Result<std::vector<std::string>>> Items::take_back(const AppWrapper& wrapper, bool force) {
  CO_TRY_ASSIGN(std::vector<ItemRef> all, co_await refs(wrapper));
  std::vector<std::string> left;
  std::optional<Error> failure;
  for (const ItemRef& ref : all) {
    const std::string name = name_of(ref.type, ref.key);
    Result<bool> gone = co_await take_back_one(ref, wrapper.metadata.uid, force);
    if (!gone && force && !may_pass(gone.error().code)) {
      left.push_back(name + " (" + gone.error().message + ")");
    } else if (!gone) {
      failure = std::move(gone).error();
    } else if (!*gone) {
      left.push_back(name);
    }
  }
  if (failure) {
    co_return fail(*std::move(failure));
  }
  co_return left;
}

Task<Result<bool>> Items::take_back_one(ItemRef ref, std::string uid, bool force) {
  CO_TRY_ASSIGN(ObjectRef object, co_await cached(ref, uid));
  if (object == nullptr) {
    co_return co_await remove_unseen(std::move(ref), std::move(uid), force);
  }
  co_return co_await remove(std::move(ref), std::move(object), force);
}

// True when it is gone.
Task<Result<bool>> Items::remove(ItemRef ref, ObjectRef object, bool force) {
  if (object->deleting() && !force) {
    co_return false;
  }
  kube::DeleteOptions options{.propagation_policy = "Background",
                              .uid = std::string(object->uid())};
  if (force) {
    options.grace_period_seconds = 0;
  }
  logger_.debug("delete item",
                {{"kind", ref.type.qualified_name()}, {"object", ref.key.to_string()}});
  Result<ObjectRef> rest = co_await client_.remove(ref.type, ref.key, std::move(options));
  if (!rest && rest.error().code == ErrorCode::conflict) {
    co_return false;  // another one of that name; the cache will show it
  }
  if (!rest && rest.error().code != ErrorCode::not_found) {
    co_return fail(std::move(rest).error());
  }
  Informer* informer = watch_.running(ref.type);
  if (rest && *rest != nullptr) {
    if (informer != nullptr) {
      informer->note_written(**rest);
    }
    co_return false;
  }
  if (informer != nullptr) {
    informer->note_deleted(ref.key, std::string(object->uid()));
  }
  co_return true;
}

// The cache shows nothing of ours: it may be behind, or the object may lack our label, or its kind
// may not be watched.
Task<Result<bool>> Items::remove_unseen(ItemRef ref, std::string uid, bool force) {
  Result<ObjectRef> there = co_await client_.get(ref.type, ref.key);
  if (!there) {
    if (there.error().code == ErrorCode::not_found) {
      co_return true;
    }
    co_return fail(std::move(there).error());
  }
  if (!is_owned_by(**there, uid)) {
    co_return true;
  }
  ObjectRef object = *std::move(there);
  co_return co_await remove(std::move(ref), std::move(object), force);
}

Task<Result<void>> Items::delete_pods(std::vector<WrapperPods::PodRef> pods) {
  for (const WrapperPods::PodRef& pod : pods) {
    logger_.warn("deleting a pod without grace", {{"pod", pod.key.to_string()}});
    kube::DeleteOptions options{.grace_period_seconds = 0, .uid = pod.uid};
    Result<ObjectRef> rest = co_await client_.remove(kPods, pod.key, std::move(options));
    if (!rest && rest.error().code != ErrorCode::not_found &&
        rest.error().code != ErrorCode::conflict) {
      co_return fail(std::move(rest).error());
    }
  }
  co_return Result<void>();
}

Task<Result<void>> Items::label(const AppWrapper& wrapper) {
  const std::string uid = wrapper.metadata.uid;
  std::string body;
  json::Writer(body)
      .begin_object()
      .key("metadata")
      .begin_object()
      .key("labels")
      .begin_object()
      .member(queue::kAppWrapperLabel, wrapper.metadata.name.substr(0, 63))
      .member(queue::kUidLabel, uid)
      .end_object()
      .end_object()
      .end_object();
  CO_TRY_ASSIGN(std::vector<ItemRef> all, co_await refs(wrapper));
  for (const ItemRef& ref : all) {
    Result<ObjectRef> there = co_await client_.get(ref.type, ref.key);
    if (there && is_owned_by(**there, uid) && label_of(**there, queue::kUidLabel) != uid) {
      there = co_await client_.patch(ref.type, ref.key, kube::PatchKind::merge, body);
    }
    if (!there && there.error().code != ErrorCode::not_found) {
      co_return fail(std::move(there).error());
    }
  }
  co_return Result<void>();
}

}  // namespace codeflare::controllers
