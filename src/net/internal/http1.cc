#include "net/internal/http1.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace codeflare::net::internal {

namespace {

constexpr std::size_t kFieldsMax = 512;

constexpr std::array<bool, 256> make_token_table() {
  std::array<bool, 256> table{};
  for (char c = 'a'; c <= 'z'; ++c) {
    table[static_cast<unsigned char>(c)] = table[static_cast<unsigned char>(c - 'a' + 'A')] = true;
  }
  for (char c : std::string_view("0123456789!#$%&'*+-.^_`|~")) {
    table[static_cast<unsigned char>(c)] = true;
  }
  return table;
}
constexpr std::array<bool, 256> kToken = make_token_table();

bool is_token(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](char c) { return kToken[static_cast<unsigned char>(c)]; });
}

// Visible ASCII: a target must arrive percent-encoded.
bool is_target(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7f'; });
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) {
    text.remove_prefix(1);
  }
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) {
    text.remove_suffix(1);
  }
  return text;
}

// The next line without its CR LF; the caller knows that there is one.
std::string_view take_line(std::string_view& rest) {
  std::size_t end = rest.find("\r\n");
  std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 2);
  return line;
}

std::string_view take_word(std::string_view& line) {
  std::size_t end = line.find(' ');
  std::string_view word = line.substr(0, end);
  line.remove_prefix(end == std::string_view::npos ? line.size() : end + 1);
  return word;
}

enum class Version : std::uint8_t { v1_0, v1_1 };

Wire<Version> parse_version(std::string_view text) {
  if (text == "HTTP/1.1") {
    return Version::v1_1;
  }
  if (text == "HTTP/1.0") {
    return Version::v1_0;
  }
  auto digit = [](char c) { return c >= '0' && c <= '9'; };
  if (text.size() == 8 && text.starts_with("HTTP/") && digit(text[5]) && text[6] == '.' &&
      digit(text[7])) {
    return bad("HTTP version " + std::string(text.substr(5)) + " is not spoken here", 505);
  }
  return bad("malformed HTTP version");
}

Wire<Headers> parse_fields(std::string_view rest) {
  Headers headers;
  for (std::string_view line = take_line(rest); !line.empty(); line = take_line(rest)) {
    if (line.front() == ' ' || line.front() == '\t') {
      return bad("folded header line");
    }
    std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) {
      return bad("malformed header line");
    }
    std::string_view value = trim(line.substr(colon + 1));
    if (!valid_field_value(value)) {
      return bad("control byte in header " + std::string(line.substr(0, colon)));
    }
    if (headers.fields().size() == kFieldsMax) {
      return bad("more than " + std::to_string(kFieldsMax) + " header fields", 431);
    }
    headers.add(std::string(line.substr(0, colon)), std::string(value));
  }
  return headers;
}

// The fields about framing and the connection.
struct FieldFacts {
  std::optional<std::uint64_t> length;
  bool chunked = false;
  bool close = false;
  bool keep_alive = false;
  std::size_t hosts = 0;
};

Wire<std::uint64_t> parse_length(std::string_view text) {
  std::uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value > INT64_MAX) {
    return bad("malformed Content-Length");
  }
  return value;
}

Wire<FieldFacts> gather_facts(const Headers& headers) {
  FieldFacts facts;
  for (const Headers::Field& field : headers.fields()) {
    if (equal_ignoring_case(field.name, "Content-Length")) {
      if (facts.length) {
        return bad("more than one Content-Length");
      }
      Wire<std::uint64_t> length = parse_length(field.value);
      if (!length) {
        return std::unexpected(length.error());
      }
      facts.length = *length;
    } else if (equal_ignoring_case(field.name, "Transfer-Encoding")) {
      if (facts.chunked || !equal_ignoring_case(field.value, "chunked")) {
        return bad("transfer encoding other than chunked", 501);
      }
      facts.chunked = true;
    } else if (equal_ignoring_case(field.name, "Connection")) {
      facts.close |= list_contains(field.value, "close");
      facts.keep_alive |= list_contains(field.value, "keep-alive");
    } else if (equal_ignoring_case(field.name, "Host")) {
      ++facts.hosts;
    }
  }
  if (facts.length && facts.chunked) {
    return bad("both Content-Length and Transfer-Encoding");
  }
  return facts;
}

void append_number(std::string& out, std::uint64_t number) {
  std::array<char, 24> digits;
  char* end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out.append(digits.data(), end);
}

// Fields that this layer decides.
bool is_framing_field(std::string_view name) {
  return equal_ignoring_case(name, "Content-Length") ||
         equal_ignoring_case(name, "Transfer-Encoding") || equal_ignoring_case(name, "Connection");
}

Result<void> write_fields(std::string& out, const Headers& headers, const Framing& framing) {
  for (const Headers::Field& field : headers.fields()) {
    if (is_framing_field(field.name)) {
      continue;
    }
    if (!is_token(field.name) || !valid_field_value(field.value)) {
      return fail(invalid_argument("header " + field.name + " cannot be sent"));
    }
    out.append(field.name).append(": ").append(field.value).append("\r\n");
  }
  if (framing.kind == Framing::Kind::sized) {
    out.append("Content-Length: ");
    append_number(out, framing.size);
    out.append("\r\n");
  } else if (framing.kind == Framing::Kind::chunked) {
    out.append("Transfer-Encoding: chunked\r\n");
  }
  return {};
}

}  // namespace

bool valid_field_name(std::string_view name) {
  return is_token(name);
}

bool valid_field_value(std::string_view value) {
  return std::ranges::all_of(value, [](char c) {
    auto byte = static_cast<unsigned char>(c);
    return (byte >= 0x20 && byte != 0x7f) || byte == '\t';
  });
}

bool list_contains(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    std::size_t comma = list.find(',');
    if (equal_ignoring_case(trim(list.substr(0, comma)), word)) {
      return true;
    }
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
  }
  return false;
}

Wire<std::optional<std::size_t>> HeadScanner::scan(std::string_view input) {
  for (;;) {
    std::size_t end = input.find('\n', seen_);
    std::size_t reached = end == std::string_view::npos ? input.size() : end + 1;
    if (reached > bytes_max_) {
      return bad("head exceeds " + std::to_string(bytes_max_) + " bytes", 431);
    }
    seen_ = reached;
    if (end == std::string_view::npos) {
      return std::nullopt;
    }
    if (end == line_ || input[end - 1] != '\r') {
      return bad("line ends with a bare LF");
    }
    bool empty = end == line_ + 1;
    line_ = end + 1;
    if (empty && started_) {
      return line_;
    }
    started_ |= !empty;
  }
}

Wire<RequestHead> parse_request_head(std::string_view rest) {
  while (rest.starts_with("\r\n")) {
    rest.remove_prefix(2);
  }
  RequestHead head;
  std::string_view line = take_line(rest);
  head.method = take_word(line);
  head.target = take_word(line);
  if (!is_token(head.method) || !is_target(head.target)) {
    return bad("malformed request line");
  }
  Wire<Version> version = parse_version(line);
  if (!version) {
    return std::unexpected(version.error());
  }
  head.http_1_0 = *version == Version::v1_0;
  Wire<Headers> headers = parse_fields(rest);
  if (!headers) {
    return std::unexpected(headers.error());
  }
  head.headers = *std::move(headers);
  Wire<FieldFacts> facts = gather_facts(head.headers);
  if (!facts) {
    return std::unexpected(facts.error());
  }
  if (facts->hosts > 1 || (facts->hosts == 0 && !head.http_1_0)) {
    return bad("a request needs exactly one Host");
  }
  if (facts->chunked) {
    if (head.http_1_0) {
      return bad("Transfer-Encoding in HTTP/1.0");
    }
    head.framing.kind = Framing::Kind::chunked;
  } else if (facts->length.value_or(0) > 0) {
    head.framing = {Framing::Kind::sized, *facts->length};
  }
  head.keep_alive = !head.http_1_0 && !facts->close;
  if (std::optional<std::string_view> expect = head.headers.get("Expect")) {
    if (!equal_ignoring_case(*expect, "100-continue")) {
      return bad("expectation cannot be met", 417);
    }
    head.expects_continue = !head.http_1_0 && head.framing.kind != Framing::Kind::none;
  }
  return head;
}

Wire<ResponseHead> parse_response_head(std::string_view rest, std::string_view request_method) {
  while (rest.starts_with("\r\n")) {
    rest.remove_prefix(2);
  }
  ResponseHead head;
  std::string_view line = take_line(rest);
  Wire<Version> version = parse_version(take_word(line));
  if (!version) {
    return std::unexpected(version.error());
  }
  std::string_view status = take_word(line);
  auto [end, error] = std::from_chars(status.data(), status.data() + status.size(), head.status);
  if (status.size() != 3 || error != std::errc() || end != status.data() + 3 || head.status < 100 ||
      !valid_field_value(line)) {
    return bad("malformed status line");
  }
  Wire<Headers> headers = parse_fields(rest);
  if (!headers) {
    return std::unexpected(headers.error());
  }
  head.headers = *std::move(headers);
  Wire<FieldFacts> facts = gather_facts(head.headers);
  if (!facts) {
    return std::unexpected(facts.error());
  }
  bool http_1_0 = *version == Version::v1_0;
  head.keep_alive = !facts->close && (!http_1_0 || facts->keep_alive);
  if (request_method == "HEAD" || head.status < 200 || head.status == 204 || head.status == 304) {
    head.framing.kind = Framing::Kind::none;
  } else if (facts->chunked) {
    head.framing.kind = Framing::Kind::chunked;
  } else if (facts->length) {
    head.framing = {*facts->length == 0 ? Framing::Kind::none : Framing::Kind::sized,
                    *facts->length};
  } else {
    head.framing.kind = Framing::Kind::until_close;
    head.keep_alive = false;
  }
  return head;
}

Result<void> write_request_head(std::string& out, const Request& request, const Framing& framing) {
  if (!is_token(request.method)) {
    return fail(invalid_argument("method cannot be sent"));
  }
  if (!is_target(request.target)) {
    return fail(invalid_argument("target " + request.target + " cannot be sent"));
  }
  out.append(request.method).append(" ").append(request.target).append(" HTTP/1.1\r\n");
  TRY(write_fields(out, request.headers, framing));
  if (request.headers.has("Upgrade")) {
    out.append("Connection: Upgrade\r\n");
  }
  out.append("\r\n");
  return {};
}

Result<void> write_response_head(std::string& out, const Response& response, const Framing& framing,
                                 bool keep_alive) {
  if (response.status < 100 || response.status > 999) {
    return fail(invalid_argument("status " + std::to_string(response.status) + " cannot be sent"));
  }
  out.append("HTTP/1.1 ");
  append_number(out, static_cast<std::uint64_t>(response.status));
  out.append(" ").append(reason_phrase(response.status)).append("\r\n");
  TRY(write_fields(out, response.headers, framing));
  if (response.status == 101) {
    out.append("Connection: Upgrade\r\n");
  } else if (!keep_alive) {
    out.append("Connection: close\r\n");
  }
  out.append("\r\n");
  return {};
}

std::string_view reason_phrase(int status) {
  switch (status) {
    case 100:
      return "Continue";
    case 101:
      return "Switching Protocols";
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 204:
      return "No Content";
    case 301:
      return "Moved Permanently";
    case 302:
      return "Found";
    case 304:
      return "Not Modified";
    case 307:
      return "Temporary Redirect";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 406:
      return "Not Acceptable";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 417:
      return "Expectation Failed";
    case 422:
      return "Unprocessable Content";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "";
  }
}

}  // namespace codeflare::net::internal
