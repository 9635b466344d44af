#include "apiserver/request/request_info.h"

#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using codeflare::apiserver::RequestInfo;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  auto info = RequestInfo::parse("GET", text);
  if (info && info->is_resource && info->resource.empty() && !info->name.empty() &&
      info->verb == "list" && !info->query.get("fieldSelector")) {
    std::abort();  // a name without a resource comes from nowhere
  }
  return 0;
}
