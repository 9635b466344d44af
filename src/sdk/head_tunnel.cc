#include "sdk/head_tunnel.h"

#include "base/async/sleep.h"
#include "kube/port_forward.h"
#include "kube/typed.h"
#include "model/codec/pod.h"
#include "model/condition.h"
#include "net/stream_listener.h"

#include <chrono>
#include <memory>
#include <utility>

namespace codeflare::sdk {

namespace {

constexpr Duration kHeadWithin = std::chrono::seconds(30);
constexpr Duration kLookAgain = std::chrono::seconds(1);

// State that every connection of a tunnel shares.
struct Tunnel {
  Env env;
  net::HttpService& api;
  kube::Client& client;
  model::ObjectKey cluster;
  HeadTunnelOptions options;
};

// The name of the head's pod; `unavailable` while there is none that is ready.
Task<Result<std::string>> ready_head(Tunnel& tunnel) {
  kube::ListOptions which{
      .ns = tunnel.cluster.ns,
      .label_selector = "ray.io/cluster=" + tunnel.cluster.name + ",ray.io/node-type=head"};
  CO_TRY_ASSIGN(const kube::ObjectList pods,
                co_await tunnel.client.list_all(model::resource_type<model::Pod>(), which));
  for (const kube::ObjectRef& object : pods.items) {
    const Result<model::Pod> pod = object->as<model::Pod>();
    if (pod && !pod->metadata.deleting() &&
        model::is_condition_true(pod->status.conditions, "Ready")) {
      co_return pod->metadata.name;
    }
  }
  co_return fail(unavailable("raycluster/" + tunnel.cluster.name + " has no ready head"));
}

bool may_look_again(const Error& error) {
  // Not found: the pod was replaced after it was listed; no byte was carried yet.
  return error.code == ErrorCode::unavailable || error.code == ErrorCode::not_found;
}

Task<Result<void>> carry(Tunnel& tunnel, net::ByteStream& connection) {
  const Instant until = after(tunnel.env.loop.now(), kHeadWithin);
  for (;;) {
    Result<std::string> head = co_await ready_head(tunnel);
    Result<void> carried = head ? Result<void>() : fail(head.error());
    if (head) {
      kube::PodPort to{{tunnel.cluster.ns, *std::move(head)}, tunnel.options.head_port};
      carried =
          co_await kube::forward_connection(tunnel.env, tunnel.api, std::move(to), connection);
      if (carried || carried.error().code != ErrorCode::not_found) {
        co_return carried;
      }
    }
    if (!may_look_again(carried.error()) || tunnel.env.loop.now() >= until) {
      co_return carried;
    }
    CO_TRY(co_await sleep_for(kLookAgain));
  }
}

Task<void> serve(Tunnel& tunnel, net::ByteStream& connection) {
  const Result<void> carried = co_await carry(tunnel, connection);
  if (!carried && carried.error().code != ErrorCode::cancelled && tunnel.options.broken) {
    tunnel.options.broken(carried.error());
  }
}

}  // namespace

Task<Result<void>> serve_head_port(Env env, net::HttpService& api, kube::Client& client,
                                   model::ObjectKey cluster, HeadTunnelOptions options) {
  Result<std::unique_ptr<net::StreamListener>> listener =
      net::StreamListener::open(env, "127.0.0.1", options.port);
  if (!listener && options.any_if_taken) {
    listener = net::StreamListener::open(env, "127.0.0.1", 0);
  }
  if (!listener) {
    co_return fail(std::move(listener).error());
  }
  if (options.opened) {
    options.opened((*listener)->port());
  }
  Tunnel tunnel{env, api, client, std::move(cluster), std::move(options)};
  co_await (*listener)->serve(
      [&tunnel](net::ByteStream& connection) { return serve(tunnel, connection); });
  co_return Result<void>();
}

}  // namespace codeflare::sdk
