#pragma once

#include "base/error.h"
#include "model/status.h"

#include <string>
#include <string_view>
#include <vector>

namespace codeflare::apiserver {

// What is wrong with an object, field by field; becomes a 422 with upstream's words and causes.
//   errors.required("spec.containers", "");
//   errors.invalid("spec.replicas", "-1", "must be greater than or equal to 0");
class FieldErrors {
 public:
  bool empty() const { return causes_.empty(); }
  const std::vector<model::StatusCause>& causes() const { return causes_; }

  // `shown` is the bad value as it appears in the message: JSON for numbers and objects, quoted
  // text for strings.
  void required(std::string field, std::string_view detail);
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

  // `Pod "x" is invalid: spec.containers: Required value`, with all causes.
  Error to_error(std::string_view group, std::string_view kind, std::string_view name) const;

 private:
  std::vector<model::StatusCause> causes_;
};

}  // namespace codeflare::apiserver
