#include "apiserver/rest/internal/patch.h"

#include "apiserver/patch/field_manager.h"
#include "apiserver/patch/strategic_merge.h"
#include "apiserver/rest/internal/decode.h"
#include "apiserver/rest/internal/errors.h"
#include "apiserver/rest/internal/handlers.h"
#include "apiserver/rest/internal/metadata.h"
#include "apiserver/rest/internal/response.h"
#include "apiserver/rest/internal/turns.h"
#include "apiserver/rest/internal/write.h"
#include "apiserver/schema/walk.h"
#include "json/merge_patch.h"
#include "json/parse.h"
#include "json/patch.h"
#include "json/yaml.h"

namespace codeflare::apiserver::internal {
namespace {

constexpr std::string_view kJsonPatch = "application/json-patch+json";
constexpr std::string_view kMergePatch = "application/merge-patch+json";
constexpr std::string_view kStrategicPatch = "application/strategic-merge-patch+json";
constexpr std::string_view kApplyPatch = "application/apply-patch+yaml";

Error patch_failed(const Error& error, PatchType type) {
  if (error.detail != nullptr && error.code != ErrorCode::invalid_argument) {
    return error;
  }
  switch (error.code) {
    case ErrorCode::failed_precondition:
      return unprocessable();
    case ErrorCode::too_large:
      return type == PatchType::json ? body_too_large_message(
                                           "the allowed maximum operations or size of a JSON patch "
                                           "was exceeded: " +
                                           error.message)
                                     : error;
    default:
      return bad_request(error.message);
  }
}

}  // namespace

Result<PatchType> patch_type(const Call& call) {
  const std::string type = media_type(call.header("Content-Type").value_or(""));
  const bool custom = call.resource->custom;
  if (type == kJsonPatch) {
    return PatchType::json;
  }
  if (type == kMergePatch) {
    return PatchType::merge;
  }
  if (type == kStrategicPatch && !custom) {
    return PatchType::strategic;
  }
  if (type == kApplyPatch) {
    return PatchType::apply;
  }
  std::string accepted = std::string(kJsonPatch) + ", " + std::string(kMergePatch);
  if (!custom) {
    accepted.append(", ").append(kStrategicPatch);
  }
  return fail(unsupported_media_type(accepted.append(", ").append(kApplyPatch)));
}

Result<json::Document> decode_patch(PatchType type, std::string_view body,
                                    std::vector<std::string>* duplicates) {
  if (type == PatchType::apply) {
    json::YamlOptions options;
    options.duplicate_keys = duplicates;
    Result<std::vector<json::Document>> documents = json::parse_yaml(body, options);
    if (!documents || documents->size() != 1 || !documents->front().root.is_object()) {
      return fail(bad_request("error decoding YAML: " + (documents ? "the body must be one object"
                                                                   : documents.error().message)));
    }
    return std::move(documents->front());
  }
  Result<json::Document> document = parse_sent(body, duplicates);
  if (!document) {
    return fail(bad_request("error decoding patch: " + document.error().message));
  }
  // Upstream takes null for a patch without operations, but not for a merge patch.
  if (document->root.is_null() && type != PatchType::merge) {
    document->root = type == PatchType::json ? json::Value::array() : json::Value::object();
  }
  const bool right =
      type == PatchType::json ? document->root.is_array() : document->root.is_object();
  if (!right) {
    return fail(bad_request("error decoding patch: a patch of this type is no " +
                            std::string(json::to_string(document->root.kind()))));
  }
  return document;
}

Result<json::Value> patched(PatchType type, const schema::Node* node, json::Arena& arena,
                            const json::Value& current, const json::Value& patch) {
  if (type == PatchType::json) {
    Result<json::Document> result = json::apply_patch(current, patch, {.replace_adds = true});
    if (!result) {
      return fail(patch_failed(result.error(), type));
    }
    if (!result->root.is_object()) {
      return fail(unprocessable());
    }
    return result->root.clone(arena);
  }
  if (type == PatchType::merge || node == nullptr) {
    return json::apply_merge_patch(arena, current, patch);
  }
  json::Value target = current.clone(arena);
  Result<void> merged = strategic_merge(*node, arena, target, patch);
  if (!merged) {
    return fail(patch_failed(merged.error(), type));
  }
  return target;
}

namespace {

// Ordinary patches: live state in, patched state out, both in the storage version; the patch itself
// speaks the request's version.
Task<Result<net::Response>> patch_live(Call& call, PatchType type, const json::Value& patch,
                                       const std::vector<std::string>& duplicates,
                                       WriteOptions options) {
  const FieldValidation validation = options.field_validation;
  UpdateRequest update{.ns = std::string(call.ns()),
                       .name = call.info.name,
                       .subresource = call.info.subresource,
                       .transform = {}};
  update.apart = true;
  update.transform = [&](json::Arena& arena, const json::Value& live) -> Result<json::Value> {
    json::Value current = live;
    if (!call.is_storage_version()) {
      current = live.clone(arena);
      TRY(convert(*call.resource, arena, current, call.api_version()));
    }
    TRY_ASSIGN(json::Value object, patched(type, call.version->schema, arena, current, patch));
    Expected expected = expected_of(call);
    expected.patched = true;
    TRY(check_object(expected, arena, object, validation, duplicates, call.warnings));
    TRY(convert(*call.resource, arena, object, call.resource->storage_api_version()));
    return object;
  };
  CO_TRY_ASSIGN(Written written,
                co_await update_object(call, std::move(update), std::move(options)));
  co_return co_await object_response(call, 200, written.text);
}

Result<json::Value> applied_object(Call& call, json::Arena& arena, const json::Value* live,
                                   const json::Value& applied, const WriteOptions& options) {
  ManagerId manager{.name = options.field_manager,
                    .api_version = manager_version(call),
                    .subresource = call.info.subresource};
  if (call.info.subresource.empty() && call.version->has_status) {
    manager.reset_fields = {"status"};
  } else if (call.info.subresource == "status") {
    manager.reset_fields = {"spec"};
  }
  TRY_ASSIGN(json::Value object, apply(*storage_schema(*call.resource), arena, live, applied,
                                       manager, options.force, call.server.env().clock.wall()));
  TRY(convert(*call.resource, arena, object, call.resource->storage_api_version()));
  return object;
}

// Applied objects come without defaults: nobody owns those.
void set_schema_defaults(const Call& call, json::Arena& arena, json::Value& object) {
  schema::apply_defaults(*storage_schema(*call.resource), arena, object);
}

Task<Result<Written>> apply_once(Call& call, json::Document& document, WriteOptions options) {
  Store& store = call.server.store();
  const json::Value& applied = document.root;
  options.managed_fields_done = true;
  if (store.get(call.resource->collection, call.ns(), call.info.name) == nullptr) {
    if (!call.info.subresource.empty()) {
      co_return fail(not_found_error(*call.resource, call.info.name));
    }
    if (std::string_view uid = meta_text(applied, "uid"); !uid.empty()) {
      co_return fail(conflict_error(*call.resource, call.info.name,
                                    "uid mismatch: the provided object specified uid " +
                                        std::string(uid) + ", and no existing object was found"));
    }
    auto make = [&]() -> Result<json::Value> {
      TRY_ASSIGN(json::Value made, applied_object(call, document.arena, nullptr, applied, options));
      set_schema_defaults(call, document.arena, made);
      return made;
    };
    CO_TRY_ASSIGN(json::Value object, co_await aside(call, call.body_bytes, std::move(make)));
    co_return co_await create_object(call, document.arena, object, std::move(options));
  }
  UpdateRequest update{.ns = std::string(call.ns()),
                       .name = call.info.name,
                       .subresource = call.info.subresource,
                       .transform = {}};
  update.apart = true;
  update.transform = [&call, &applied, options](json::Arena& arena,
                                                const json::Value& live) -> Result<json::Value> {
    TRY_ASSIGN(json::Value object, applied_object(call, arena, &live, applied, options));
    set_schema_defaults(call, arena, object);
    return object;
  };
  co_return co_await update_object(call, std::move(update), std::move(options));
}

// Checks what was sent, and brings it to the version in which its fields are named.
Result<void> prepare_applied(Call& call, json::Document& document,
                             const std::vector<std::string>& duplicates,
                             const WriteOptions& options) {
  json::Value& applied = document.root;
  // Defaults belong to nobody: only what was sent is applied.
  TRY(check_sent_object(expected_of(call), document.arena, applied, options.field_validation,
                        duplicates, call.warnings));
  json::Value& metadata = metadata_of(document.arena, applied);
  if (metadata.string_or_empty("name").empty()) {
    metadata.set_static(document.arena, "name", json::Value::string_view_of(call.info.name));
  } else if (metadata.string_or_empty("name") != call.info.name) {
    return fail(bad_request("the name of the object (" +
                            std::string(metadata.string_or_empty("name")) +
                            ") does not match the name on the URL (" + call.info.name + ")"));
  }
  TRY(settle_namespace(*call.resource, call.ns(), document.arena, applied));
  return convert(*call.resource, document.arena, applied, manager_version(call));
}

Task<Result<net::Response>> apply_patch_body(Call& call, json::Document document,
                                             const std::vector<std::string>& duplicates,
                                             WriteOptions options) {
  if (storage_schema(*call.resource) == nullptr) {
    co_return fail(not_implemented("server-side apply needs a schema"));
  }
  json::Value& applied = document.root;
  if (applied.string_or_empty("apiVersion").empty() || applied.string_or_empty("kind").empty()) {
    co_return fail(bad_request("apply patches must carry apiVersion and kind"));
  }
  const json::Value* managed = applied.get({"metadata", "managedFields"});
  if (managed != nullptr && managed->size() > 0) {
    co_return fail(bad_request("metadata.managedFields must be nil"));
  }
  auto prepare = [&] { return prepare_applied(call, document, duplicates, options); };
  CO_TRY(co_await aside(call, call.body_bytes, std::move(prepare)));
  Result<Written> written = co_await apply_once(call, document, options);
  if (!written && written.error().code == ErrorCode::already_exists) {
    written = co_await apply_once(call, document, options);
  }
  if (!written) {
    co_return fail(std::move(written).error());
  }
  co_return co_await object_response(call, written->created ? 201 : 200, written->text);
}

}  // namespace

Task<Result<net::Response>> handle_patch(Call& call) {
  CO_TRY_ASSIGN(const PatchType type, patch_type(call));
  CO_TRY_ASSIGN(WriteOptions options,
                write_options(call.info, call.request.headers, "PatchOptions"));
  FieldErrors errors;
  if (type == PatchType::apply && !options.field_manager_given) {
    errors.required("fieldManager", "is required for apply patch");
  }
  if (type != PatchType::apply && call.info.query.get("force")) {
    errors.forbidden("force", "may not be specified for non-apply patch");
  }
  if (!errors.empty()) {
    co_return fail(errors.to_error("meta.k8s.io", "PatchOptions", ""));
  }
  CO_TRY_ASSIGN(std::string body, co_await read_body(call));
  std::vector<std::string> duplicates;
  auto decode = [&] { return decode_patch(type, body, &duplicates); };
  CO_TRY_ASSIGN(json::Document document, co_await aside(call, body.size(), std::move(decode)));
  if (type == PatchType::apply) {
    co_return co_await apply_patch_body(call, std::move(document), duplicates, std::move(options));
  }
  co_return co_await patch_live(call, type, document.root, duplicates, std::move(options));
}

}  // namespace codeflare::apiserver::internal
