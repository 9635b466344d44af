#include "node/stream/channels.h"

#include "node/stream/port_forward.h"
#include "node/stream/remote_command.h"
#include "node/stream/spdy_command.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace codeflare::node {
namespace {

using net::WebSocketMessage;
using net::WebSocketOpcode;

TEST(ChannelDialect, is_the_clients_first_that_is_served) {
  EXPECT_EQ(command_dialect({"v5.channel.k8s.io", "v4.channel.k8s.io"})->protocol,
            "v5.channel.k8s.io");
  EXPECT_EQ(command_dialect({"v9.channel.k8s.io", "v4.channel.k8s.io"})->protocol,
            "v4.channel.k8s.io");
  EXPECT_EQ(command_dialect({})->protocol, "");
  EXPECT_FALSE(command_dialect({"v9.channel.k8s.io"}));
  // The Python client's offer for ports.
  EXPECT_EQ(port_forward_dialect({"v5.channel.k8s.io", "v4.channel.k8s.io"})->protocol,
            "v4.channel.k8s.io");
  EXPECT_EQ(spdy_dialect({"v5.channel.k8s.io", "v4.channel.k8s.io"})->protocol,
            "v4.channel.k8s.io");
  EXPECT_FALSE(spdy_dialect({"v5.channel.k8s.io"}));
}

TEST(Channels, are_the_first_byte) {
  const ChannelDialect dialect = *command_dialect({"v4.channel.k8s.io"});
  const WebSocketMessage message = write_piece(dialect, 1, std::string_view("a\0b", 3));
  EXPECT_EQ(message, (WebSocketMessage{WebSocketOpcode::binary, std::string("\x01"
                                                                            "a\0b",
                                                                            4)}));
  // Clients send text where it is text.
  const auto piece = read_piece(dialect, {WebSocketOpcode::text, std::string("\0hello", 6)});
  ASSERT_TRUE(piece);
  EXPECT_EQ(piece->channel, 0);
  EXPECT_EQ(piece->bytes, "hello");
}

TEST(Channels, are_a_digit_in_the_dialects_for_browsers) {
  const ChannelDialect dialect = *command_dialect({"v4.base64.channel.k8s.io"});
  EXPECT_EQ(write_piece(dialect, 1, "hello"),
            (WebSocketMessage{WebSocketOpcode::text, "1aGVsbG8="}));
  EXPECT_EQ(read_piece(dialect, {WebSocketOpcode::text, "0aGVsbG8="})->bytes, "hello");
  EXPECT_FALSE(read_piece(dialect, {WebSocketOpcode::text, "xaGVsbG8="}));
  EXPECT_FALSE(read_piece(dialect, {WebSocketOpcode::text, "0a???"}));
}

TEST(TerminalSize, is_read_as_clients_write_it) {
  EXPECT_EQ(parse_terminal_size(R"({"Width":80,"Height":24})"), (TerminalSize{80, 24}));
  EXPECT_FALSE(parse_terminal_size(R"({"Width":80})"));
  EXPECT_FALSE(parse_terminal_size(R"({"Width":-1,"Height":24})"));
  EXPECT_FALSE(parse_terminal_size(R"({"Width":"80","Height":24})"));
  EXPECT_FALSE(parse_terminal_size("80x24"));
}

TEST(Ports, are_lists_of_numbers) {
  EXPECT_EQ(*parse_ports({"80,443", "8080"}), (std::vector<std::uint16_t>{80, 443, 8080}));
  EXPECT_FALSE(parse_ports({}));
  EXPECT_FALSE(parse_ports({""}));
  EXPECT_FALSE(parse_ports({"0"}));
  EXPECT_FALSE(parse_ports({"65536"}));
  EXPECT_FALSE(parse_ports({"http"}));
}

TEST(ExitStatus, is_what_clients_look_for) {
  EXPECT_EQ(exit_status(0).status, "Success");
  const model::Status seven = exit_status(7);
  EXPECT_EQ(seven.reason, "NonZeroExitCode");
  ASSERT_EQ(seven.details->causes.size(), 1u);
  EXPECT_EQ(seven.details->causes[0].reason, "ExitCode");
  EXPECT_EQ(seven.details->causes[0].message, "7");
}

}  // namespace
}  // namespace codeflare::node
