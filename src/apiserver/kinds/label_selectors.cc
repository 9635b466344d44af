#include "apiserver/kinds/pod_spec.h"
#include "apiserver/kinds/podspec/checks.h"
#include "apiserver/registry/edit.h"
#include "json/member_index.h"

#include <algorithm>

namespace codeflare::apiserver {

void validate_labels(const json::Value& labels, std::string_view path, FieldErrors& errors) {
  podspec::check_labels(Field(labels, path, errors));
}

bool validate_label_selector(const json::Value& selector, std::string_view path,
                             FieldErrors& errors) {
  const std::size_t before = errors.causes().size();
  podspec::check_selector(Field(selector, path, errors));
  return errors.causes().size() == before;
}

bool selector_matches(const json::Value& selector, const json::Value& labels) {
  json::MemberIndex by_key(labels.members());
  for (const json::Member& member : object_at(selector, "matchLabels").members()) {
    const json::Value* value = by_key.find(member.key);
    if (value == nullptr || !json::equal(*value, member.value)) {
      return false;
    }
  }
  for (const json::Value& expression : items_at(selector, "matchExpressions")) {
    const json::Value* value = by_key.find(text_at(expression, "key"));
    const std::string_view op = text_at(expression, "operator");
    const bool listed = value != nullptr && std::ranges::any_of(items_at(expression, "values"),
                                                                [&](const json::Value& item) {
                                                                  return json::equal(item, *value);
                                                                });
    if ((op == "In" && !listed) || (op == "NotIn" && listed) ||
        (op == "Exists" && value == nullptr) || (op == "DoesNotExist" && value != nullptr)) {
      return false;
    }
  }
  return true;
}

}  // namespace codeflare::apiserver
