#include "apiserver/identity/internal/status_error.h"

#include "apiserver/schema/field_errors.h"
#include "model/status.h"

#include <utility>

namespace codeflare::apiserver::internal {

namespace {

std::string qualified(About about) {
  std::string name(about.resource);
  if (!about.group.empty()) {
    name.append(1, '.').append(about.group);
  }
  return name + ' ' + quote(about.name);
}

Error make(int code, std::string_view reason, std::string message, About about) {
  model::Status status;
  status.status = "Failure";
  status.code = code;
  status.reason = reason;
  status.message = std::move(message);
  status.details = model::StatusDetails{.name = std::string(about.name),
                                        .group = std::string(about.group),
                                        .kind = std::string(about.resource)};
  return model::to_error(std::move(status));
}

}  // namespace

Error object_not_found(About about) {
  return make(404, "NotFound", qualified(about) + " not found", about);
}

Error object_conflict(About about, std::string_view why) {
  return make(409, "Conflict",
              "Operation cannot be fulfilled on " + qualified(about) + ": " + std::string(why),
              about);
}

Error wrong_request(std::string message) {
  model::Status status;
  status.status = "Failure";
  status.code = 400;
  status.reason = "BadRequest";
  status.message = std::move(message);
  return model::to_error(std::move(status));
}

std::string_view shown_name(const AdmissionRequest& request) {
  if (!request.name.empty() || request.object == nullptr) {
    return request.name;
  }
  const json::Value* metadata = request.object->find("metadata");
  if (metadata == nullptr) {
    return "Unknown";
  }
  std::string_view name = metadata->string_or_empty("name");
  std::string_view prefix = metadata->string_or_empty("generateName");
  return !name.empty() ? name : !prefix.empty() ? prefix : "Unknown";
}

}  // namespace codeflare::apiserver::internal
