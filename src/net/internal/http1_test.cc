#include "net/internal/http1.h"

#include <gtest/gtest.h>

namespace codeflare::net::internal {
namespace {

Wire<RequestHead> parse(std::string_view text) {
  HeadScanner scanner(4096);
  Wire<std::optional<std::size_t>> size = scanner.scan(text);
  if (!size) {
    return std::unexpected(size.error());
  }
  EXPECT_TRUE(*size) << "incomplete: " << text;
  return parse_request_head(text.substr(0, **size));
}

int status_of(std::string_view text) {
  Wire<RequestHead> head = parse(text);
  return head ? 200 : head.error().status;
}

Wire<ResponseHead> parse_answer(std::string_view text, std::string_view method = "GET") {
  return parse_response_head(text, method);
}

TEST(HeadScanner, finds_the_end_however_the_bytes_are_cut) {
  const std::string head = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
  const std::string input = head + "body\r\n\r\n";
  for (std::size_t first = 0; first <= input.size(); ++first) {
    HeadScanner scanner(4096);
    Wire<std::optional<std::size_t>> size = scanner.scan(input.substr(0, first));
    ASSERT_TRUE(size);
    if (first < head.size()) {
      EXPECT_FALSE(*size);
      size = scanner.scan(input);
    }
    EXPECT_EQ(**size, head.size());
  }
}

TEST(HeadScanner, skips_empty_lines_before_the_head_and_refuses_bare_lf) {
  HeadScanner scanner(4096);
  EXPECT_EQ(**scanner.scan("\r\n\r\nX\r\n\r\nrest"), 9u);
  EXPECT_EQ(HeadScanner(4096).scan("GET / HTTP/1.1\n").error().status, 400);
  EXPECT_EQ(HeadScanner(4096).scan("\n").error().status, 400);
}

TEST(HeadScanner, refuses_a_head_beyond_the_limit) {
  EXPECT_TRUE(HeadScanner(10).scan("0123456789"));
  EXPECT_EQ(HeadScanner(10).scan("0123456789a").error().status, 431);
  EXPECT_EQ(HeadScanner(10).scan("01234567\r\n\r\n").error().status, 431);
  EXPECT_EQ(**HeadScanner(12).scan("01234567\r\n\r\n"), 12u);
}

TEST(RequestHead, reads_method_target_and_fields) {
  Wire<RequestHead> head = parse(
      "PATCH /a?b=c HTTP/1.1\r\nHost: x\r\nX-Empty:\r\nX-Space: \t v w \t\r\n"
      "Content-Length: 12\r\nExpect: 100-Continue\r\n\r\n");
  ASSERT_TRUE(head) << head.error().what;
  EXPECT_EQ(head->method, "PATCH");
  EXPECT_EQ(head->target, "/a?b=c");
  EXPECT_EQ(head->headers.get("x-empty"), "");
  EXPECT_EQ(head->headers.get("x-space"), "v w");
  EXPECT_EQ(head->framing.kind, Framing::Kind::sized);
  EXPECT_EQ(head->framing.size, 12u);
  EXPECT_TRUE(head->keep_alive);
  EXPECT_TRUE(head->expects_continue);
}

TEST(RequestHead, knows_when_the_connection_ends) {
  EXPECT_FALSE(parse("GET / HTTP/1.1\r\nHost: x\r\nConnection: foo, Close\r\n\r\n")->keep_alive);
  EXPECT_FALSE(parse("GET / HTTP/1.0\r\n\r\n")->keep_alive);
  EXPECT_TRUE(parse("GET / HTTP/1.1\r\nHost: x\r\nConnection: closed\r\n\r\n")->keep_alive);
}

TEST(RequestHead, refuses_what_two_readers_could_read_in_two_ways) {
  const std::string ok = "GET / HTTP/1.1\r\nHost: x\r\n";
  EXPECT_EQ(status_of(ok + "\r\n"), 200);
  for (const char* fields : {"Content-Length: 5\r\nContent-Length: 5\r\n",
                             "Content-Length: 5, 5\r\n",
                             "Content-Length: +5\r\n",
                             "Content-Length: -5\r\n",
                             "Content-Length: 0x5\r\n",
                             "Content-Length: 5 5\r\n",
                             "Content-Length:\r\n",
                             "Content-Length: 9223372036854775808\r\n",
                             "Content-Length: 99999999999999999999999\r\n",
                             "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
                             "X: a\r\n b\r\n",
                             "X : a\r\n",
                             " X: a\r\n",
                             ": a\r\n",
                             "X\r\n",
                             "X: a\rb\r\n",
                             "X: \x01\r\n",
                             "X\x80: a\r\n",
                             "Host: y\r\n",
                             "X: a\r\n\tb\r\n"}) {
    EXPECT_EQ(status_of(ok + fields + "\r\n"), 400) << fields;
  }
  EXPECT_EQ(status_of(std::string_view("GET / HTTP/1.1\r\nHost: x\r\nX: a\0b\r\n\r\n", 38)), 400);
  for (const char* encoding :
       {"gzip", "chunked, chunked", "gzip, chunked", "identity", "\"chunked\"",
        "chunked\r\nTransfer-Encoding: chunked", "xchunked", ""}) {
    EXPECT_EQ(status_of(ok + "Transfer-Encoding: " + encoding + "\r\n\r\n"), 501) << encoding;
  }
  EXPECT_EQ(status_of("GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\n\r\n"), 400) << "no Host";
}

TEST(RequestHead, refuses_malformed_request_lines) {
  for (const char* line :
       {"GET /", "GET  / HTTP/1.1", "GET / HTTP/1.1 ", "GET / x HTTP/1.1", " GET / HTTP/1.1",
        "G@T / HTTP/1.1", "GET /\x80 HTTP/1.1", "GET", "GET / HTTP/1", "GET / http/1.1",
        "GET / HTTP/1.1x", "GET\t/ HTTP/1.1"}) {
    EXPECT_EQ(status_of(std::string(line) + "\r\nHost: x\r\n\r\n"), 400) << line;
  }
  EXPECT_EQ(status_of("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), 505);
  EXPECT_EQ(status_of("GET / HTTP/1.2\r\nHost: x\r\n\r\n"), 505);
}

TEST(RequestHead, bounds_the_number_of_fields) {
  std::string text = "GET / HTTP/1.1\r\nHost: x\r\n";
  for (int i = 0; i < 600; ++i) {
    text += "a:\r\n";
  }
  EXPECT_EQ(status_of(text + "\r\n"), 431);
}

TEST(ResponseHead, chooses_the_framing) {
  using Kind = Framing::Kind;
  auto kind = [](const std::string& text, std::string_view method = "GET") {
    return parse_answer("HTTP/1.1 " + text + "\r\n\r\n", method)->framing.kind;
  };
  EXPECT_EQ(kind("200 OK\r\nContent-Length: 5"), Kind::sized);
  EXPECT_EQ(kind("200 OK\r\nContent-Length: 0"), Kind::none);
  EXPECT_EQ(kind("200 OK\r\nTransfer-Encoding: Chunked"), Kind::chunked);
  EXPECT_EQ(kind("200 OK"), Kind::until_close);
  EXPECT_EQ(kind("200 OK\r\nContent-Length: 5", "HEAD"), Kind::none);
  EXPECT_EQ(kind("204 No Content"), Kind::none);
  EXPECT_EQ(kind("304 x\r\nContent-Length: 5"), Kind::none);
  EXPECT_EQ(kind("100 Continue"), Kind::none);
  EXPECT_FALSE(parse_answer("HTTP/1.1 200 OK\r\n\r\n")->keep_alive);
  EXPECT_FALSE(parse_answer("HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\n")->keep_alive);
  EXPECT_TRUE(parse_answer("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\n")
                  ->keep_alive);
}

TEST(ResponseHead, accepts_a_missing_reason_and_refuses_garbage) {
  EXPECT_EQ(parse_answer("HTTP/1.1 429\r\nContent-Length: 0\r\n\r\n")->status, 429);
  EXPECT_EQ(parse_answer("HTTP/1.1 500 \r\nContent-Length: 0\r\n\r\n")->status, 500);
  for (const char* line :
       {"HTTP/1.1 20 OK", "HTTP/1.1 2000 OK", "HTTP/1.1 099 OK", "HTTP/1.1 2x0 OK",
        "HTTP/1.1  200 OK", "HTTP 200 OK", "ICY 200 OK", "SSH-2.0-x"}) {
    EXPECT_FALSE(parse_answer(std::string(line) + "\r\n\r\n")) << line;
  }
  EXPECT_FALSE(parse_answer("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"));
}

TEST(Write, heads_that_come_back_as_they_went) {
  Request request{.method = "PUT", .target = "/x?y", .headers = {{"Host", "h"}, {"A", "b c"}}};
  request.headers.add("Content-Length", "999");
  std::string text;
  ASSERT_TRUE(write_request_head(text, request, {Framing::Kind::sized, 3}));
  EXPECT_EQ(text, "PUT /x?y HTTP/1.1\r\nHost: h\r\nA: b c\r\nContent-Length: 3\r\n\r\n");
  EXPECT_TRUE(parse(text));
  std::string answer;
  Response response{.status = 201, .headers = {{"B", "c"}}};
  ASSERT_TRUE(write_response_head(answer, response, {Framing::Kind::chunked}, false));
  EXPECT_EQ(
      answer,
      "HTTP/1.1 201 Created\r\nB: c\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n");
}

TEST(Write, refuses_to_smuggle_a_second_line) {
  std::string out;
  EXPECT_FALSE(write_request_head(out, {.target = "/ HTTP/1.1\r\nX: y"}, {}));
  EXPECT_FALSE(write_request_head(out, {.method = "GET /"}, {}));
  EXPECT_FALSE(write_request_head(out, {.headers = {{"A", "b\r\nC: d"}}}, {}));
  EXPECT_FALSE(write_request_head(out, {.headers = {{"A:", "b"}}}, {}));
  EXPECT_FALSE(write_response_head(out, {.headers = {{"A", "b\n"}}}, {}, true));
}

}  // namespace
}  // namespace codeflare::net::internal
