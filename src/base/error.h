#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace codeflare {

// Codes by what the caller may do about a failure. The comment names the usual answer.
enum class ErrorCode : std::uint8_t {
  cancelled,            // the caller asked to stop; never logged above debug
  invalid_argument,     // the request itself is wrong: fix it
  not_found,            // the object is not there
  already_exists,       // creation lost against an existing object
  conflict,             // somebody else wrote first: read again, decide again
  expired,              // the position in a history is gone: start over from a fresh list
  unauthenticated,      // credentials are missing, wrong or out of date
  permission_denied,    // who you are is known, and it is not enough
  failed_precondition,  // the system is not in the state the operation needs
  too_large,            // a size or depth limit was exceeded
  resource_exhausted,   // too much right now: retry later
  unavailable,          // could not be reached or is not ready: retry later
  deadline_exceeded,    // no answer in time; the effect is unknown
  unsupported,          // not offered here
  data_loss,            // bytes are damaged or missing
  internal,             // a fault of the other side or of ours
};

std::string_view to_string(ErrorCode code);

// Structured facts that travel with an error; kube keeps the server's Status in one.
class ErrorDetail {
 public:
  virtual ~ErrorDetail() = default;
};

// A failure: what may be done about it, one line for people, and optional structured facts.
// Messages are lower case without a full stop and name the object and the numbers.
struct [[nodiscard]] Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;
  // When the other side said how long to wait before a retry.
  std::optional<std::chrono::milliseconds> retry_after{};
  std::shared_ptr<const ErrorDetail> detail{};

  Error(ErrorCode code_in, std::string message_in)
      : code(code_in), message(std::move(message_in)) {}

  // The same error seen from one layer up: "context: message".
  Error with_context(std::string_view context) const&;
  Error with_context(std::string_view context) &&;

  // "not_found: pods "x" not found", for logs and test failures.
  std::string to_string() const;
};

// The sixteen constructors read better at the place of failure than Error{ErrorCode::x, ...}.
inline Error cancelled(std::string m = "cancelled") {
  return {ErrorCode::cancelled, std::move(m)};
}
inline Error invalid_argument(std::string m) {
  return {ErrorCode::invalid_argument, std::move(m)};
}
inline Error not_found(std::string m) {
  return {ErrorCode::not_found, std::move(m)};
}
inline Error already_exists(std::string m) {
  return {ErrorCode::already_exists, std::move(m)};
}
inline Error conflict(std::string m) {
  return {ErrorCode::conflict, std::move(m)};
}
inline Error expired(std::string m) {
  return {ErrorCode::expired, std::move(m)};
}
inline Error unauthenticated(std::string m) {
  return {ErrorCode::unauthenticated, std::move(m)};
}
inline Error permission_denied(std::string m) {
  return {ErrorCode::permission_denied, std::move(m)};
}
inline Error failed_precondition(std::string m) {
  return {ErrorCode::failed_precondition, std::move(m)};
}
inline Error too_large(std::string m) {
  return {ErrorCode::too_large, std::move(m)};
}
inline Error resource_exhausted(std::string m) {
  return {ErrorCode::resource_exhausted, std::move(m)};
}
inline Error unavailable(std::string m) {
  return {ErrorCode::unavailable, std::move(m)};
}
inline Error deadline_exceeded(std::string m) {
  return {ErrorCode::deadline_exceeded, std::move(m)};
}
inline Error unsupported(std::string m) {
  return {ErrorCode::unsupported, std::move(m)};
}
inline Error data_loss(std::string m) {
  return {ErrorCode::data_loss, std::move(m)};
}
inline Error internal_error(std::string m) {
  return {ErrorCode::internal, std::move(m)};
}

}  // namespace codeflare
