#include "apiserver/schema/checks.h"
#include "apiserver/schema/internal/structure_check.h"
#include "apiserver/schema/walk.h"

#include <algorithm>

namespace codeflare::apiserver::schema {
namespace {

// Wrong types and missing fields: a rule that reads them would only add noise.
bool misleads_rules(const model::StatusCause& cause) {
  return cause.reason == "FieldValueNotSupported" || cause.reason == "FieldValueRequired" ||
         cause.reason == "FieldValueTooLong" || cause.reason == "FieldValueTooMany" ||
         cause.reason == "FieldValueTypeInvalid";
}

}  // namespace

void validate(const Node& node, const json::Value& value, const json::Value* old,
              FieldErrors& errors) {
  if (!node.type_name.empty()) {
    return;
  }
  FieldErrors found;
  internal::check_values(node, value, old, found);
  internal::check_embedded(node, value, found);
  FieldErrors lists;
  internal::check_lists(node, value, lists);
  FieldErrors old_lists;
  if (!lists.empty() && old != nullptr) {
    internal::check_lists(node, *old, old_lists);
  }
  if (old_lists.empty()) {
    for (const model::StatusCause& cause : lists.causes()) {
      found.add(cause);
    }
  }
  if (node.checks != nullptr && node.checks->rules_below) {
    if (found.full() || std::ranges::any_of(found.causes(), misleads_rules)) {
      found.invalid("<nil>", "null",
                    "some validation rules were not checked because the object was invalid; "
                    "correct the existing errors to complete validation");
    } else {
      internal::check_rules(node, value, old, found);
    }
  }
  for (const model::StatusCause& cause : found.causes()) {
    errors.add(cause);
  }
}

}  // namespace codeflare::apiserver::schema
