#include "apiserver/crd/json_path.h"
#include "json/parse.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

// Any text is a path or an error; a path leads somewhere or nowhere.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const codeflare::json::Document kObject = *codeflare::json::parse(
      R"({"a":{"b":[1,{"c":"d","e":2.5},[true,null]]},"x.y":"z","conditions":[{"type":"Ready","status":"True"}]})");
  auto path = codeflare::apiserver::JsonPath::parse(
      std::string_view(reinterpret_cast<const char*>(data), size));
  if (path) {
    path->first(kObject.root);
  }
  return 0;
}
