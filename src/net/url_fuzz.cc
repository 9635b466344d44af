#include "base/check.h"
#include "net/url.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

using namespace codeflare;
using namespace codeflare::net;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  if (Result<Url> url = parse_url(text)) {
    CHECK(url->port != 0 && !url->host.empty() && url->target.starts_with('/'));
    Result<Url> again = parse_url(url->scheme + "://" + url->authority() + url->target);
    CHECK(again.has_value());
    CHECK(again->host == url->host && again->port == url->port && again->target == url->target);
  }
  CHECK(*percent_decode(percent_encode(text)) == text);
  if (Result<std::vector<QueryItem>> items = parse_query(text)) {
    std::vector<QueryItem> again = *parse_query(build_query(*items));
    CHECK(again == *items);
  }
  return 0;
}
