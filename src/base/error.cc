#include "base/error.h"

#include <utility>

namespace codeflare {

std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::cancelled:
      return "cancelled";
    case ErrorCode::invalid_argument:
      return "invalid_argument";
    case ErrorCode::not_found:
      return "not_found";
    case ErrorCode::already_exists:
      return "already_exists";
    case ErrorCode::conflict:
      return "conflict";
    case ErrorCode::expired:
      return "expired";
    case ErrorCode::unauthenticated:
      return "unauthenticated";
    case ErrorCode::permission_denied:
      return "permission_denied";
    case ErrorCode::failed_precondition:
      return "failed_precondition";
    case ErrorCode::too_large:
      return "too_large";
    case ErrorCode::resource_exhausted:
      return "resource_exhausted";
    case ErrorCode::unavailable:
      return "unavailable";
    case ErrorCode::deadline_exceeded:
      return "deadline_exceeded";
    case ErrorCode::unsupported:
      return "unsupported";
    case ErrorCode::data_loss:
      return "data_loss";
    case ErrorCode::internal:
      return "internal";
  }
  return "unknown";
}

Error Error::with_context(std::string_view context) const& {
  return Error(*this).with_context(context);
}

Error Error::with_context(std::string_view context) && {
  message.insert(0, std::string(context) + ": ");
  return std::move(*this);
}

std::string Error::to_string() const {
  return std::string(codeflare::to_string(code)) + ": " + message;
}

}  // namespace codeflare
