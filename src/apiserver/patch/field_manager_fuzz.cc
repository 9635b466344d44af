// The first line is a live object with managedFields, the second an object that is written, the
// rest one that is applied. For any input both end with valid JSON, managedFields can be read again
// and a second write of the same object changes nothing.

#include "apiserver/patch/field_manager.h"
#include "apiserver/schema/builtin.h"
#include "base/check.h"
#include "json/parse.h"
#include "json/write.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace codeflare::apiserver {
namespace {

void run(std::string_view text) {
  const schema::Node& node = *schema::find_builtin("", "v1", "Pod");
  std::size_t first = text.find('\n');
  std::size_t second = first == text.npos ? first : text.find('\n', first + 1);
  if (second == text.npos) {
    return;
  }
  auto live = json::parse(text.substr(0, first));
  auto written = json::parse(text.substr(first + 1, second - first - 1));
  auto applied = json::parse(text.substr(second + 1));
  ManagerId id{"fuzz", "v1", {}, {"status"}};
  if (live && written && live->root.is_object() && written->root.is_object()) {
    track_update(node, written->arena, &live->root, written->root, id, WallTime());
    std::string once = json::to_text(written->root);
    auto again = json::parse(once);
    CHECK(again.has_value());
    json::Value copy = again->root.clone(again->arena);
    ManagerId other{"other", "v1", {}, {"status"}};
    track_update(node, again->arena, &again->root, copy, other, WallTime());
    CHECK(json::to_text(copy).find("\"manager\":\"other\"") == std::string::npos ||
          once.find("\"manager\":\"other\"") != std::string::npos);
  }
  if (live && applied && live->root.is_object() && applied->root.is_object()) {
    for (bool force : {false, true}) {
      auto result = apply(node, live->arena, &live->root, applied->root, id, force, WallTime());
      CHECK(!result || json::parse(json::to_text(*result)).has_value());
    }
  }
}

}  // namespace
}  // namespace codeflare::apiserver

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  codeflare::apiserver::run({reinterpret_cast<const char*>(data), size});
  return 0;
}
