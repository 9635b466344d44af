#include "up/join.h"

#include "base/async/task_group.h"
#include "kube/typed.h"
#include "model/codec/service.h"
#include "model/resources.h"
#include "net/server.h"
#include "net/tcp_relay.h"
#include "net/url.h"
#include "node/agent/service_feed.h"
#include "runtime/manager.h"
#include "up/internal/work.h"
#include "up/kubelet_service.h"
#include "up/node.h"

#include <cstdint>
#include <utility>

namespace codeflare::up {

namespace {

// Where clients in pods look for the API server.
Task<Result<ServerPlaces>> find_places(const Join& join) {
  CO_TRY_ASSIGN(const net::Url server, net::parse_url(join.server));
  ServerPlaces places{.address = server.host, .port = server.port};
  if (join.node.network == nullptr) {
    co_return places;
  }
  kube::Api<model::Service> services(join.client, "default");
  CO_TRY_ASSIGN(const model::Service service, co_await services.get("kubernetes"));
  places.cluster_address = service.spec.cluster_ip;
  if (!service.spec.ports.empty()) {
    places.cluster_port = static_cast<std::uint16_t>(service.spec.ports.front().port);
  }
  co_return places;
}

// The Node is there, pods of an earlier run are known, and those to come find the API server: where
// they have a network of their own, at its cluster address, by a relay in `group`.
Task<Result<void>> begin(const Join& join, UpNodes& node, PodConnect* connect, TaskGroup& group) {
  CO_TRY(co_await node.prepare(connect));
  CO_TRY_ASSIGN(const ServerPlaces places, co_await find_places(join));
  node.serve_at(places);
  if (join.node.network != nullptr) {
    CO_TRY_ASSIGN(FileDescriptor listener,
                  co_await join.node.network->listen(places.cluster_address, places.cluster_port));
    group.spawn(net::relay_connections(join.env, std::move(listener), places.address, places.port));
  }
  co_return Result<void>();
}

Task<Result<void>> run_node(const Join& join, PodConnect* connect) {
  runtime::Manager manager(join.env, join.client,
                           {.name = join.name, .logger = join.logger, .metrics = &join.metrics});
  UpNodes node(join.env, join.node, manager, join.logger);
  if (join.node.network != nullptr) {
    node::add_service_feed(manager, *join.node.network, join.node.about.name);
  }
  TaskGroup group(join.env.loop);
  if (const Result<void> begun = co_await begin(join, node, connect, group); !begun) {
    co_await node.leave();
    co_await group.close();
    co_return begun;
  }
  Work work;
  group.spawn(run_manager(manager, work));
  node.keep_alive(group);
  join.joined(join.node);
  StopCallback on_stop(join.stop, [&] { work.changed.notify_all(); });
  while (!join.stop.stop_requested() && !work.end) {
    co_await work.changed.wait_uncancellable();
  }
  Result<void> stopped;
  const bool asked = join.stop.stop_requested();
  if (asked) {
    StopCallback on_skip_grace(join.skip_grace, [&] { node.skip_grace(); });
    stopped = co_await node.stop();
  } else {
    co_await node.leave();
  }
  co_await group.close();
  co_return asked ? stopped : *work.end;
}

}  // namespace

Task<Result<void>> run_join(Join join) {
  if (!join.kubelet) {
    co_return co_await run_node(join, nullptr);
  }
  constexpr Duration kDrain = std::chrono::seconds(5);
  PodConnect connect;
  KubeletService service(join.client, connect, join.node.about.name);
  net::HttpServer server(join.env, service, {.tls = join.kubelet->tls});
  const Result<std::uint16_t> port = server.listen(join.kubelet->address, join.kubelet->port);
  Result<void> end = port ? Result<void>() : fail(port.error().with_context("the kubelet's port"));
  if (port) {
    join.node.about.address = join.kubelet->address;
    join.node.about.kubelet_port = *port;
    end = co_await run_node(join, &connect);
  }
  co_await server.drain(kDrain);
  co_return end;
}

}  // namespace codeflare::up
