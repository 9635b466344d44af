#pragma once

#include "base/error.h"
#include "json/value.h"
#include "model/status.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::apiserver {

// The problems of an object, field by field; becomes a 422 with upstream's words and causes.
//   errors.required("spec.containers", "");
//   errors.invalid("spec.replicas", "-1", "must be greater than or equal to 0");
// Errors beyond the number that anybody reads are dropped: a request must not cost, or be answered
// with, many times its own size.
class FieldErrors {
 public:
  static constexpr std::size_t kCausesMax = 256;
  static constexpr std::size_t kBytesMax = 1u << 20;

  bool empty() const { return causes_.empty(); }
  // More would be dropped: whoever makes expensive ones asks first.
  bool full() const { return causes_.size() >= kCausesMax || bytes_ >= kBytesMax; }
  const std::vector<model::StatusCause>& causes() const { return causes_; }

  // `shown` is the bad value as it appears in the message: show(value), or the same by hand.
  void required(std::string field, std::string_view detail = {});
  void invalid(std::string field, std::string_view shown, std::string_view detail);
  void invalid_text(std::string field, std::string_view text, std::string_view detail);
  void not_supported(std::string field, std::string_view shown,
                     const std::vector<std::string>& supported);
  void forbidden(std::string field, std::string_view detail);
  void duplicate(std::string field, std::string_view shown);
  void not_found(std::string field, std::string_view shown);
  void too_long(std::string field, std::size_t bytes_max);
  void too_many(std::string field, std::size_t count, std::size_t count_max);
  void type_invalid(std::string field, std::string_view shown, std::string_view detail);
  void add(model::StatusCause cause);

  // `Pod "x" is invalid: spec.containers: Required value`, with all causes. Kinds of a group are
  // written `Job.batch "x" is invalid: ...`.
  Error to_error(std::string_view group, std::string_view kind, std::string_view name) const;

 private:
  void add(std::string_view reason, std::string field, std::string message);

  std::vector<model::StatusCause> causes_;
  std::size_t bytes_ = 0;  // of their texts
};

// Text in quotes as Go's %q writes it.
std::string quote(std::string_view text);
// A bad value as messages show it: text in quotes, numbers and booleans bare, objects and lists as
// JSON with sorted keys.
std::string show(const json::Value& value);

}  // namespace codeflare::apiserver
