#include "apiserver/rest/internal/write.h"

#include "apiserver/patch/field_manager.h"
#include "apiserver/rest/internal/errors.h"
#include "apiserver/rest/internal/metadata.h"
#include "apiserver/schema/builtin.h"
#include "apiserver/schema/builtin_form.h"
#include "apiserver/schema/walk.h"
#include "model/gvk.h"

#include <algorithm>
#include <array>
#include <utility>

namespace codeflare::apiserver::internal {
namespace {

// Subresources that take the whole object but change parts of it.
constexpr auto kParts = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"finalize", "spec.finalizers"},
    {"ephemeralcontainers", "spec.ephemeralContainers"},
    {"resize", "spec.containers"},
    {"resize", "spec.initContainers"},
    {"approval", "status.conditions"},
});

// Puts the object's part at "member.key" in place of the target's.
void take_part(json::Arena& arena, json::Value& target, const json::Value& object,
               std::string_view path) {
  const std::string_view member = path.substr(0, path.find('.'));
  const std::string_view key = path.substr(member.size() + 1);
  const json::Value* part = object.get({member, key});
  json::Value* holder = target.find(member);
  if (holder == nullptr || !holder->is_object()) {
    holder = &target.set(arena, member, json::Value::object());
  }
  if (part == nullptr) {
    holder->erase(key);
  } else {
    holder->set(arena, key, *part);
  }
}

// A write to the status of a built-in object may change its metadata too; of a custom one only the
// field owners count.
void keep_or_take_metadata(const Resource& resource, json::Arena& arena, const json::Value& object,
                           json::Value& result) {
  const json::Value* metadata = object.find("metadata");
  if (metadata == nullptr) {
    return;
  }
  if (!resource.custom) {
    result.set_static(arena, "metadata", *metadata);
  } else if (const json::Value* managers = metadata->find("managedFields")) {
    metadata_of(arena, result).set_static(arena, "managedFields", *managers);
  }
}

}  // namespace

const schema::Node* storage_schema(const Resource& resource) {
  if (resource.stored_as.empty()) {
    return resource.versions[resource.storage_version].schema;
  }
  const model::GroupVersion stored = model::parse_api_version(resource.stored_as);
  return schema::find_builtin(stored.group, stored.version, resource.kind);
}

AdmissionChain::AdmissionChain(Call& call, AdmissionRequest request)
    : call_(call), request_(std::move(request)) {}

Result<void> AdmissionChain::mutate() {
  for (Admission* admission : call_.server.parts.admission) {
    TRY(admission->mutate(request_));
  }
  kept_ = request_.on_finish.size();
  return {};
}

Result<void> AdmissionChain::validate() {
  for (Admission* admission : call_.server.parts.admission) {
    TRY(admission->validate(request_));
  }
  return {};
}

void AdmissionChain::end_attempt() {
  while (request_.on_finish.size() > kept_) {
    request_.on_finish.back()(false);
    request_.on_finish.pop_back();
  }
}

void AdmissionChain::finish(bool committed) {
  while (!request_.on_finish.empty()) {
    request_.on_finish.back()(committed);
    request_.on_finish.pop_back();
  }
}

const Strategy& strategy_of(const Resource& resource) {
  static const Strategy kPlain;
  return resource.strategy != nullptr ? *resource.strategy : kPlain;
}

std::size_t bytes_apart(const Resource& resource, std::size_t bytes) {
  return strategy_of(resource).pure() ? bytes : 0;
}

void set_defaults(const Resource& resource, WriteContext& context, json::Value& object) {
  if (const schema::Node* node = storage_schema(resource)) {
    schema::apply_defaults(*node, context.arena, object);
  }
  strategy_of(resource).set_defaults(context, object);
}

void settle_form(const Resource& resource, json::Arena& arena, json::Value& object) {
  const schema::Node* node = storage_schema(resource);
  if (node != nullptr && !resource.custom) {
    object = schema::builtin_form(*node, object, arena);
  }
}

Result<void> validate_object(const Resource& resource, WriteContext& context,
                             const json::Value& object, const json::Value* live) {
  FieldErrors errors;
  validate_metadata(resource, object, live, errors);
  if (const schema::Node* node = storage_schema(resource)) {
    schema::validate(*node, object, live, errors);
  }
  const Strategy& strategy = strategy_of(resource);
  strategy.validate(context, object, errors);
  // A binding changes what users may not.
  if (live != nullptr && context.subresource != "binding") {
    strategy.validate_update(context, object, *live, errors);
  }
  if (!errors.empty()) {
    return fail(errors.to_error(resource.group, resource.kind, meta_text(object, "name")));
  }
  return {};
}

std::string manager_version(const Call& call) {
  return call.resource->convert ? call.resource->storage_api_version() : call.api_version();
}

void record_manager(const Call& call, json::Arena& arena, const json::Value* live,
                    json::Value& object, const WriteOptions& options, std::string_view subresource,
                    WallTime now) {
  const Resource& resource = *call.resource;
  const schema::Node* node = storage_schema(resource);
  if (node == nullptr) {
    return;
  }
  ManagerId manager{.name = options.field_manager,
                    .api_version = manager_version(call),
                    .subresource = std::string(subresource)};
  if (subresource.empty() && call.version->has_status) {
    manager.reset_fields = {"status"};
  } else if (subresource == "status") {
    manager.reset_fields = {"spec"};
  }
  track_update(*node, arena, live, object, manager, now);
}

void keep_other_parts(const Call& call, std::string_view subresource, json::Arena& arena,
                      json::Value& object, const json::Value& live) {
  if (subresource.empty()) {
    if (call.version->has_status) {
      if (const json::Value* status = live.find("status")) {
        object.set_static(arena, "status", status->clone(arena));
      } else {
        object.erase("status");
      }
    }
    return;
  }
  if (subresource == "status") {
    json::Value result = live.clone(arena);
    if (const json::Value* status = object.find("status")) {
      result.set_static(arena, "status", *status);
    } else {
      result.erase("status");
    }
    keep_or_take_metadata(*call.resource, arena, object, result);
    object = result;
    return;
  }
  if (std::ranges::none_of(kParts, [&](const auto& part) { return part.first == subresource; })) {
    return;
  }
  json::Value result = live.clone(arena);
  for (const auto& [name, path] : kParts) {
    if (name == subresource) {
      take_part(arena, result, object, path);
    }
  }
  // Metadata goes its own way: finalizers, labels and annotations may change with most writes.
  if (const json::Value* metadata = object.find("metadata")) {
    result.set_static(arena, "metadata", *metadata);
  }
  object = result;
}

}  // namespace codeflare::apiserver::internal
