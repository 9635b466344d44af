#include "apiserver/patch/internal/last_applied.h"

#include "apiserver/patch/internal/compare.h"
#include "apiserver/patch/internal/map_edit.h"
#include "apiserver/patch/internal/typed_merge.h"
#include "json/parse.h"
#include "json/write.h"

#include <algorithm>
#include <string>
#include <vector>

namespace codeflare::apiserver::internal {
namespace {

using json::Member;
using json::Value;

constexpr std::string_view kAnnotation = "kubectl.kubernetes.io/last-applied-configuration";
constexpr std::size_t kAnnotationBytesMax = std::size_t{256} << 10;

std::string_view annotation_of(const Value& object) {
  const Value* annotations = object.get({"metadata", "annotations"});
  return annotations == nullptr ? std::string_view() : annotations->string_or_empty(kAnnotation);
}

// Members by name, as Go writes maps.
Value sorted(json::Arena& arena, const Value& value) {
  if (value.is_array()) {
    std::vector<Value> items;
    for (const Value& item : value.items()) {
      items.push_back(sorted(arena, item));
    }
    return make_array(arena, items);
  }
  if (!value.is_object()) {
    return value;
  }
  std::vector<Member> members;
  for (const Member& member : value.members()) {
    members.push_back({member.key, sorted(arena, member.value)});
  }
  std::ranges::sort(members, {}, &Member::key);
  return make_object(arena, members);
}

std::string text_of(const Value& applied) {
  json::Arena arena;
  Value copy = sorted(arena, applied);
  if (Value* metadata = copy.find("metadata")) {
    if (Value* annotations = metadata->find("annotations")) {
      annotations->erase(kAnnotation);
    }
  }
  return json::to_text(copy) + "\n";
}

}  // namespace

std::optional<FieldSet> owned_by_last_applied(json::Arena& arena, const schema::Node& node,
                                              const Value& live, std::string_view api_version) {
  std::string_view text = annotation_of(live);
  if (text.empty()) {
    return std::nullopt;
  }
  auto parsed = json::parse(text);
  if (!parsed || parsed->root.string_or_empty("apiVersion") != api_version) {
    return std::nullopt;
  }
  Value last_applied = parsed->root.clone(arena);
  if (!check_applied(arena, node, last_applied).empty() ||
      !check_applied(arena, node, live).empty()) {
    return std::nullopt;
  }
  Changes changes = compare_objects(arena, node, last_applied, live);
  FieldSet owned = set_of_object(arena, node, last_applied);
  owned = set_difference(arena, owned, changes.modified);
  owned = set_difference(arena, owned, changes.added);
  return set_difference(arena, owned, changes.removed);
}

void update_last_applied(json::Arena& arena, Value& object, const Value& applied) {
  if (annotation_of(object).empty()) {
    return;
  }
  Value& annotations = *object.find("metadata")->find("annotations");
  annotations.set(arena, kAnnotation, Value::string(arena, text_of(applied)));
  std::size_t bytes = 0;
  for (const Member& member : annotations.members()) {
    bytes += member.key.size() + (member.value.is_string() ? member.value.as_string().size() : 0);
  }
  if (bytes > kAnnotationBytesMax) {
    annotations.erase(kAnnotation);
  }
}

}  // namespace codeflare::apiserver::internal
