#include "apiserver/registry/builtin_data.h"

#include <array>
#include <utility>

namespace codeflare::apiserver::builtin {
namespace {

// Members that differ in name only: core, events.k8s.io.
constexpr auto kRenamed = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"involvedObject", "regarding"},
    {"message", "note"},
    {"reportingComponent", "reportingController"},
    {"source", "deprecatedSource"},
    {"firstTimestamp", "deprecatedFirstTimestamp"},
    {"lastTimestamp", "deprecatedLastTimestamp"},
    {"count", "deprecatedCount"},
});

}  // namespace

Result<void> convert_event(json::Arena& arena, json::Value& object, std::string_view /*from*/,
                           std::string_view to) {
  const bool to_core = to == "v1";
  json::Value converted = json::Value::object();
  for (const json::Member& member : object.members()) {
    std::string_view key = member.key;
    for (const auto& [core, events] : kRenamed) {
      if (key == (to_core ? events : core)) {
        key = to_core ? core : events;
        break;
      }
    }
    converted.set_static(arena, key, member.value);
  }
  object = converted;
  return {};
}

}  // namespace codeflare::apiserver::builtin
