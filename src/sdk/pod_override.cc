#include "sdk/pod_override.h"

#include <algorithm>
#include <array>
#include <utility>

namespace codeflare::sdk {

namespace {

using json::Value;

// By which member the items of a list are the same.
std::string_view merge_key(std::string_view list) {
  using Entry = std::pair<std::string_view, std::string_view>;
  constexpr std::array kKeys = {
      Entry{"containers", "name"},
      Entry{"initContainers", "name"},
      Entry{"ephemeralContainers", "name"},
      Entry{"volumes", "name"},
      Entry{"env", "name"},
      Entry{"imagePullSecrets", "name"},
      Entry{"volumeMounts", "mountPath"},
      Entry{"volumeDevices", "devicePath"},
      Entry{"ports", "containerPort"},
      Entry{"hostAliases", "ip"},
      Entry{"topologySpreadConstraints", "topologyKey"},
  };
  const auto found = std::ranges::find(kKeys, list, &Entry::first);
  return found == kKeys.end() ? std::string_view() : found->second;
}

Value* find_item(Value& list, std::string_view key, const Value& item) {
  const Value* wanted = item.find(key);
  if (wanted == nullptr) {
    return nullptr;
  }
  for (Value& each : list.items()) {
    const Value* own = each.find(key);
    if (own != nullptr && json::equal(*own, *wanted)) {
      return &each;
    }
  }
  return nullptr;
}

void merge_list(json::Arena& arena, Value& target, const Value& patch, std::string_view key) {
  for (const Value& item : patch.items()) {
    Value* found = find_item(target, key, item);
    if (found != nullptr) {
      merge_pod_spec(arena, *found, item);
    } else {
      target.push_back(arena, item.clone(arena));
    }
  }
}

}  // namespace

void merge_pod_spec(json::Arena& arena, Value& target, const Value& patch) {
  for (const json::Member& member : patch.members()) {
    if (member.value.is_null()) {
      target.erase(member.key);
      continue;
    }
    Value* own = target.find(member.key);
    const std::string_view key = merge_key(member.key);
    if (own != nullptr && own->is_object() && member.value.is_object()) {
      merge_pod_spec(arena, *own, member.value);
    } else if (own != nullptr && own->is_array() && member.value.is_array() && !key.empty()) {
      merge_list(arena, *own, member.value, key);
    } else {
      target.set(arena, member.key, member.value.clone(arena));
    }
  }
}

}  // namespace codeflare::sdk
