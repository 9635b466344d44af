#include "node/stream/stream_service.h"

#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "base/env/sim_env.h"
#include "net/testing/memory_stream.h"
#include "net/testing/spdy_client.h"
#include "net/testing/websocket_client.h"
#include "node/stream/run_program.h"
#include "node/testing/fake_pod_streams.h"
#include "node/testing/sim_pod_runtime.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace codeflare::node {
namespace {

using net::SpdyFrame;
using net::SpdyType;
using net::WebSocketMessage;
using net::WebSocketOpcode;
using std::chrono::seconds;
using testing::FakeProgram;

net::Request websocket_request(std::string protocols) {
  net::Request request;
  request.headers = {{"Connection", "Upgrade"},
                     {"Upgrade", "websocket"},
                     {"Sec-WebSocket-Version", "13"},
                     {"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="}};
  if (!protocols.empty()) {
    request.headers.add("Sec-WebSocket-Protocol", std::move(protocols));
  }
  return request;
}

net::Request spdy_request(std::string versions) {
  net::Request request;
  request.method = "POST";
  request.headers = {{"Connection", "Upgrade"},
                     {"Upgrade", "SPDY/3.1"},
                     {"X-Stream-Protocol-Version", std::move(versions)}};
  return request;
}

constexpr CommandStreams kAll{.input = true, .output = true, .error_output = true};

// A node with the pod "p", whose container "c" runs, and one connection to it.
class World {
 public:
  World() {
    pod.metadata.name = "p";
    pod.metadata.uid = "u";
    pod.spec.containers.push_back({.name = "c"});
    run(pods.make({.spec = {.name = "p", .uid = "u"}, .volumes = {}, .etc = {}}));
    run(pods.start("u", {.name = "c", .command = {"run"}}));
    settle();
  }
  ~World() {
    EXPECT_TRUE(codeflare::run(env.loop, service.close()));
    EXPECT_TRUE(codeflare::run(env.loop, group.join()));
    EXPECT_EQ(service.sessions(), 0u);
    EXPECT_TRUE(codeflare::run(env.loop, streams.close()));
    run(pods.remove("u"));
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // The server's handling of an answer; the other end of the connection is `pair.far()`.
  void take_over(Result<net::Response> response) {
    ASSERT_TRUE(response) << response.error().to_string();
    ASSERT_EQ(response->status, 101);
    group.spawn(serve(*std::move(response)));
  }
  void exec(net::Request request, CommandStreams wanted = kAll) {
    take_over(service.exec(pod, {.command = {"program"}, .streams = wanted}, request));
  }
  template <typename T>
  T run(Task<Result<T>> task) {
    auto done = codeflare::run(env.loop, with_timeout(seconds(60), "it", std::move(task)));
    EXPECT_TRUE(done && *done) << (done ? done->error().to_string() : "it waits for ever");
    return *std::move(*done);
  }
  void run(Task<Result<void>> task) {
    auto done = codeflare::run(env.loop, with_timeout(seconds(60), "it", std::move(task)));
    EXPECT_TRUE(done && *done) << (done ? done->error().to_string() : "it waits for ever");
  }
  void settle(Duration time = seconds(1)) { run(sleep_for(time)); }

  void send(WebSocketOpcode opcode, std::string payload) {
    run(websocket.send(opcode, std::move(payload)));
  }
  // All messages until the server says goodbye, joined by channel.
  std::vector<std::string> all_channels() {
    std::vector<std::string> channels(6);
    for (;;) {
      const auto message = run(websocket.receive());
      if (!message || message->opcode == WebSocketOpcode::close) {
        return channels;
      }
      channels.at(static_cast<std::size_t>(message->payload.at(0))) += message->payload.substr(1);
    }
  }

  SimEnv sim;
  Env env = sim.env();
  testing::SimPodRuntime pods{env};
  testing::FakePodStreams streams{env.loop};
  StreamService service{pods, streams};
  model::Pod pod;
  net::testing::MemoryPair pair;
  net::testing::WebSocketClient websocket{pair.far()};
  net::testing::SpdyClient spdy{pair.far()};
  TaskGroup group{env.loop};

 private:
  Task<void> serve(net::Response response) {
    const auto* upgrade = dynamic_cast<const net::Upgrade*>(response.body.get());
    CHECK(upgrade != nullptr);
    co_await upgrade->takeover()(pair.near());
    static_cast<void>(co_await pair.near().finish());
  }
};

Task<int> say_both(FakeProgram& self) {
  static_cast<void>(co_await self.output().write("out"));
  static_cast<void>(co_await self.error_output().write("err"));
  co_return 7;
}

TEST(Exec, keeps_outputs_apart_and_tells_the_exit_code) {
  World world;
  world.streams.program = say_both;
  world.exec(websocket_request("v5.channel.k8s.io,v4.channel.k8s.io"));
  const auto channels = world.all_channels();
  EXPECT_EQ(channels[1], "out");
  EXPECT_EQ(channels[2], "err");
  EXPECT_TRUE(channels[3].contains(R"("reason":"NonZeroExitCode")")) << channels[3];
  EXPECT_TRUE(channels[3].contains(R"({"reason":"ExitCode","message":"7"})")) << channels[3];
  EXPECT_EQ(world.streams.last->options.container, "c");
  EXPECT_EQ(world.streams.last->options.command, std::vector<std::string>{"program"});
}

Task<int> cat(FakeProgram& self) {
  for (;;) {
    Result<std::string> bytes = co_await self.input().read();
    if (!bytes || bytes->empty()) {
      co_return 0;
    }
    static_cast<void>(co_await self.output().write(*std::move(bytes)));
  }
}

TEST(Exec, ends_the_input_when_the_client_closes_it) {
  World world;
  world.streams.program = cat;
  world.exec(websocket_request("v5.channel.k8s.io"));
  world.send(WebSocketOpcode::binary, std::string("\0hello", 6));
  world.send(WebSocketOpcode::text, std::string("\0 world", 7));
  world.send(WebSocketOpcode::binary, std::string("\xff\0", 2));
  const auto channels = world.all_channels();
  EXPECT_EQ(channels[1], "hello world");
  EXPECT_TRUE(channels[3].contains(R"("status":"Success")")) << channels[3];
}

TEST(Exec, tells_old_clients_in_plain_text) {
  World world;
  world.streams.program = say_both;
  world.exec(websocket_request(""));
  const auto channels = world.all_channels();
  EXPECT_EQ(channels[1], "out");
  EXPECT_EQ(channels[3], "command terminated with non-zero exit code: exit status 7");
}

Task<int> wait_for_size(FakeProgram& self) {
  while (self.sizes.empty() && !self.left) {
    if (!co_await self.changed.wait()) {
      co_return 1;
    }
  }
  co_return self.sizes.empty() ? 1 : self.sizes[0].columns;
}

TEST(Exec, passes_the_size_of_the_terminal_on) {
  World world;
  world.streams.program = wait_for_size;
  world.exec(websocket_request("v4.channel.k8s.io"),
             {.input = true, .output = true, .error_output = true, .terminal = true});
  world.send(WebSocketOpcode::binary, "\x04{\"Width\":80,\"Height\":24}");
  const auto channels = world.all_channels();
  EXPECT_TRUE(channels[3].contains(R"("message":"80")")) << channels[3];
  EXPECT_TRUE(world.streams.last->options.terminal);
  EXPECT_EQ(world.streams.last->sizes[0], (TerminalSize{80, 24}));
}

Task<int> wait_until_left(FakeProgram& self) {
  while (!self.left) {
    if (!co_await self.changed.wait()) {
      break;
    }
  }
  co_return 0;
}

TEST(Exec, lets_go_of_the_program_when_the_client_goes) {
  World world;
  world.streams.program = wait_until_left;
  world.exec(websocket_request("v4.channel.k8s.io"));
  world.settle();
  EXPECT_EQ(world.service.sessions(), 1u);
  EXPECT_FALSE(world.streams.last->left);
  world.run(world.pair.far().finish());
  world.settle();
  EXPECT_TRUE(world.streams.last->left);
  EXPECT_EQ(world.service.sessions(), 0u);
}

TEST(Exec, is_ended_when_the_node_stops) {
  World world;
  world.streams.program = wait_until_left;
  world.exec(websocket_request("v4.channel.k8s.io"));
  world.settle();
  EXPECT_TRUE(run(world.env.loop, world.service.close()));
  world.settle();
  EXPECT_TRUE(world.streams.last->left);
}

TEST(Exec, tells_why_a_program_cannot_be_started) {
  World world;
  world.exec(websocket_request("v4.channel.k8s.io"));
  const auto channels = world.all_channels();
  EXPECT_TRUE(channels[3].contains(
      R"("message":"Internal error occurred: error executing command in container: exec: )"))
      << channels[3];
}

// As sh -c 'sleep 1000 &': somebody keeps the output open.
Task<int> leave_output_open(FakeProgram& self) {
  static_cast<void>(co_await self.output().write("last words"));
  co_return 200;
}

TEST(Exec, does_not_wait_for_what_a_program_leaves_behind) {
  World world;
  world.streams.program = leave_output_open;
  world.exec(websocket_request("v4.channel.k8s.io"));
  const auto channels = world.all_channels();
  EXPECT_EQ(channels[1], "last words");
  EXPECT_TRUE(channels[3].contains(R"("message":"200")")) << channels[3];
}

TEST(RunProgram, keeps_the_exit_code_and_the_first_of_what_is_said) {
  World world;
  world.streams.program = say_both;
  const ProgramOutcome all =
      world.run(run_program(world.streams, "u", {.container = "c", .command = {"x"}}, 100));
  EXPECT_EQ(all.exit_code, 7);
  EXPECT_EQ(all.output.size(), 6u);
  const ProgramOutcome some =
      world.run(run_program(world.streams, "u", {.container = "c", .command = {"x"}}, 4));
  EXPECT_EQ(some.output.size(), 4u);
  EXPECT_TRUE(world.streams.last->options.kill_when_left);
}

TEST(RunProgram, lets_go_when_it_is_stopped) {
  World world;
  world.streams.program = wait_until_left;
  const auto stopped = codeflare::run(
      world.env.loop,
      with_timeout(seconds(1), "it",
                   run_program(world.streams, "u", {.container = "c", .command = {"x"}}, 100)));
  ASSERT_TRUE(stopped);
  EXPECT_EQ(stopped->error().code, ErrorCode::deadline_exceeded);
  EXPECT_TRUE(world.streams.last->left);
}

TEST(Attach, shows_output_and_ends_well_whatever_the_exit_code) {
  World world;
  world.streams.program = say_both;
  world.take_over(world.service.attach(world.pod, {.streams = {.output = true}},
                                       websocket_request("v4.channel.k8s.io")));
  const auto channels = world.all_channels();
  EXPECT_EQ(channels[1], "out");
  EXPECT_EQ(channels[2], "");
  EXPECT_TRUE(channels[3].contains(R"("status":"Success")")) << channels[3];
}

// Opens a stream and waits for the reply.
Task<Result<void>> open_stream(net::testing::SpdyClient& spdy, std::uint32_t id,
                               net::Headers headers) {
  CO_TRY(co_await spdy.send(
      {.type = SpdyType::syn_stream, .stream = id, .headers = std::move(headers)}));
  CO_TRY_ASSIGN(const SpdyFrame reply, co_await spdy.receive());
  EXPECT_EQ(reply.type, SpdyType::syn_reply);
  EXPECT_EQ(reply.stream, id);
  co_return Result<void>();
}

// The bytes for the client on each stream until the server goes, by id.
Task<Result<std::vector<std::string>>> receive_all(net::testing::SpdyClient& spdy) {
  std::vector<std::string> texts(12);
  for (;;) {
    Result<SpdyFrame> frame = co_await spdy.receive();
    if (!frame || frame->type == SpdyType::goaway) {
      co_return texts;
    }
    if (frame->type == SpdyType::data) {
      texts.at(frame->stream) += frame->data + (frame->fin ? "." : "");
    } else if (frame->type == SpdyType::rst_stream) {
      texts.at(frame->stream) += "!";
    }
  }
}

TEST(ExecOverSpdy, has_a_stream_for_each_purpose) {
  World world;
  world.streams.program = cat;
  auto response = world.service.exec(world.pod, {.command = {"x"}, .streams = kAll},
                                     spdy_request("v5.channel.k8s.io, v4.channel.k8s.io"));
  ASSERT_TRUE(response);
  EXPECT_EQ(response->headers.get("X-Stream-Protocol-Version"), "v4.channel.k8s.io");
  EXPECT_EQ(response->headers.get("Upgrade"), "SPDY/3.1");
  world.take_over(std::move(response));
  world.run(open_stream(world.spdy, 1, {{"streamtype", "error"}}));
  world.run(open_stream(world.spdy, 3, {{"streamtype", "stdin"}}));
  world.run(open_stream(world.spdy, 5, {{"streamtype", "stdout"}}));
  world.run(open_stream(world.spdy, 7, {{"streamtype", "stderr"}}));
  world.run(world.spdy.send({.fin = true, .stream = 3, .data = "typed"}));
  const auto texts = world.run(receive_all(world.spdy));
  EXPECT_EQ(texts[5], "typed.");
  EXPECT_EQ(texts[7], ".");
  EXPECT_TRUE(texts[1].contains(R"("status":"Success")")) << texts[1];
}

TEST(ExecOverSpdy, gives_up_on_clients_that_open_no_streams) {
  World world;
  world.streams.program = cat;
  world.exec(spdy_request("v4.channel.k8s.io"));
  world.settle(seconds(40));
  EXPECT_EQ(world.service.sessions(), 0u);
  EXPECT_EQ(world.streams.last, nullptr);
}

TEST(Streams, are_refused_in_a_kubelets_words) {
  World world;
  const auto why = [](const Result<net::Response>& response) {
    return response ? "accepted" : response.error().message;
  };
  const net::Request good = websocket_request("v4.channel.k8s.io");
  const CommandRequest wanted{.command = {"x"}, .streams = kAll};
  EXPECT_EQ(why(world.service.exec(world.pod, wanted, {})),
            "unable to upgrade: missing upgrade headers in request");
  EXPECT_EQ(why(world.service.exec(world.pod, wanted, websocket_request("other"))),
            "unable to upgrade: none of the protocols [other] is served");
  EXPECT_EQ(why(world.service.exec(world.pod, {.streams = kAll}, good)),
            "you must specify at least one command for the container");
  EXPECT_EQ(why(world.service.exec(world.pod, {.command = {"x"}}, good)),
            "you must specify at least 1 of stdin, stdout, stderr");
  EXPECT_EQ(why(world.service.exec(world.pod, {.container = "d", .command = {"x"}, .streams = kAll},
                                   good)),
            "container d is not valid for pod p");
  EXPECT_EQ(why(world.service.port_forward(world.pod, {}, good)),
            "query parameter \"ports\" is required");
  world.run(world.pods.kill("u", "c"));
  world.settle();
  EXPECT_EQ(why(world.service.exec(world.pod, wanted, good)),
            "unable to upgrade connection: container not found (\"c\")");
  model::Pod other = world.pod;
  other.metadata.uid = "v";
  EXPECT_EQ(why(world.service.port_forward(other, {"80"}, good)),
            "unable to upgrade connection: pod p is not running");
}

Task<void> shout(net::ByteStream& connection) {
  for (;;) {
    Result<std::string> bytes = co_await connection.read();
    if (!bytes || bytes->empty()) {
      static_cast<void>(co_await connection.write("<end>"));
      co_return;
    }
    static_cast<void>(co_await connection.write(*bytes + "!"));
  }
}

Task<Result<void>> open_pair(net::testing::SpdyClient& spdy, std::uint32_t first, std::string port,
                             std::string request) {
  CO_TRY(co_await open_stream(spdy, first,
                              {{"streamtype", "error"}, {"port", port}, {"requestid", request}}));
  CO_TRY(co_await spdy.send({.fin = true, .stream = first}));
  CO_TRY(co_await open_stream(spdy, first + 2,
                              {{"streamtype", "data"}, {"port", port}, {"requestid", request}}));
  co_return Result<void>();
}

TEST(PortForward, carries_connections_in_pairs_of_streams) {
  World world;
  world.streams.servers[80] = shout;
  world.take_over(world.service.port_forward(world.pod, {}, spdy_request("portforward.k8s.io")));
  world.run(open_pair(world.spdy, 1, "80", "0"));
  world.run(world.spdy.send({.stream = 3, .data = "a"}));
  world.run(world.spdy.send({.fin = true, .stream = 3}));
  world.settle();
  world.run(world.spdy.send({.type = SpdyType::goaway}));
  const auto texts = world.run(receive_all(world.spdy));
  EXPECT_EQ(texts[3], "a!<end>.");
  EXPECT_EQ(texts[1], ".");
}

TEST(PortForward, tells_of_one_port_that_nobody_listens_on_and_goes_on) {
  World world;
  world.streams.servers[80] = shout;
  world.take_over(world.service.port_forward(world.pod, {}, spdy_request("portforward.k8s.io")));
  world.run(open_pair(world.spdy, 1, "81", "0"));
  const auto refused = world.run(world.spdy.receive());
  EXPECT_EQ(refused.stream, 1u);
  EXPECT_EQ(refused.data, "error forwarding port 81 to pod p, uid u: connect: Connection refused");
  EXPECT_TRUE(world.run(world.spdy.receive()).fin);
  EXPECT_EQ(world.run(world.spdy.receive()).type, SpdyType::rst_stream);
  world.run(open_pair(world.spdy, 5, "80", "1"));
  world.run(world.spdy.send({.stream = 7, .data = "b"}));
  EXPECT_EQ(world.run(world.spdy.receive()).data, "b!");
}

// The same inside the messages of a WebSocket.
class Tunnel final : public net::ByteStream {
 public:
  explicit Tunnel(net::testing::WebSocketClient& client) : client_(client) {}
  Task<Result<std::string>> read() override {
    CO_TRY_ASSIGN(const auto message, co_await client_.receive());
    const bool data = message && message->opcode == WebSocketOpcode::binary;
    co_return data ? message->payload : std::string();
  }
  Task<Result<void>> write(std::string bytes) override {
    return client_.send(WebSocketOpcode::binary, std::move(bytes));
  }

 private:
  net::testing::WebSocketClient& client_;
};

TEST(PortForward, is_tunnelled_through_a_websocket) {
  World world;
  world.streams.servers[80] = shout;
  auto response =
      world.service.port_forward(world.pod, {}, websocket_request("SPDY/3.1+portforward.k8s.io"));
  ASSERT_TRUE(response);
  EXPECT_EQ(response->headers.get("Sec-WebSocket-Protocol"), "SPDY/3.1+portforward.k8s.io");
  world.take_over(std::move(response));
  Tunnel tunnel(world.websocket);
  net::testing::SpdyClient spdy(tunnel);
  world.run(open_pair(spdy, 1, "80", "0"));
  world.run(spdy.send({.stream = 3, .data = "through"}));
  EXPECT_EQ(world.run(spdy.receive()).data, "through!");
}

Task<void> greet(net::ByteStream& connection) {
  static_cast<void>(co_await connection.write("hello"));
}

TEST(PortForward, has_two_channels_per_port_for_clients_without_spdy) {
  World world;
  world.streams.servers[258] = greet;
  world.take_over(world.service.port_forward(
      world.pod, {"258,81"}, websocket_request("v5.channel.k8s.io,v4.channel.k8s.io")));
  const auto channels = world.all_channels();
  EXPECT_EQ(channels[0], "\x02\x01hello");
  EXPECT_EQ(channels[1], "\x02\x01");
  EXPECT_EQ(channels[2], std::string("\x51\0", 2));
  EXPECT_EQ(channels[3],
            std::string("\x51\0", 2) +
                "error forwarding port 81 to pod p, uid u: connect: Connection refused");
}

}  // namespace
}  // namespace codeflare::node
