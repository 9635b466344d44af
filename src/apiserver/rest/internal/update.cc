#include "apiserver/rest/internal/decode.h"
#include "apiserver/rest/internal/errors.h"
#include "apiserver/rest/internal/handlers.h"
#include "apiserver/rest/internal/metadata.h"
#include "apiserver/rest/internal/response.h"
#include "apiserver/rest/internal/turns.h"
#include "apiserver/rest/internal/write.h"
#include "apiserver/schema/walk.h"
#include "json/parse.h"

#include <algorithm>

namespace codeflare::apiserver::internal {
namespace {

// Upstream repeats without end; this many lost races in a row mean that something is wrong.
constexpr int kAttempts = 100;

struct Attempt {
  Written written;
  bool conflict = false;  // lost against another writer: read again
};

// Whose turn it is by name, uid and version; the object is the one that will replace `live`.
Result<void> check_identity(const Resource& resource, const Object& live,
                            const json::Value& object) {
  const std::string_view name = meta_text(object, "name");
  if (name != live.name()) {
    return fail(bad_request("the name of the object (" + std::string(name) +
                            ") does not match the name on the URL (" + std::string(live.name()) +
                            ")"));
  }
  const std::string_view uid = meta_text(object, "uid");
  if (!uid.empty() && uid != live.uid()) {
    return fail(conflict_error(resource, live.name(),
                               "Precondition failed: UID in precondition: " + std::string(uid) +
                                   ", UID in object meta: " + std::string(live.uid())));
  }
  const std::string_view revision = asked_revision(object);
  if (!revision.empty() && revision != std::to_string(live.revision())) {
    return fail(modified_error(resource, live.name()));
  }
  return {};
}

// Deletion begins with DELETE alone. Of an object that goes already, what an update says about the
// time does not count; the grace must be the same where it is said.
Result<void> check_deletion(const Resource& resource, const json::Value& object,
                            const json::Value& live) {
  FieldErrors errors;
  if (const std::string_view when = meta_text(object, "deletionTimestamp");
      !when.empty() && !is_being_deleted(live)) {
    errors.invalid_text("metadata.deletionTimestamp", when, "field is immutable");
  }
  const json::Value* grace = object.get({"metadata", "deletionGracePeriodSeconds"});
  const json::Value* before = live.get({"metadata", "deletionGracePeriodSeconds"});
  if (grace != nullptr && !grace->is_null() &&
      (before == nullptr || !json::equal(*grace, *before))) {
    errors.invalid("metadata.deletionGracePeriodSeconds", show(*grace), "field is immutable");
  }
  return errors.empty()
             ? Result<void>()
             : fail(errors.to_error(resource.group, resource.kind, meta_text(object, "name")));
}

// Whether there are none or an empty set of them is the same.
bool annotations_differ(const json::Value& object, const json::Value& live) {
  const json::Value* now = object.get({"metadata", "annotations"});
  const json::Value* before = live.get({"metadata", "annotations"});
  const bool some = now != nullptr && now->size() > 0;
  const bool had_some = before != nullptr && before->size() > 0;
  return some != had_some || (some && !json::equal(*now, *before));
}

void bump_generation(const Resource& resource, std::string_view subresource, json::Arena& arena,
                     json::Value& object, const json::Value& live) {
  const Strategy& strategy = strategy_of(resource);
  json::Value& metadata = metadata_of(arena, object);
  if (!strategy.generation()) {
    return;
  }
  const json::Value* before = live.get({"metadata", "generation"});
  const std::int64_t generation = before == nullptr ? 0 : before->to_int64().value_or(0);
  if (spec_differs(object, live) || (strategy.annotations_count() && subresource != "status" &&
                                     annotations_differ(object, live))) {
    metadata.set_static(arena, "generation", json::Value::integer(arena, generation + 1));
  }
}

// Nothing holds the object any more and its deletion was requested.
bool ends_deletion(const Resource& resource, const json::Value& object) {
  if (!is_being_deleted(object) || !finalizers_of(object).empty()) {
    return false;
  }
  const json::Value* grace = object.get({"metadata", "deletionGracePeriodSeconds"});
  return (grace == nullptr || grace->to_int64().value_or(0) == 0) &&
         strategy_of(resource).may_go(object);
}

// The stored state as the storage version has it today.
Result<json::Document> read_live(const Resource& resource, const Object& live) {
  TRY_ASSIGN(json::Document document, json::parse_in_place(live.json()));
  // This write brings an object of an older storage version up to it.
  TRY(convert(resource, document.arena, document.root, resource.storage_api_version()));
  // An object that is older than a default of its definition has it from now on, on both sides:
  // nobody has changed anything.
  if (const schema::Node* schema = storage_schema(resource); resource.custom && schema != nullptr) {
    schema::apply_defaults(*schema, document.arena, document.root);
  }
  return document;
}

Task<Result<Attempt>> attempt_update(Call& call, const UpdateRequest& update,
                                     const WriteOptions& options, ObjectPtr live_object) {
  const Resource& resource = *call.resource;
  const std::size_t bytes = std::max(call.body_bytes, live_object->json().size());
  const bool outdated = live_object->api_version() != resource.storage_api_version();
  auto read = [&] { return read_live(resource, *live_object); };
  CO_TRY_ASSIGN(json::Document document, co_await aside(call, bytes, std::move(read)));
  json::Arena& arena = document.arena;
  const json::Value live = document.root;
  auto transform = [&] { return update.transform(arena, live); };
  CO_TRY_ASSIGN(json::Value object,
                co_await aside(call, update.apart ? bytes : 0, std::move(transform)));
  const WallTime now = call.server.env().clock.wall();
  WriteContext context{arena, now, update.subresource, &call.warnings, &call.user};
  auto prepare = [&]() -> Result<void> {
    TRY(settle_namespace(resource, live_object->ns(), arena, object));
    TRY(check_identity(resource, *live_object, object));
    TRY(check_deletion(resource, object, live));
    keep_server_metadata(arena, object, live);
    strategy_of(resource).set_defaults(context, object);
    keep_other_parts(call, update.subresource, arena, object, live);
    strategy_of(resource).prepare_update(context, object, live);
    return {};
  };
  CO_TRY(co_await aside(call, bytes_apart(resource, bytes), std::move(prepare)));

  AdmissionChain admission(call, {.user = call.user,
                                  .resource = resource,
                                  .operation = Operation::update,
                                  .subresource = update.subresource,
                                  .ns = live_object->ns(),
                                  .name = live_object->name(),
                                  .object = &object,
                                  .old = &live,
                                  .dry_run = options.dry_run,
                                  .context = context});
  Result<void> admitted = admission.mutate();
  if (admitted && admission.request().defaults_wanted) {
    auto complete = [&] {
      set_defaults(resource, context, object);
      return true;
    };
    co_await aside(call, bytes_apart(resource, bytes), std::move(complete));
  }
  bool remove = false;
  bool same = false;
  std::string text;
  auto settle = [&] {
    settle_form(resource, arena, object);
    // Nobody owns the fields of a binding, and the generation stays.
    const bool binding = update.subresource == "binding";
    if (!binding) {
      bump_generation(resource, update.subresource, arena, object, live);
    }
    if (!binding && !options.managed_fields_done) {
      record_manager(call, arena, &live, object, options, update.subresource, now);
    }
    return true;
  };
  auto check = [&]() -> Result<void> {
    TRY(validate_object(resource, context, object, &live));
    remove = ends_deletion(resource, object);
    text = storage_text(resource, object);
    same = text == live_object->json() || json::equal(object, live);
    return {};
  };
  if (admitted) {
    co_await aside(call, bytes, std::move(settle));
    admitted = co_await aside(call, bytes_apart(resource, bytes), std::move(check));
  }
  // An object that would not change is not written: nobody is woken, the version stays.
  if (admitted && !remove && !outdated && same) {
    admission.finish(false);
    co_return Attempt{.written = {.text = live_object->text()}};
  }
  if (admitted) {
    admitted = admission.validate();
  }
  if (!admitted) {
    admission.finish(false);
    co_return fail(std::move(admitted).error());
  }
  if (options.dry_run) {
    admission.finish(false);
    co_return Attempt{.written = {.text = Bytes::from(std::move(text)), .removed = remove}};
  }
  Write write{.op = remove ? Write::Op::remove : Write::Op::update,
              .collection = resource.collection,
              .ns = std::string(live_object->ns()),
              .name = std::string(live_object->name()),
              .text = std::move(text),
              .expected = live_object->revision()};
  Result<ObjectPtr> stored = co_await call.server.store().commit(std::move(write));
  admission.finish(stored.has_value());
  if (!stored) {
    if (stored.error().code == ErrorCode::conflict) {
      co_return Attempt{.conflict = true};
    }
    co_return fail(store_error(stored.error(), resource, live_object->name()));
  }
  co_return Attempt{.written = {.text = (*stored)->text(), .removed = remove}};
}

// PUT makes the object where it is not there, for the few kinds that allow it.
bool may_create(const Call& call) {
  return call.info.subresource.empty() && strategy_of(*call.resource).allow_create_on_update();
}

Error must_have_version(const Call& call) {
  FieldErrors errors;
  errors.invalid("metadata.resourceVersion", "0x0", "must be specified for an update");
  return errors.to_error(call.resource->group, call.resource->kind, call.info.name);
}

}  // namespace

Task<Result<Written>> update_object(Call& call, UpdateRequest update, WriteOptions options) {
  const Resource& resource = *call.resource;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    ObjectPtr live = call.server.store().get(resource.collection, update.ns, update.name);
    if (live == nullptr) {
      co_return fail(not_found_error(resource, update.name));
    }
    call.enter_step();
    const std::size_t warnings = call.warnings.size();
    CO_TRY_ASSIGN(Attempt done, co_await attempt_update(call, update, options, live));
    if (!done.conflict) {
      co_return std::move(done.written);
    }
    call.warnings.resize(warnings);
  }
  co_return fail(modified_error(resource, update.name));
}

Task<Result<net::Response>> handle_update(Call& call) {
  CO_TRY_ASSIGN(WriteOptions options,
                write_options(call.info, call.request.headers, "UpdateOptions"));
  CO_TRY_ASSIGN(SentObject sent,
                co_await read_object(call, expected_of(call), options.field_validation));
  json::Document& document = sent.document;
  CO_TRY(
      convert(*call.resource, document.arena, document.root, call.resource->storage_api_version()));
  json::Value& object = document.root;
  json::Value& metadata = metadata_of(document.arena, object);
  if (metadata.string_or_empty("name").empty()) {
    co_return fail(bad_request("the name of the object (" + call.info.name +
                               " based on URL) was undeterminable: name must be provided"));
  }
  if (metadata.string_or_empty("name") != call.info.name) {
    co_return fail(bad_request("the name of the object (" +
                               std::string(metadata.string_or_empty("name")) +
                               ") does not match the name on the URL (" + call.info.name + ")"));
  }
  const bool versioned = !asked_revision(object).empty();
  Store& store = call.server.store();
  if (store.get(call.resource->collection, call.ns(), call.info.name) == nullptr && !versioned &&
      may_create(call)) {
    json::Value fresh = object;
    CO_TRY_ASSIGN(Written created,
                  co_await create_object(call, document.arena, fresh, std::move(options)));
    co_return co_await object_response(call, 201, created.text);
  }
  if (!versioned &&
      (call.resource->custom || !strategy_of(*call.resource).allow_unconditional_update())) {
    if (store.get(call.resource->collection, call.ns(), call.info.name) == nullptr) {
      co_return fail(not_found_error(*call.resource, call.info.name));
    }
    co_return fail(must_have_version(call));
  }
  UpdateRequest update{.ns = std::string(call.ns()),
                       .name = call.info.name,
                       .subresource = call.info.subresource,
                       .transform =
                           [&object](json::Arena& arena, const json::Value&) {
                             return Result<json::Value>(object.clone(arena));
                           },
                       .apart = true};
  CO_TRY_ASSIGN(Written written,
                co_await update_object(call, std::move(update), std::move(options)));
  co_return co_await object_response(call, 200, written.text);
}

}  // namespace codeflare::apiserver::internal
