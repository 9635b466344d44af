#include "app/up_node.h"

#include "apiserver/identity/pki.h"
#include "base/async/sleep.h"

#include <utility>

namespace codeflare {

namespace {

constexpr std::uint16_t kServicePort = 443;
constexpr Duration kSignOffWithin = std::chrono::seconds(5);

}  // namespace

UpNode::UpNode(Env env, const ProcessNode& options, runtime::Manager& manager, Logger logger)
    : env_(env),
      options_(options),
      client_(manager.client()),
      logger_(logger),
      logs_(env, options.pods, options.logs),
      agent_(node::add_pod_agent(
          manager, options.pods,
          {.node = options.about.name,
           .address = options.about.address,
           .network = options.network,
           .api_in_network = [this] { return api_in_network_; },
           .gpus = static_cast<std::int32_t>(options.about.capacity.get("nvidia.com/gpu").value()),
           .images = options.images,
           .allocatable = options.about.capacity,
           .resolv_conf = options.resolv_conf,
           .probes = options.probes,
           .claims_directory = options.claims_directory,
           .host_paths = options.host_paths,
           .api_server = [this] { return std::pair(api_host_, api_port_); },
           .logger = logger})) {
  if (options.streams != nullptr) {
    streams_.emplace(options.pods, *options.streams);
  }
}

Task<Result<void>> UpNode::prepare(PodConnect& connect) {
  CO_TRY(co_await node::register_node(env_, client_, options_.about));
  CO_TRY(co_await agent_.adopt());
  connect.serve({.logs = &logs_, .streams = streams_ ? &*streams_ : nullptr}, options_.about.name);
  connect_ = &connect;
  co_return Result<void>();
}

void UpNode::keep_alive(TaskGroup& group) {
  group.spawn(node::keep_alive(env_, client_, options_.about, logger_));
}

Task<Result<void>> UpNode::serve(apiserver::ApiServer& server, std::string address,
                                 std::uint16_t port) {
  // On the machine's network all addresses means this machine too.
  const bool any = address == "0.0.0.0" || address == "::";
  api_host_ = any ? "127.0.0.1" : std::move(address);
  api_port_ = std::to_string(port);
  if (options_.network == nullptr) {
    co_return Result<void>();
  }
  const std::string in_cluster(apiserver::kServiceAddress);
  api_in_network_ = {in_cluster, std::to_string(kServicePort)};
  CO_TRY_ASSIGN(FileDescriptor listener,
                co_await options_.network->listen(in_cluster, kServicePort));
  co_return server.listen_on(std::move(listener));
}

Task<void> UpNode::stop() {
  co_await agent_.stop_pods();
  // Whoever streams from pods or to them has to let go before their network does.
  if (connect_ != nullptr) {
    connect_->end();
  }
  if (streams_) {
    co_await streams_->close();
  }
  if (options_.network != nullptr) {
    co_await options_.network->shutdown();
  }
  const Result<void> told = co_await with_timeout(
      kSignOffWithin, "the node's last report", node::sign_off(env_, client_, options_.about.name));
  if (!told) {
    logger_.warn("the node could not sign off", {{"error", told.error()}});
  }
}

}  // namespace codeflare
