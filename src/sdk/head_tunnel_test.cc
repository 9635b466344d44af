#include "sdk/head_tunnel.h"

#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "base/env/real_env.h"
#include "kube/testing/pod_server.h"
#include "kube/testing/scripted_service.h"
#include "kube/typed.h"
#include "model/codec/pod.h"
#include "net/testing/raw_peer.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace codeflare::sdk {
namespace {

using net::testing::RawPeer;

Task<void> shout_back(net::WebSocketConnection& socket) {
  const std::string hello{"\x11\x27", 2};
  co_await kube::testing::say(socket, '\0', hello);
  co_await kube::testing::say(socket, '\x01', hello);
  const std::string request = co_await kube::testing::hear(socket);
  co_await kube::testing::say(socket, '\0', request.substr(1) + "!");
  co_await socket.close(net::kWebSocketNormal, {});
}

std::string head(const std::string& name, bool ready) {
  return R"({"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"team","name":")" + name +
         R"(","labels":{"ray.io/cluster":"demo","ray.io/node-type":"head"}},"status":{"conditions":)"
         R"([{"type":"Ready","status":")" +
         (ready ? "True" : "False") + R"("}]}})";
}

// Lists go to the scripted API, port-forwards to a pod that answers.
class Api final : public net::HttpService {
 public:
  explicit Api(Env env) : store(env) {}
  Task<Result<net::Response>> send(net::Request request) override {
    if (!request.target.contains("/portforward")) {
      co_return co_await store.send(std::move(request));
    }
    targets.push_back(request.target);
    if (gone > 0) {
      --gone;
      co_return net::make_response(404, "text/plain", Bytes::from("pods \"x\" not found"));
    }
    co_return co_await pod.send(std::move(request));
  }

  kube::testing::ScriptedService store;
  kube::testing::PodServer pod{"v4.channel.k8s.io", shout_back};
  std::vector<std::string> targets;
  int gone = 0;  // answers to come that say so
};

struct World {
  RealEnv real;
  Env env = real.env();
  Api api{env};
  kube::Client client{env, api};
  const model::ResourceType pods = model::resource_type<model::Pod>();

  Task<Result<std::string>> visit(std::uint16_t port) {
    CO_TRY_ASSIGN(RawPeer peer, co_await RawPeer::connect(env, port));
    CO_TRY(co_await peer.send("hello"));
    co_return co_await peer.receive_to_end();
  }
  Task<void> visit_and_stop(std::uint16_t port, StopSource& stop, Result<std::string>& said) {
    said = co_await visit(port);
    stop.request_stop();
  }
  Task<void> make_ready_later() {
    static_cast<void>(co_await sleep_for(std::chrono::milliseconds(100)));
    api.store.put(pods, head("demo-head-2", true));
  }

  // The bytes that one connection gets.
  Task<Result<std::string>> one_connection(bool ready_later) {
    StopSource stop;
    TaskGroup visits(env.loop);
    Result<std::string> said = fail(internal_error("nobody came"));
    HeadTunnelOptions options{.opened = [&](std::uint16_t port) {
      visits.spawn(visit_and_stop(port, stop, said));
      if (ready_later) {
        visits.spawn(make_ready_later());
      }
    }};
    CO_TRY(co_await with_stop(
        stop.token(), serve_head_port(env, api, client, {"team", "demo"}, std::move(options))));
    co_await visits.close();
    co_return said;
  }
  std::string run(bool ready_later = false) {
    const auto said = codeflare::run(env.loop, one_connection(ready_later));
    return !said ? "hangs" : *said ? **said : said->error().to_string();
  }
};

TEST(HeadTunnel, carries_connections_to_the_ready_head) {
  World world;
  world.api.store.put(world.pods, head("demo-head-old", false));
  world.api.store.put(world.pods, head("demo-head-1", true));
  EXPECT_EQ(world.run(), "hello!");
  EXPECT_EQ(world.api.targets,
            (std::vector<std::string>{
                "/api/v1/namespaces/team/pods/demo-head-1/portforward?ports=10001"}));
}

TEST(HeadTunnel, waits_for_a_head_that_is_replaced) {
  World world;
  world.api.store.put(world.pods, head("demo-head-1", false));
  EXPECT_EQ(world.run(true), "hello!");
}

TEST(HeadTunnel, looks_again_when_the_head_went_away_meanwhile) {
  World world;
  world.api.store.put(world.pods, head("demo-head-1", true));
  world.api.gone = 1;
  EXPECT_EQ(world.run(), "hello!");
  EXPECT_EQ(world.api.targets.size(), 2u);
}

}  // namespace
}  // namespace codeflare::sdk
