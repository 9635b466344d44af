#include "model/status.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <utility>

namespace codeflare::model {
namespace {

struct ReasonRule {
  std::string_view reason;
  std::int32_t http_code;
  ErrorCode code;
};

// Timeout means "the server gave up, the effect is unknown"; ServerTimeout asks for another try.
constexpr std::array<ReasonRule, 19> kReasons = {{
    {"BadRequest", 400, ErrorCode::invalid_argument},
    {"Unauthorized", 401, ErrorCode::unauthenticated},
    {"Forbidden", 403, ErrorCode::permission_denied},
    {"NotFound", 404, ErrorCode::not_found},
    {"MethodNotAllowed", 405, ErrorCode::unsupported},
    {"NotAcceptable", 406, ErrorCode::unsupported},
    {"Conflict", 409, ErrorCode::conflict},
    {"AlreadyExists", 409, ErrorCode::already_exists},
    {"Expired", 410, ErrorCode::expired},
    {"Gone", 410, ErrorCode::expired},
    {"RequestEntityTooLarge", 413, ErrorCode::too_large},
    {"UnsupportedMediaType", 415, ErrorCode::unsupported},
    {"Invalid", 422, ErrorCode::invalid_argument},
    {"TooManyRequests", 429, ErrorCode::resource_exhausted},
    {"InternalError", 500, ErrorCode::internal},
    {"ServerTimeout", 500, ErrorCode::unavailable},
    {"StorageReadError", 500, ErrorCode::data_loss},
    {"ServiceUnavailable", 503, ErrorCode::unavailable},
    {"Timeout", 504, ErrorCode::deadline_exceeded},
}};

ErrorCode code_of(const Status& status) {
  auto by_reason = std::ranges::find(kReasons, status.reason, &ReasonRule::reason);
  if (by_reason != kReasons.end()) {
    return by_reason->code;
  }
  auto by_code = std::ranges::find(kReasons, status.code, &ReasonRule::http_code);
  if (by_code != kReasons.end()) {
    return by_code->code;
  }
  // Gateways in front of a server that is restarting; 408 is a proxy that ran out of patience.
  switch (status.code) {
    case 408:
      return ErrorCode::deadline_exceeded;
    case 412:
      return ErrorCode::failed_precondition;
    case 502:
      return ErrorCode::unavailable;
    default:
      return status.code >= 400 && status.code < 500 ? ErrorCode::invalid_argument
                                                     : ErrorCode::internal;
  }
}

// The reason a server of ours gives for each code.
std::string_view reason_for(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
      return "BadRequest";
    case ErrorCode::not_found:
      return "NotFound";
    case ErrorCode::already_exists:
      return "AlreadyExists";
    case ErrorCode::conflict:
    case ErrorCode::failed_precondition:
      return "Conflict";
    case ErrorCode::expired:
      return "Expired";
    case ErrorCode::unauthenticated:
      return "Unauthorized";
    case ErrorCode::permission_denied:
      return "Forbidden";
    case ErrorCode::too_large:
      return "RequestEntityTooLarge";
    case ErrorCode::resource_exhausted:
      return "TooManyRequests";
    case ErrorCode::cancelled:
    case ErrorCode::unavailable:
      return "ServiceUnavailable";
    case ErrorCode::deadline_exceeded:
      return "Timeout";
    case ErrorCode::unsupported:
      return "MethodNotAllowed";
    case ErrorCode::data_loss:
    case ErrorCode::internal:
      return "InternalError";
  }
  return "InternalError";
}

std::string message_of(const Status& status) {
  if (!status.message.empty()) {
    return status.message;
  }
  if (!status.reason.empty()) {
    return status.reason;
  }
  return "the server answered " + std::to_string(status.code) + " without a message";
}

}  // namespace

Error to_error(Status status) {
  Error error(code_of(status), message_of(status));
  if (status.details && status.details->retry_after_seconds > 0) {
    error.retry_after = std::chrono::seconds(status.details->retry_after_seconds);
  }
  error.detail = std::make_shared<const StatusDetail>(std::move(status));
  return error;
}

const Status* status_of(const Error& error) {
  const auto* detail = dynamic_cast<const StatusDetail*>(error.detail.get());
  return detail == nullptr ? nullptr : &detail->status;
}

const StatusCause* find_cause(const Error& error, std::string_view reason) {
  const Status* status = status_of(error);
  if (status == nullptr || !status->details) {
    return nullptr;
  }
  auto at = std::ranges::find(status->details->causes, reason, &StatusCause::reason);
  return at == status->details->causes.end() ? nullptr : &*at;
}

Status to_status(const Error& error) {
  if (const Status* status = status_of(error)) {
    return *status;
  }
  Status status;
  status.status = "Failure";
  status.message = error.message;
  status.reason = reason_for(error.code);
  status.code = std::ranges::find(kReasons, status.reason, &ReasonRule::reason)->http_code;
  if (error.retry_after) {
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(*error.retry_after).count();
    status.details.emplace().retry_after_seconds = static_cast<std::int32_t>(seconds);
  }
  return status;
}

}  // namespace codeflare::model
