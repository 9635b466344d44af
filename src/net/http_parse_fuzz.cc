// Any bytes: heads, chunked bodies, and what the parsers let through must survive being written and
// read again.

#include "base/check.h"
#include "net/internal/body_reader.h"
#include "net/internal/http1.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

using namespace codeflare;
using namespace codeflare::net;
using namespace codeflare::net::internal;

namespace {

// Finds the end of a head byte by byte and at once; both must agree.
std::optional<std::size_t> find_head(std::string_view input) {
  HeadScanner whole(4096);
  Wire<std::optional<std::size_t>> at_once = whole.scan(input);
  HeadScanner slow(4096);
  Wire<std::optional<std::size_t>> stepwise = std::nullopt;
  for (std::size_t size = 1; size <= input.size() && stepwise && !*stepwise; ++size) {
    stepwise = slow.scan(input.substr(0, size));
  }
  CHECK(at_once.has_value() == stepwise.has_value());
  if (!at_once) {
    return std::nullopt;
  }
  CHECK(*at_once == *stepwise);
  return *at_once;
}

void check_request(std::string_view text) {
  Wire<RequestHead> head = parse_request_head(text);
  if (!head) {
    CHECK(head.error().status >= 400);
    return;
  }
  Request request{.method = head->method, .target = head->target, .headers = head->headers};
  std::string written;
  CHECK(write_request_head(written, request, head->framing));
  Wire<RequestHead> again = parse_request_head(written);
  if (head->http_1_0 && !head->headers.has("Host")) {
    return;  // written as HTTP/1.1, which needs one
  }
  CHECK(again.has_value());
  CHECK(again->method == head->method && again->target == head->target);
  CHECK(again->framing.kind == head->framing.kind && again->framing.size == head->framing.size);
}

void check_response(std::string_view text, std::string_view method) {
  Wire<ResponseHead> head = parse_response_head(text, method);
  if (head) {
    CHECK(head->status >= 100 && head->status <= 999);
    for (const Headers::Field& field : head->headers.fields()) {
      CHECK(valid_field_name(field.name) && valid_field_value(field.value));
    }
  }
}

struct Decoded {
  bool failed = false;
  bool done = false;
  std::string data;
};

Decoded read_body(const Framing& framing, std::string_view bytes, std::size_t step) {
  BodyReader reader(framing);
  InputBuffer input;
  Decoded result;
  while (!bytes.empty() && !reader.done() && !result.failed) {
    input.append(bytes.substr(0, step));
    bytes.remove_prefix(std::min(step, bytes.size()));
    for (;;) {
      Wire<std::optional<Bytes>> piece = reader.take(input);
      if (!piece) {
        result.failed = true;
        break;
      }
      if (!*piece) {
        break;
      }
      CHECK(!(*piece)->empty());
      result.data += (*piece)->view();
    }
  }
  result.done = reader.done();
  return result;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  if (std::optional<std::size_t> head = find_head(text)) {
    check_request(text.substr(0, *head));
    check_response(text.substr(0, *head), "GET");
    check_response(text.substr(0, *head), "HEAD");
  }
  Framing chunked{Framing::Kind::chunked};
  Decoded whole = read_body(chunked, text, text.size() + 1);
  Decoded slow = read_body(chunked, text, 1);
  CHECK(whole.failed == slow.failed && whole.done == slow.done);
  CHECK(whole.failed || whole.data == slow.data);
  return 0;
}
