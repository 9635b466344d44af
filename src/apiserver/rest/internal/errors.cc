#include "apiserver/rest/internal/errors.h"

#include "apiserver/request/forbidden.h"
#include "model/status.h"

#include <utility>

namespace codeflare::apiserver::internal {
namespace {

model::Status failure(int code, std::string reason, std::string message) {
  model::Status status;
  status.status = "Failure";
  status.code = code;
  status.reason = std::move(reason);
  status.message = std::move(message);
  return status;
}

model::StatusDetails details_of(const Resource& resource, std::string_view name) {
  model::StatusDetails details;
  details.name = name;
  details.group = resource.group;
  details.kind = resource.plural;
  return details;
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  return out.append(text).append("\"");
}

}  // namespace

Error bad_request(std::string message) {
  return model::to_error(failure(400, "BadRequest", std::move(message)));
}

Error not_found_error(const Resource& resource, std::string_view name) {
  model::Status status =
      failure(404, "NotFound", resource.qualified_name() + " " + quoted(name) + " not found");
  status.details = details_of(resource, name);
  return model::to_error(std::move(status));
}

Error already_exists_error(const Resource& resource, std::string_view name) {
  model::Status status = failure(
      409, "AlreadyExists", resource.qualified_name() + " " + quoted(name) + " already exists");
  status.details = details_of(resource, name);
  return model::to_error(std::move(status));
}

Error conflict_error(const Resource& resource, std::string_view name, std::string_view why) {
  std::string message = "Operation cannot be fulfilled on " + resource.qualified_name() + " ";
  message.append(quoted(name)).append(": ").append(why);
  model::Status status = failure(409, "Conflict", std::move(message));
  status.details = details_of(resource, name);
  return model::to_error(std::move(status));
}

Error modified_error(const Resource& resource, std::string_view name) {
  return conflict_error(resource, name,
                        "the object has been modified; please apply your changes to the latest "
                        "version and try again");
}

Error method_not_supported(const Resource& resource, std::string_view action) {
  std::string message(action);
  message.append(" is not supported on resources of kind ")
      .append(quoted(resource.qualified_name()));
  model::Status status = failure(405, "MethodNotAllowed", std::move(message));
  status.details = details_of(resource, "");
  return model::to_error(std::move(status));
}

Error method_not_allowed() {
  model::Status status = failure(405, "MethodNotAllowed",
                                 "the server does not allow this method on the requested resource");
  status.details.emplace();
  return model::to_error(std::move(status));
}

Error no_such_path() {
  model::Status status =
      failure(404, "NotFound", "the server could not find the requested resource");
  status.details.emplace();
  return model::to_error(std::move(status));
}

Error forbidden_error(const User& user, const Access& access, std::string_view reason) {
  std::string why = "User " + quoted(user.name) + " cannot " + access.verb;
  if (access.resource.empty()) {
    why += " path " + quoted(access.path);
  } else {
    const std::string sub = access.subresource.empty() ? "" : "/" + access.subresource;
    why += " resource " + quoted(access.resource + sub) + " in API group " + quoted(access.group);
    why += access.ns.empty() ? " at the cluster scope" : " in the namespace " + quoted(access.ns);
  }
  if (!reason.empty()) {
    why.append(": ").append(reason);
  }
  if (access.resource.empty()) {
    model::Status status = failure(403, "Forbidden", "forbidden: " + why);
    status.details.emplace();
    return model::to_error(std::move(status));
  }
  return forbidden({.group = access.group, .resource = access.resource, .name = access.name}, why);
}

Error unauthorized() {
  return model::to_error(failure(401, "Unauthorized", "Unauthorized"));
}

Error unsupported_media_type(std::string_view accepted) {
  return model::to_error(
      failure(415, "UnsupportedMediaType",
              "the body of the request was in an unknown format - accepted media types include: " +
                  std::string(accepted)));
}

Error not_acceptable(std::string_view accepted) {
  return model::to_error(
      failure(406, "NotAcceptable",
              "only the following media types are accepted: " + std::string(accepted)));
}

Error too_many_requests(std::string_view message, int retry_seconds) {
  model::Status status = failure(429, "TooManyRequests", std::string(message));
  status.details.emplace().retry_after_seconds = retry_seconds;
  return model::to_error(std::move(status));
}

Error expired_error(std::string message) {
  return model::to_error(failure(410, "Expired", std::move(message)));
}

Error version_too_large(std::uint64_t asked, std::uint64_t current) {
  const std::string text = "Too large resource version";
  model::Status status = failure(
      504, "Timeout",
      "Timeout: " + text + ": " + std::to_string(asked) + ", current: " + std::to_string(current));
  model::StatusDetails& details = status.details.emplace();
  details.retry_after_seconds = 1;
  details.causes.push_back({.reason = "ResourceVersionTooLarge", .message = text});
  return model::to_error(std::move(status));
}

Error timed_out() {
  model::Status status = failure(504, "Timeout",
                                 "Timeout: request did not complete within requested timeout - "
                                 "context deadline exceeded");
  status.details.emplace();
  return model::to_error(std::move(status));
}

Error body_too_large(std::size_t limit) {
  return body_too_large_message("limit is " + std::to_string(limit));
}

Error body_too_large_message(std::string_view message) {
  return model::to_error(
      failure(413, "RequestEntityTooLarge", "Request entity too large: " + std::string(message)));
}

Error unprocessable() {
  model::Status status =
      failure(422, "Invalid", "the server rejected our request due to an error in our request");
  status.details.emplace();
  return model::to_error(std::move(status));
}

Error service_unavailable(std::string message) {
  return model::to_error(failure(503, "ServiceUnavailable", std::move(message)));
}

Error not_implemented(std::string message) {
  return model::to_error(failure(501, "NotImplemented", std::move(message)));
}

Error store_error(const Error& error, const Resource& resource, std::string_view name) {
  if (error.detail != nullptr) {
    return error;
  }
  switch (error.code) {
    case ErrorCode::not_found:
      return not_found_error(resource, name);
    case ErrorCode::already_exists:
      return already_exists_error(resource, name);
    case ErrorCode::conflict:
      return modified_error(resource, name);
    default:
      return error;
  }
}

}  // namespace codeflare::apiserver::internal
