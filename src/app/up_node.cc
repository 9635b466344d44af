#include "app/up_node.h"

#include "base/async/sleep.h"

#include <utility>

namespace codeflare {

namespace {

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
           .gpus = static_cast<std::int32_t>(options.about.capacity.get("nvidia.com/gpu").value()),
           .images = options.images,
           .allocatable = options.about.capacity,
           .resolv_conf = options.resolv_conf,
           .api_server = [this] { return std::pair(api_host_, api_port_); },
           .logger = logger})) {}

Task<Result<void>> UpNode::prepare(PodConnect& connect) {
  CO_TRY(co_await node::register_node(env_, client_, options_.about));
  CO_TRY(co_await agent_.adopt());
  connect.serve(logs_, options_.about.name);
  co_return Result<void>();
}

void UpNode::keep_alive(TaskGroup& group) {
  group.spawn(node::keep_alive(env_, client_, options_.about, logger_));
}

void UpNode::serve_at(std::string address, std::uint16_t port) {
  // Pods share the machine's network: all addresses means this machine too.
  const bool any = address == "0.0.0.0" || address == "::";
  api_host_ = any ? "127.0.0.1" : std::move(address);
  api_port_ = std::to_string(port);
}

Task<void> UpNode::stop() {
  co_await agent_.stop_pods();
  const Result<void> told = co_await with_timeout(
      kSignOffWithin, "the node's last report", node::sign_off(env_, client_, options_.about.name));
  if (!told) {
    logger_.warn("the node could not sign off", {{"error", told.error()}});
  }
}

}  // namespace codeflare
