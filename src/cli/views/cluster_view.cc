#include "cli/views/cluster_view.h"

#include "base/human_duration.h"
#include "cli/views/fields.h"
#include "cli/views/table.h"
#include "model/meta.h"
#include "model/resource_text.h"

#include <algorithm>

namespace codeflare::cli {

namespace {

using sdk::ClusterInfo;

std::string age(const ClusterInfo& info, WallTime now) {
  return info.created == WallTime() ? "-" : human_duration(now - info.created);
}

std::string workers(const ClusterInfo& info) {
  return std::to_string(info.state.workers_ready) + "/" +
         std::to_string(std::max(info.state.workers_wanted, info.sizes.workers));
}

std::string memory_text(const ClusterInfo& info) {
  return model::human_amount("memory", info.sizes.memory());
}

std::string cpu_text(const std::string& amount) {
  return amount + (amount == "1" ? " CPU" : " CPUs");
}

std::string size_text(const std::string& cpus, const std::string& memory,
                      const model::StringMap& devices) {
  std::string text = cpu_text(cpus) + ", " + memory;
  for (const auto& [device, amount] : devices) {
    if (amount != "0") {
      text += ", " + amount + " " + device;
    }
  }
  return text;
}

std::string container_trouble(const model::Pod& pod) {
  for (const model::ContainerStatus& container : pod.status.container_statuses) {
    if (container.state.waiting) {
      return container.state.waiting->reason;
    }
  }
  return pod.status.reason;
}

std::string pods_table(const ClusterInfo& info) {
  Table table({"  POD", "TYPE", "STATUS", "NODE", "REASON"});
  for (const model::Pod& pod : info.objects.pods) {
    table.add_row({"  " + pod.metadata.name,
                   std::string(model::find_or_empty(pod.metadata.labels, "ray.io/node-type")),
                   pod.status.phase, or_dash(pod.spec.node_name), or_dash(container_trouble(pod))});
  }
  return table.empty() ? "" : "Pods:\n" + table.to_text();
}

}  // namespace

std::string render_clusters(const std::vector<ClusterInfo>& infos, WallTime now) {
  Table table(
      {"NAME", "NAMESPACE", "STATUS", "WORKERS", "CPUS", "MEMORY", "GPUS", "AGE", "REASON"});
  for (const ClusterInfo& info : infos) {
    table.add_row({info.key.name, info.key.ns, std::string(to_string(info.state.phase)),
                   workers(info), info.sizes.cpus().to_string(), memory_text(info),
                   info.sizes.gpus().to_string(), age(info, now), or_dash(info.state.reason)});
  }
  return table.to_text();
}

std::string render_cluster_status(const ClusterInfo& info, WallTime now) {
  std::string out;
  add_field(out, "Ray cluster", info.key.to_string());
  add_field(out, "Status", std::string(to_string(info.state.phase)));
  add_field(out, "Reason", info.state.reason);
  add_field(out, "Message", info.state.message);
  add_field(out, "Workers", workers(info) + " ready");
  add_field(out, "AppWrapper", info.wrapper);
  add_field(out, "Age", age(info, now));
  return out;
}

std::string render_cluster_details(const ClusterInfo& info, WallTime now) {
  std::string out = render_cluster_status(info, now);
  add_field(out, "Requests",
            cpu_text(info.sizes.cpus().to_string()) + ", " + memory_text(info) + " memory, " +
                info.sizes.gpus().to_string() + " GPUs");
  add_field(out, "Image", info.sizes.image);
  add_field(out, "Client URI", info.client_uri());
  add_field(out, "Dashboard", info.dashboard_uri);
  return out + pods_table(info);
}

std::string sizes_line(const sdk::ClusterConfig& config) {
  std::string text = "1 head (" +
                     size_text(config.head_cpu_requests, config.head_memory_requests,
                               config.head_extended_resource_requests) +
                     "), " + std::to_string(config.num_workers) +
                     (config.num_workers == 1 ? " worker (" : " workers (") +
                     size_text(config.worker_cpu_requests, config.worker_memory_requests,
                               config.worker_extended_resource_requests) +
                     (config.num_workers == 1 ? ")" : " each)");
  for (const sdk::WorkerGroup& group : config.additional_worker_groups) {
    text += ", " + std::to_string(group.replicas) + " of group " + group.group_name + " (" +
            size_text(group.cpu_requests, group.memory_requests, group.extended_resource_requests) +
            " each)";
  }
  return text;
}

}  // namespace codeflare::cli
