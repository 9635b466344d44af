#include "up/announced.h"

#include "base/async/task_group.h"
#include "base/env/process.h"

#include <chrono>
#include <cstdint>
#include <utility>

namespace codeflare::up {

namespace {

std::string server_url(const UpOptions& options, std::uint16_t port) {
  const bool six = options.address.find(':') != std::string::npos;
  return "https://" + (six ? "[" + options.address + "]" : options.address) + ":" +
         std::to_string(port);
}

// Others find the cluster from here on.
Task<void> announce(UpPresence& presence, UpState state, Logger logger,
                    std::function<void(const UpState&)> ready) {
  UpState unannounced = state;
  const Result<UpState> said = co_await presence.announce(std::move(state));
  if (!said) {
    logger.warn("'codeflare status' and 'codeflare down' will not find this cluster",
                {{"error", said.error()}});
  } else if (!said->warning.empty()) {
    logger.warn(said->warning, {});
  }
  ready(said ? *said : unannounced);
}

}  // namespace

std::string node_name(std::size_t index) {
  return "codeflare-" + std::to_string(index);
}

std::vector<std::string> about_nodes(const UpOptions& options) {
  std::vector<std::string> lines;
  if (options.process_node) {
    const node::NodeDescription& about = options.process_node->about;
    const std::size_t count = options.process_node->others.size() + 1;
    const bool isolated = about.not_isolated.empty();
    const bool networked = !about.pod_block.empty();
    lines.push_back((count == 1 ? "node " + about.name
                                : "nodes " + about.name + " to " + node_name(count - 1)) +
                    ": pods are processes of this machine" +
                    (isolated ? ", in their own namespaces" : "") +
                    (networked ? ", with their own addresses" : ", on the machine's network"));
    // Where both are missing the reason is the same.
    if (!isolated) {
      lines.push_back("  pods are not isolated: user namespaces are not allowed (" +
                      about.not_isolated + "); see docs/up.md to change that");
    } else if (!networked) {
      lines.push_back("  pods have no own addresses: network namespaces are not allowed (" +
                      about.no_network + "); see docs/up.md to change that");
    }
  }
  if (options.nodes.count > 0 || !options.process_node) {
    lines.push_back(std::to_string(options.nodes.count) +
                    " fake nodes: their pods only pretend to run");
  }
  return lines;
}

Task<Result<void>> run_announced(AnnouncedRun run) {
  TaskGroup group(run.env.loop);
  const UpOptions shown = run.options;
  const auto ready = [&](const UpReady& about) {
    run.state.since = run.env.clock.wall();
    run.state.ready_ms =
        std::chrono::duration_cast<std::chrono::milliseconds>(run.env.clock.now() - run.began)
            .count();
    run.state.server = server_url(shown, about.port);
    run.state.kubeconfig = about.server.kubeconfig_path();
    group.spawn(announce(run.presence, run.state, run.logger, run.ready));
  };
  TaskGroup upkeep(run.env.loop);
  upkeep.spawn(give_back_memory());
  Result<void> result =
      co_await run_up(run.env, std::move(run.options), run.logger, run.metrics, run.stop, ready);
  co_await upkeep.close();
  co_await group.join();
  const Result<void> withdrawn = co_await run.presence.withdraw();
  if (!withdrawn) {
    run.logger.warn("cannot remove the context from the kubeconfig",
                    {{"error", withdrawn.error()}});
  }
  co_return result;
}

}  // namespace codeflare::up
