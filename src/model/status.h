#pragma once

#include "base/error.h"
#include "model/extra.h"
#include "model/list.h"
#include "model/meta.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::model {

// One of the reasons for a failure, usually about one field of the object that was sent.
struct StatusCause {
  std::string reason;  // "FieldValueInvalid", "FieldManagerConflict", ...
  std::string message;
  std::string field;
  Extra extra;

  friend bool operator==(const StatusCause&, const StatusCause&) = default;
};

struct StatusDetails {
  std::string name;
  std::string group;
  std::string kind;  // the resource ("pods") in most answers
  std::string uid;
  List<StatusCause> causes;
  std::int32_t retry_after_seconds = 0;
  Extra extra;

  friend bool operator==(const StatusDetails&, const StatusDetails&) = default;
};

// metav1.Status: what an API server answers instead of an object.
struct Status {
  ListMeta metadata;
  std::string status;  // "Success" or "Failure"
  std::string message;
  std::string reason;
  std::optional<StatusDetails> details;
  std::int32_t code = 0;  // HTTP status
  Extra extra;

  friend bool operator==(const Status&, const Status&) = default;
};

// The server's Status behind an Error.
class StatusDetail : public ErrorDetail {
 public:
  explicit StatusDetail(Status status_in) : status(std::move(status_in)) {}
  Status status;
};

// The caller's possible answers to a Status: decided by its reason, and by its code when the reason
// is missing or unknown. The message is the server's; the Status travels as detail.
Error to_error(Status status);

// The Status that came with the error, or nullptr.
const Status* status_of(const Error& error);
// The first cause with this reason, or nullptr.
const StatusCause* find_cause(const Error& error, std::string_view reason);

// The other way, for servers: the Status that came with the error, or one made from its code.
Status to_status(const Error& error);

}  // namespace codeflare::model
