#include "apiserver/rest/object_check.h"

#include "apiserver/rest/internal/decode.h"
#include "apiserver/rest/internal/encode.h"
#include "apiserver/rest/internal/metadata.h"
#include "apiserver/rest/internal/write.h"
#include "model/status.h"

#include <utility>

namespace codeflare::apiserver {

namespace {

constexpr std::string_view kUnknown = "unknown field \"";

// The server makes up what stands behind generateName.
void name_for_now(json::Arena& arena, json::Value& object) {
  const std::string prefix(internal::meta_text(object, "generateName"));
  if (internal::meta_text(object, "name").empty() && !prefix.empty()) {
    internal::metadata_of(arena, object)
        .set_static(arena, "name", json::Value::string(arena, prefix + "xxxxx"));
  }
}

// Field by field where the error has them.
void add_problems(const Error& error, std::vector<std::string>& problems) {
  const model::Status status = model::to_status(error);
  if (!status.details || status.details->causes.empty()) {
    problems.push_back(error.message);
    return;
  }
  for (const model::StatusCause& cause : status.details->causes) {
    problems.push_back(cause.field + (cause.field.empty() ? "" : ": ") + cause.message);
  }
}

Result<void> check(const CheckedAs& as, WriteContext& context, json::Value& object,
                   std::vector<std::string>& complaints) {
  const Resource& resource = as.resource;
  json::Arena& arena = context.arena;
  const internal::Expected expected{.api_version = resource.api_version(as.version),
                                    .kind = resource.kind,
                                    .schema = as.version.schema,
                                    .custom = resource.custom};
  TRY(internal::check_object(expected, arena, object, internal::FieldValidation::warn, {},
                             complaints));
  TRY(internal::convert(resource, arena, object, resource.storage_api_version()));
  TRY(internal::settle_namespace(resource, as.ns, arena, object));
  name_for_now(arena, object);
  const Strategy& strategy = internal::strategy_of(resource);
  strategy.set_defaults(context, object);
  if (as.version.has_status && !strategy.keeps_status_at_creation()) {
    object.erase("status");
  }
  strategy.prepare_create(context, object);
  internal::settle_form(resource, arena, object);
  return internal::validate_object(resource, context, object, nullptr);
}

}  // namespace

ObjectCheck check_new_object(const CheckedAs& as, WriteContext& context, json::Value object) {
  ObjectCheck found;
  std::vector<std::string> complaints;
  WriteContext own = context;
  own.warnings = &found.warnings;
  if (const Result<void> checked = check(as, own, object, complaints); !checked) {
    add_problems(checked.error(), found.problems);
  }
  for (std::string& complaint : complaints) {
    if (complaint.starts_with(kUnknown) && complaint.ends_with('"')) {
      found.unknown.push_back(
          complaint.substr(kUnknown.size(), complaint.size() - kUnknown.size() - 1));
    } else {
      found.warnings.push_back(std::move(complaint));
    }
  }
  return found;
}

}  // namespace codeflare::apiserver
