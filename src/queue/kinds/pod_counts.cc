#include "queue/kinds/pod_counts.h"

#include "json/pointer.h"
#include "queue/kinds/kinds.h"

#include <algorithm>

namespace codeflare::queue {

std::optional<std::int64_t> count_in(const json::Value& parent, std::string_view key) {
  const json::Value* value = parent.find(key);
  if (value == nullptr || !value->is_number()) {
    return std::nullopt;
  }
  const std::optional<std::int64_t> number = value->to_int64();
  return number ? std::optional(std::clamp<std::int64_t>(*number, 0, kPodCountMax)) : std::nullopt;
}

std::optional<std::int64_t> pods_of_template(const json::Value& object,
                                             std::string_view template_path) {
  const Result<json::Pointer> path = json::Pointer::parse(template_path);
  if (!path || path->is_root() || path->tokens().back() != "template") {
    return std::nullopt;
  }
  const json::Value* parent = json::find(object, path->parent());
  if (parent == nullptr || !parent->is_object()) {
    return std::nullopt;
  }
  const WrappedKind* kind = find_kind_of(object);
  return kind != nullptr && kind->count_pods != nullptr
             ? kind->count_pods({*parent, path->tokens()})
             : std::nullopt;
}

}  // namespace codeflare::queue
