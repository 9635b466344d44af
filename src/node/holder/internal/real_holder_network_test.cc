#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "net/local_stream.h"
#include "node/agent/holder_network.h"
#include "node/agent/keeper_runtime.h"
#include "node/agent/log_reader.h"
#include "node/agent/resolv_conf.h"
#include "node/holder/internal/real_anchor.h"
#include "node/holder/internal/real_http_proxy.h"
#include "node/holder/internal/real_sockets.h"
#include "node/testing/scratch.h"

#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <memory>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace codeflare::node {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Serves its own name at port 80, also to itself, and tells who came.
std::string server_of(const std::string& name) {
  return "exec python3 -c 'import socket\n"
         "s = socket.create_server((\"\", 80))\n"
         "print(\"serving\", flush=True)\n"
         "while True:\n"
         "    c, who = s.accept(); c.recv(1); print(\"from\", who[0], flush=True); c.sendall(b\"" +
         name + "\"); c.close()'";
}

std::string client_of(const std::string& host, int port = 80) {
  return "python3 -c 'import socket\n"
         "c = socket.create_connection((\"" +
         host + "\", " + std::to_string(port) +
         "), 10)\n"
         "c.sendall(b\"x\"); print(\"got\", c.recv(100).decode())'";
}

// Asks the proxy at the way out for a tunnel, and whoever is at its end for a word.
std::string tunnel_to(const std::string& target) {
  return "python3 -c 'import socket\n"
         "c = socket.create_connection((\"10.244.0.1\", 3128), 10)\n"
         "c.sendall(b\"CONNECT " +
         target +
         " HTTP/1.1\\r\\n\\r\\n\"); print(c.recv(500).decode())\n"
         "c.sendall(b\"x\"); print(\"got\", c.recv(100).decode())'";
}

// A real holder, real keepers and real processes. Skipped where the system forbids it.
class Network : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto allowed = *run(env.loop, probe_network(env, CODEFLARE_KEEPER, path("")));
    if (!allowed) {
      GTEST_SKIP() << "networks are forbidden here: " << allowed.error().message;
    }
    agent_starts();
  }
  void TearDown() override {
    if (network == nullptr) {
      return;
    }
    for (const auto& uid : made_) {
      EXPECT_TRUE(*run(env.loop, pods->remove(uid)));
      EXPECT_TRUE(*run(env.loop, network->detach(uid)));
    }
    ASSERT_TRUE(run(env.loop, network->shutdown()));
    agent_ends();
    EXPECT_TRUE(wait_until([&] {
      const auto anchor = internal::find_anchor(path("net"));
      return anchor && !*anchor;
    })) << "something is left that keeps the namespaces";
    EXPECT_FALSE(env.files.exists(path("net/holder.sock")));
  }

  void agent_starts() {
    const auto connect = [this](const std::string& socket) {
      return net::connect_local(env.loop, socket);
    };
    network = std::make_unique<HolderNetwork>(
        env,
        HolderNetworkOptions{
            .directory = path("net"), .program = CODEFLARE_KEEPER, .egress = egress},
        call_holder, connect);
    pods = std::make_unique<KeeperRuntime>(
        env,
        KeeperRuntimeOptions{.directory = path(""), .program = CODEFLARE_KEEPER, .isolated = true},
        *volumes, connect);
    const auto started = *run(env.loop, network->start());
    ASSERT_TRUE(started) << started.error().to_string();
    ASSERT_TRUE(*run(env.loop, pods->adopt()));
  }
  // As kill -9: nobody says goodbye.
  void agent_ends() {
    ASSERT_TRUE(run(env.loop, pods->stop()));
    ASSERT_TRUE(run(env.loop, network->stop()));
    pods.reset();
    network.reset();
  }

  void agent_starts_with_a_way_out() {
    agent_ends();
    egress = true;
    agent_starts();
  }

  // A pod with a network; returns its address.
  std::string make(const std::string& uid, const std::string& ns = "default") {
    const auto address =
        *run(env.loop, network->attach({.uid = uid, .ns = ns, .name = "pod-" + uid}));
    if (!address) {
      ADD_FAILURE() << address.error().to_string();
      return {};
    }
    model::Pod pod;
    pod.metadata.ns = ns;
    NewSandbox sandbox{.spec = {.ns = ns,
                                .name = "pod-" + uid,
                                .uid = uid,
                                .hostname = "pod-" + uid,
                                .network = network->holder()},
                       .volumes = {},
                       .etc = {{"hosts", "127.0.0.1 localhost\n"},
                               {"resolv.conf", resolv_conf(pod, network->nameserver(), "")},
                               {"passwd", "root:x:0:0::/root:/bin/sh\n"}}};
    const auto made = *run(env.loop, pods->make(std::move(sandbox)));
    EXPECT_TRUE(made) << made.error().to_string();
    made_.push_back(uid);
    return *address;
  }
  void start(const std::string& uid, const std::string& container, const std::string& script) {
    ContainerSpec spec{.name = container,
                       .command = {"/bin/sh", "-c", script},
                       .environment = {"PATH=/usr/bin:/bin"}};
    const auto done = *run(env.loop, pods->start(uid, std::move(spec)));
    ASSERT_TRUE(done) << done.error().to_string();
  }
  void serve(const std::string& uid, const std::string& says) {
    start(uid, "server", server_of(says));
    ASSERT_TRUE(wait_until([&] { return log_of(uid, "server").contains("serving"); }))
        << log_of(uid, "server");
  }
  // The output of the script, once it has ended.
  std::string output_of(const std::string& uid, const std::string& script) {
    const std::string name = "client" + std::to_string(next_++);
    start(uid, name, script + " 2>&1");
    EXPECT_TRUE(wait_until([&] {
      const RunRecord* last = pods->find(uid)->state.last(name);
      return last != nullptr && last->exited();
    }));
    return log_of(uid, name);
  }

  // The proxy takes a moment to begin.
  std::string through_the_way_out(const std::string& uid, const std::string& target) {
    std::string said;
    for (int i = 0; i < 50 && !said.contains("HTTP/1.1"); ++i) {
      said = output_of(uid, tunnel_to(target));
    }
    return said;
  }
  Task<void> run_to_its_end(Command command) {
    static_cast<void>(co_await env.launcher.run(std::move(command)));
  }

  template <typename Test>
  bool wait_until(Test test) {
    return *run(env.loop, poll_for(test));
  }
  template <typename Test>
  Task<bool> poll_for(Test test) {
    const Instant until = after(env.clock.now(), seconds(30));
    while (!test() && env.clock.now() < until) {
      static_cast<void>(co_await sleep_for(milliseconds(5)));
    }
    co_return test();
  }
  // As the keeper wrote it; without the loop.
  std::string log_of(const std::string& uid, const std::string& container) {
    return env.files.read(pods->log_directory(uid, container) + "/0.0.log").value_or("");
  }
  std::string path(std::string_view name) const { return scratch.path(name); }

  testing::Scratch scratch;
  Env env = scratch.env;
  std::unique_ptr<VolumeWriter> volumes = make_volume_writer();
  std::unique_ptr<KeeperRuntime> pods;
  std::unique_ptr<HolderNetwork> network;
  bool egress = false;

 private:
  std::vector<std::string> made_;
  int next_ = 0;
};

ServiceRecord web(const std::string& endpoint, bool headless = false) {
  return {.ns = "default",
          .name = "web",
          .address = headless ? "" : "10.96.7.7",
          .headless = headless,
          .ports = {{.name = "http", .protocol = "TCP", .port = 8080}},
          .endpoints = {{.address = endpoint, .hostname = "web-0", .ready = true, .ports = {80}}}};
}

TEST_F(Network, comes_back_when_its_memory_is_damaged) {
  ASSERT_TRUE(run(env.loop, network->shutdown()));
  agent_ends();
  EXPECT_TRUE(wait_until([&] {
    const auto anchor = internal::find_anchor(path("net"));
    return anchor && !*anchor;
  }));
  ASSERT_TRUE(env.files.write(path("net/network.json"), R"({"pods":[{)"));
  agent_starts();
  EXPECT_TRUE(env.files.exists(path("net/network.json.damaged")));
}

TEST_F(Network, pods_listen_on_the_same_port_and_reach_each_other) {
  const std::string a = make("a");
  const std::string b = make("b");
  EXPECT_NE(a, b);
  serve("a", "I am a");
  serve("b", "I am b");
  EXPECT_TRUE(output_of("a", client_of(b)).contains("got I am b"));
  EXPECT_TRUE(output_of("b", client_of(a)).contains("got I am a"));
  EXPECT_TRUE(output_of("b", client_of("127.0.0.1")).contains("got I am b"));
}

TEST_F(Network, services_have_names_and_addresses_that_lead_to_their_pods) {
  const std::string a = make("a");
  make("b");
  serve("a", "I am a");
  ASSERT_TRUE(*run(env.loop, network->set_service(web(a))));
  EXPECT_TRUE(output_of("b", client_of("web", 8080)).contains("got I am a"));
  EXPECT_TRUE(output_of("b", "getent hosts web.default.svc.cluster.local").contains("10.96.7.7"));
  // A pod is its own client through the service too.
  EXPECT_TRUE(output_of("a", client_of("web.default", 8080)).contains("got I am a"));
  ASSERT_TRUE(*run(env.loop, network->set_service(web(a, true))));
  EXPECT_TRUE(output_of("b", client_of("web-0.web")).contains("got I am a"));
  ASSERT_TRUE(*run(env.loop, network->forget_service("default/web")));
  EXPECT_TRUE(output_of("b", client_of("web", 8080)).contains("gaierror"));
}

TEST_F(Network, a_service_without_endpoints_refuses_and_other_names_do_not_exist) {
  make("b");
  ServiceRecord empty = web("10.244.0.99");
  empty.endpoints.clear();
  ASSERT_TRUE(*run(env.loop, network->set_service(empty)));
  EXPECT_TRUE(output_of("b", client_of("web", 8080)).contains("ConnectionRefusedError"));
  EXPECT_TRUE(output_of("b", client_of("elsewhere.example")).contains("gaierror"));
}

TEST_F(Network, pods_reach_nothing_of_the_machine) {
  make("a");
  const auto here = internal::listen_tcp({Ipv4{0x7f000001u}, 0});
  ASSERT_TRUE(here);
  sockaddr_in address{};
  socklen_t size = sizeof address;
  ::getsockname(here->get(), reinterpret_cast<sockaddr*>(&address), &size);
  const int port = internal::from_sockaddr(address).port;
  EXPECT_TRUE(output_of("a", client_of("127.0.0.1", port)).contains("ConnectionRefusedError"));
  EXPECT_TRUE(output_of("a", client_of("10.244.0.1", port)).contains("ConnectionRefusedError"));
}

TEST_F(Network, the_world_outside_is_refused_at_once) {
  make("a");
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(output_of("a", client_of("192.0.2.1")).contains("Network is unreachable"));
  }
}

TEST_F(Network, a_pod_cannot_change_its_network) {
  make("a");
  const std::string said =
      output_of("a",
                "python3 -c 'import socket, fcntl, struct\n"
                "s = socket.socket()\n"
                "fcntl.ioctl(s, 0x8914, struct.pack(\"16sh\", b\"eth0\", 0))'");
  EXPECT_TRUE(said.contains("PermissionError")) << said;
}

TEST_F(Network, descriptors_reach_a_pod_and_are_reached_by_it) {
  make("a");
  serve("a", "hello");
  const auto socket = *run(env.loop, network->socket("a"));
  ASSERT_TRUE(socket) << socket.error().to_string();
  const sockaddr_in self = internal::to_sockaddr({Ipv4{0x7f000001u}, 80});
  ::connect(socket->get(), reinterpret_cast<const sockaddr*>(&self), sizeof self);
  pollfd wait{.fd = socket->get(), .events = POLLOUT, .revents = 0};
  ASSERT_EQ(::poll(&wait, 1, 10'000), 1);
  ASSERT_EQ(::send(socket->get(), "x", 1, MSG_NOSIGNAL), 1);
  wait.events = POLLIN;
  ASSERT_EQ(::poll(&wait, 1, 10'000), 1);
  std::array<char, 16> buffer{};
  ASSERT_EQ(::recv(socket->get(), buffer.data(), buffer.size(), 0), 5);
  EXPECT_EQ(std::string_view(buffer.data(), 5), "hello");

  const auto listener = *run(env.loop, network->listen("10.96.0.1", 443));
  ASSERT_TRUE(listener) << listener.error().to_string();
  start("a", "caller", client_of("10.96.0.1", 443));
  pollfd incoming{.fd = listener->get(), .events = POLLIN, .revents = 0};
  ASSERT_EQ(::poll(&incoming, 1, 20'000), 1);
  const FileDescriptor accepted(::accept(listener->get(), nullptr, nullptr));
  ASSERT_TRUE(accepted);
  ASSERT_EQ(::send(accepted.get(), "api", 3, MSG_NOSIGNAL), 3);
  EXPECT_TRUE(wait_until([&] { return log_of("a", "caller").contains("got api"); }));
}

TEST_F(Network, this_machine_dials_services_by_name) {
  const std::string a = make("a");
  serve("a", "I am a");
  ASSERT_TRUE(*run(env.loop, network->set_service(web(a))));
  const auto server = internal::dial_inside(network->holder(), "web.default", 8080);
  ASSERT_TRUE(server) << server.error().to_string();
  ASSERT_EQ(::send(server->get(), "x", 1, MSG_NOSIGNAL), 1);
  std::array<char, 16> buffer{};
  ASSERT_EQ(::recv(server->get(), buffer.data(), buffer.size(), 0), 6);
  EXPECT_EQ(std::string_view(buffer.data(), 6), "I am a");
  EXPECT_FALSE(internal::dial_inside(network->holder(), "nobody.default", 80));
}

TEST_F(Network, the_way_out_does_not_lead_back_to_this_machine) {
  agent_starts_with_a_way_out();
  make("a");
  EXPECT_EQ(network->way_out(), "http://10.244.0.1:3128");
  const auto here = internal::listen_tcp({Ipv4{0x7f000001u}, 0});
  ASSERT_TRUE(here);
  sockaddr_in address{};
  socklen_t size = sizeof address;
  ::getsockname(here->get(), reinterpret_cast<sockaddr*>(&address), &size);
  const std::string port = ":" + std::to_string(internal::from_sockaddr(address).port);
  for (const char* host : {"127.0.0.1", "localhost", "[::1]", "0.0.0.0"}) {
    const std::string said = through_the_way_out("a", std::string(host) + port);
    EXPECT_TRUE(said.contains("502 Bad Gateway")) << host << ": " << said;
  }
  // A service may say so too, and is not believed.
  ServiceRecord sly = web("127.0.0.1", true);
  ASSERT_TRUE(*run(env.loop, network->set_service(sly)));
  const std::string said = through_the_way_out("a", "web" + port);
  EXPECT_TRUE(said.contains("502 Bad Gateway")) << said;
}

TEST_F(Network, the_way_out_leads_to_pods_and_services_as_the_pod_names_them) {
  agent_starts_with_a_way_out();
  const std::string a = make("a");
  const std::string b = make("b");
  make("c", "ml");
  serve("a", "I am a");
  ASSERT_TRUE(*run(env.loop, network->set_service(web(a))));
  ServiceRecord train = web(a);
  train.ns = "ml";
  train.name = "train";
  train.address = "10.96.7.8";
  ASSERT_TRUE(*run(env.loop, network->set_service(train)));
  for (const std::string& target : {std::string("web:8080"), std::string("web.default:8080"),
                                    std::string("web.default.svc.cluster.local:8080"),
                                    std::string("10.96.7.7:8080"), a + ":80"}) {
    const std::string said = through_the_way_out("b", target);
    EXPECT_TRUE(said.contains("got I am a")) << target << ": " << said;
  }
  // The server sees the pod that asks.
  EXPECT_TRUE(log_of("a", "server").contains("from " + b)) << log_of("a", "server");
  // Short names are those of the namespace of whoever asks.
  EXPECT_TRUE(through_the_way_out("c", "train:8080").contains("got I am a"));
  const std::string said = through_the_way_out("b", "train:8080");
  EXPECT_TRUE(said.contains("502 Bad Gateway")) << said;
}

// The proxy is in a network of ours here instead of the machine's: what is outside can only be made
// there. It is an address that the cluster does not know, which that network has a route to.
TEST_F(Network, the_way_out_leads_to_the_world_outside) {
  make("a");
  const auto proxy = *run(env.loop, network->attach({.uid = "p", .ns = "default", .name = "p"}));
  ASSERT_TRUE(proxy) << proxy.error().to_string();
  const auto joined =
      call_holder(network->holder(), {.verb = "join", .pod = PodRecord{.uid = "p"}});
  ASSERT_TRUE(joined) << joined.error().to_string();
  ASSERT_EQ(joined->descriptors.size(), 2u);
  const auto file = [&](std::size_t i) {
    return "/proc/" + std::to_string(::getpid()) + "/fd/" +
           std::to_string(joined->descriptors[i].get());
  };
  const auto outside = *run(env.loop, network->listen("192.0.2.10", 8080));
  ASSERT_TRUE(outside) << outside.error().to_string();
  TaskGroup programs(env.loop);
  programs.spawn(run_to_its_end(
      {.program = "nsenter",
       .arguments = {"--preserve-credentials", "--user=" + file(0), "--net=" + file(1),
                     CODEFLARE_KEEPER, "node-egress", path("net")}}));
  EXPECT_TRUE(through_the_way_out("a", "127.0.0.1:80").contains("502 Bad Gateway"));
  start("a", "caller", tunnel_to("192.0.2.10:8080"));
  pollfd incoming{.fd = outside->get(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(::poll(&incoming, 1, 20'000), 1);
  sockaddr_in from{};
  socklen_t size = sizeof from;
  const FileDescriptor accepted(
      ::accept(outside->get(), reinterpret_cast<sockaddr*>(&from), &size));
  EXPECT_EQ(internal::from_sockaddr(from).address.to_string(), *proxy);
  EXPECT_EQ(::send(accepted.get(), "the world", 9, MSG_NOSIGNAL), 9);
  EXPECT_TRUE(wait_until([&] { return log_of("a", "caller").contains("the world"); }))
      << log_of("a", "caller");
  ASSERT_TRUE(run(env.loop, programs.close()));
}

TEST_F(Network, services_may_have_addresses_of_another_block) {
  const std::string a = make("a");
  make("b");
  serve("a", "I am a");
  ServiceRecord service = web(a);
  service.address = "172.20.7.7";
  ASSERT_TRUE(*run(env.loop, network->set_service(service)));
  EXPECT_TRUE(output_of("b", client_of("web", 8080)).contains("got I am a"));
  // Once more, as after each change.
  service.endpoints.clear();
  ASSERT_TRUE(*run(env.loop, network->set_service(service)));
  EXPECT_TRUE(output_of("b", client_of("172.20.7.7", 8080)).contains("ConnectionRefusedError"));
}

TEST_F(Network, lives_on_when_the_agent_dies_and_forgets_the_pods_that_are_gone) {
  const std::string a = make("a");
  const auto gone = *run(env.loop, network->attach({.uid = "gone", .ns = "default", .name = "g"}));
  ASSERT_TRUE(gone);
  serve("a", "still here");
  agent_ends();
  agent_starts();
  EXPECT_EQ(network->address_of("a"), a);
  EXPECT_EQ(network->address_of("gone"), *gone);
  ASSERT_TRUE(*run(env.loop, network->keep({"a"})));
  EXPECT_EQ(network->address_of("gone"), std::nullopt);
  make("b");
  EXPECT_TRUE(output_of("b", client_of(a)).contains("got still here"));
}

TEST_F(Network, is_whole_again_when_its_holder_was_killed) {
  const std::string a = make("a");
  make("b");
  serve("a", "I am a");
  ASSERT_TRUE(*run(env.loop, network->set_service(web(a))));
  const auto state = call_holder(network->holder(), {.verb = "state"});
  ASSERT_TRUE(state);
  ASSERT_EQ(::kill(static_cast<pid_t>(state->answer.process), SIGKILL), 0);
  // Pods do not need it to reach each other.
  EXPECT_TRUE(output_of("b", client_of(a)).contains("got I am a"));
  // The next holder has the records again.
  EXPECT_TRUE(wait_until([&] {
    const auto again = call_holder(network->holder(), {.verb = "state"});
    return again && again->answer.process != state->answer.process;
  }));
  std::string said;
  for (int i = 0; i < 20 && !said.contains("got I am a"); ++i) {
    said = output_of("b", client_of("web", 8080));
  }
  EXPECT_TRUE(said.contains("got I am a")) << said;
  EXPECT_EQ(network->address_of("a"), a);
  EXPECT_NE(make("c"), a);
}

}  // namespace
}  // namespace codeflare::node
