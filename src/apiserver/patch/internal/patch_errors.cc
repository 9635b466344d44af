#include "apiserver/patch/internal/patch_errors.h"

#include "apiserver/patch/internal/go_print.h"
#include "model/status.h"

namespace codeflare::apiserver::internal {
namespace {

Error failure(std::int32_t code, std::string_view reason, std::string message) {
  model::Status status;
  status.status = "Failure";
  status.code = code;
  status.reason = reason;
  status.message = std::move(message);
  if (code == 422) {
    status.details.emplace();
  }
  return model::to_error(std::move(status));
}

}  // namespace

Error bad_format(std::string_view what) {
  return failure(400, "BadRequest", "invalid patch format of " + std::string(what));
}

Error bad_document(const json::Value& patch) {
  std::string_view kind = patch.is_boolean() ? "bool" : json::to_string(patch.kind());
  return failure(400, "BadRequest",
                 "json: cannot unmarshal " + std::string(kind) +
                     " into Go value of type map[string]interface {}");
}

Error list_of_lists() {
  return failure(422, "Invalid", "the server rejected our request due to an error in our request");
}

Error unexpected(std::string message) {
  return failure(500, "", std::move(message));
}

Error no_merge_key(const json::Value& map, std::string_view merge_key) {
  return unexpected("map: " + go_print(map) +
                    " does not contain declared merge key: " + std::string(merge_key));
}

Error bad_type(std::string_view expected, const json::Value& actual) {
  return unexpected("expected a " + std::string(expected) + ", but received a " +
                    std::string(go_type(actual)));
}

Error bad_patch_type(const json::Value& directive, const json::Value& map) {
  // %s of a value that is not a text: Go marks the mismatch with its type.
  std::string shown;
  if (directive.is_string()) {
    shown = directive.as_string();
  } else if (directive.is_null()) {
    shown = "%!s(<nil>)";
  } else if (directive.is_object() || directive.is_array()) {
    shown = go_print(directive);
  } else {
    shown = "%!s(" + std::string(go_type(directive)) + "=" + go_print(directive) + ")";
  }
  return unexpected("unknown patch type: " + shown + " in map: " + go_print(map));
}

}  // namespace codeflare::apiserver::internal
