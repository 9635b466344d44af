#include "apiserver/request/forbidden.h"
#include "apiserver/rest/internal/decode.h"
#include "apiserver/rest/internal/errors.h"
#include "apiserver/rest/internal/handlers.h"
#include "apiserver/rest/internal/metadata.h"
#include "apiserver/rest/internal/response.h"
#include "apiserver/rest/internal/turns.h"
#include "apiserver/rest/internal/write.h"
#include "apiserver/schema/walk.h"
#include "model/status.h"

namespace codeflare::apiserver::internal {
namespace {

constexpr int kGenerateAttempts = 8;

Error name_not_generated(const Resource& resource, std::string_view name) {
  model::Status status = model::to_status(already_exists_error(resource, name));
  status.message += ", the server was not able to generate a unique name for the object";
  return model::to_error(std::move(status));
}

Error revision_on_create() {
  model::Status status;
  status.status = "Failure";
  status.code = 500;
  status.message = "resourceVersion should not be set on objects to be created";
  return model::to_error(std::move(status));
}

// Nobody sets a status at creation, but a custom resource shows the default of its schema.
void drop_status(const Resource& resource, json::Arena& arena, json::Value& object) {
  object.erase("status");
  if (!resource.custom) {
    object.set_static(arena, "status", json::Value::object());
    return;
  }
  const schema::Node* node = storage_schema(resource);
  const schema::Field* status = node == nullptr ? nullptr : node->find("status");
  if (status != nullptr && !status->node->default_json.empty()) {
    schema::apply_defaults(*node, arena, object);
  }
}

// Everything up to admission. Touches nothing but the request.
bool prepare(Call& call, WriteContext& context, json::Value& object) {
  const Resource& resource = *call.resource;
  const Strategy& strategy = strategy_of(resource);
  strategy.set_defaults(context, object);
  if (call.version->has_status && !strategy.keeps_status_at_creation()) {
    drop_status(resource, context.arena, object);
  }
  strategy.prepare_create(context, object);
  return true;
}

Error definition_goes(const Resource& resource, std::string_view name) {
  return forbidden(resource, name,
                   "create not allowed while custom resource definition is terminating");
}

// A definition may have gone, or begun to go, while the body was on its way: what is stored after
// that is seen by nobody, until another definition of that name makes it appear.
Result<void> check_served(const Call& call, std::string_view name) {
  const Resource& resource = *call.resource;
  if (!resource.custom) {
    return {};
  }
  const ResourcePtr now =
      call.server.parts.registry.find(resource.group, call.info.version, resource.plural);
  if (now == nullptr || resource.gone.stop_requested()) {
    return fail(no_such_path());
  }
  if (now->terminating) {
    return fail(definition_goes(resource, name));
  }
  return {};
}

std::string set_name(Call& call, json::Arena& arena, json::Value& object, std::string_view prefix) {
  std::string name = generated_name(call.server.env().random, prefix);
  metadata_of(arena, object).set_static(arena, "name", json::Value::string(arena, name));
  return name;
}

}  // namespace

Task<Result<Written>> create_object(Call& call, json::Arena& arena, json::Value object,
                                    WriteOptions options) {
  const Resource& resource = *call.resource;
  if (resource.terminating) {
    co_return fail(definition_goes(resource, meta_text(object, "name")));
  }
  CO_TRY(settle_namespace(resource, call.ns(), arena, object));
  if (!asked_revision(object).empty()) {
    co_return fail(revision_on_create());
  }
  const WallTime now = call.server.env().clock.wall();
  const std::size_t bytes = bytes_apart(resource, call.body_bytes);
  WriteContext context{arena, now, "", &call.warnings, &call.user};
  fill_new_metadata(call.server.env(), resource, arena, object);
  auto begin = [&] { return prepare(call, context, object); };
  co_await aside(call, bytes, std::move(begin));

  std::string name(meta_text(object, "name"));
  const std::string prefix(meta_text(object, "generateName"));
  const bool generate = name.empty() && !prefix.empty();
  AdmissionChain admission(call, {.user = call.user,
                                  .resource = resource,
                                  .operation = Operation::create,
                                  .ns = call.ns(),
                                  .name = name,
                                  .object = &object,
                                  .dry_run = options.dry_run,
                                  .context = context});
  Result<void> admitted = admission.mutate();
  auto settle = [&] {
    if (admitted && admission.request().defaults_wanted) {
      set_defaults(resource, context, object);
    }
    settle_form(resource, arena, object);
    return true;
  };
  co_await aside(call, bytes, std::move(settle));
  Result<Written> written = fail(internal_error("the object was not written"));
  bool committed = false;
  for (int attempt = 0; attempt < kGenerateAttempts; ++attempt) {
    if (!admitted) {
      written = fail(std::move(admitted).error());
      break;
    }
    const std::string previous = name;
    if (generate) {
      name = set_name(call, arena, object, prefix);
      admission.request().name = name;
    }
    if (attempt == 0 && !options.managed_fields_done) {
      auto record = [&] {
        record_manager(call, arena, nullptr, object, options, "", now);
        return true;
      };
      co_await aside(call, call.body_bytes, std::move(record));
    }
    std::string text;
    auto check = [&]() -> Result<void> {
      if (generate) {
        strategy_of(resource).name_generated(context, object, previous);
        settle_form(resource, arena, object);
      }
      TRY(validate_object(resource, context, object, nullptr));
      text = storage_text(resource, object);
      return {};
    };
    admitted = co_await aside(call, bytes, std::move(check));
    // From here to the commit nobody else has a turn.
    if (admitted) {
      admitted = admission.validate();
    }
    if (admitted) {
      admitted = check_served(call, name);
    }
    if (!admitted) {
      continue;
    }
    if (options.dry_run) {
      if (call.server.store().get(resource.collection, call.ns(), name) != nullptr) {
        written = fail(already_exists_error(resource, name));
      } else {
        written = Written{.text = Bytes::from(std::move(text)), .created = true};
      }
      break;
    }
    Write write{.op = Write::Op::create,
                .collection = resource.collection,
                .ns = std::string(call.ns()),
                .name = name,
                .text = std::move(text)};
    Result<ObjectPtr> stored = co_await call.server.store().commit(std::move(write));
    if (stored) {
      committed = true;
      written = Written{.text = (*stored)->text(), .created = true};
      break;
    }
    written = fail(store_error(stored.error(), resource, name));
    if (!generate || stored.error().code != ErrorCode::already_exists) {
      break;
    }
    written = fail(name_not_generated(resource, name));
    admission.end_attempt();
  }
  admission.finish(committed);
  co_return written;
}

Task<Result<net::Response>> handle_create(Call& call) {
  CO_TRY_ASSIGN(WriteOptions options,
                write_options(call.info, call.request.headers, "CreateOptions"));
  CO_TRY_ASSIGN(SentObject sent,
                co_await read_object(call, expected_of(call), options.field_validation));
  json::Document& document = sent.document;
  CO_TRY(
      convert(*call.resource, document.arena, document.root, call.resource->storage_api_version()));
  json::Value object = document.root;
  CO_TRY_ASSIGN(Written written,
                co_await create_object(call, document.arena, object, std::move(options)));
  co_return co_await object_response(call, 201, written.text);
}

}  // namespace codeflare::apiserver::internal
