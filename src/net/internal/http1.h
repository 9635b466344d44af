#pragma once

#include "net/http.h"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

namespace codeflare::net::internal {

// Why bytes are not HTTP/1.1, with the status a server answers.
struct WireError {
  int status = 400;
  std::string what;
};
template <typename T>
using Wire = std::expected<T, WireError>;

inline std::unexpected<WireError> bad(std::string what, int status = 400) {
  return std::unexpected(WireError{status, std::move(what)});
}

// Finds the end of a head in bytes that arrive over time, looking at each byte once. Lines end with
// CR LF; a bare LF is rejected, because two readers that disagree about line ends can be made to
// disagree about where a request ends.
class HeadScanner {
 public:
  explicit HeadScanner(std::size_t bytes_max) : bytes_max_(bytes_max) {}
  // Size of the head with its empty line; nothing when more bytes are needed. `input` starts at the
  // head's first byte and only grows between calls. Empty lines before the head count as part of
  // it.
  Wire<std::optional<std::size_t>> scan(std::string_view input);
  void reset() { line_ = seen_ = 0, started_ = false; }

 private:
  std::size_t bytes_max_;
  std::size_t line_ = 0;  // where the current line starts
  std::size_t seen_ = 0;  // no line end before this
  bool started_ = false;  // a line that is not empty was seen
};

// How the end of a body is found.
struct Framing {
  enum class Kind : std::uint8_t { none, sized, chunked, until_close };
  Kind kind = Kind::none;
  std::uint64_t size = 0;
};

struct RequestHead {
  std::string method;
  std::string target;
  Headers headers;
  Framing framing;
  bool http_1_0 = false;
  bool keep_alive = true;
  bool expects_continue = false;
};

struct ResponseHead {
  int status = 0;
  Headers headers;
  Framing framing;
  bool keep_alive = true;
};

// `head` is what HeadScanner found. Rejects every head that could be read in two ways: folded
// lines, space before a colon, control bytes, several lengths, a length beside a transfer encoding.
Wire<RequestHead> parse_request_head(std::string_view head);
// The method decides whether a body follows.
Wire<ResponseHead> parse_response_head(std::string_view head, std::string_view request_method);

// Append to `out`. Framing and connection fields are written from the arguments; fields of these
// names in `headers` are left out. Fail when a field or the target could not be sent as one line.
Result<void> write_request_head(std::string& out, const Request& request, const Framing& framing);
Result<void> write_response_head(std::string& out, const Response& response, const Framing& framing,
                                 bool keep_alive);
std::string_view reason_phrase(int status);

bool valid_field_name(std::string_view name);
bool valid_field_value(std::string_view value);
// Whether a comma-separated list contains the word, without regard to case.
bool list_contains(std::string_view list, std::string_view word);

}  // namespace codeflare::net::internal
