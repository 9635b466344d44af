#include "controllers/raycluster/ray_pod.h"

#include "controllers/raycluster/testing/sample.h"

#include <gtest/gtest.h>

#include <algorithm>

// The pods that the KubeRay operator 1.5.1 makes of the same cluster, written down as expectations.
namespace codeflare::controllers::raycluster {
namespace {

using testing::sample_cluster;

std::vector<std::string> names(const std::vector<model::EnvVar>& variables) {
  std::vector<std::string> result;
  for (const model::EnvVar& variable : variables) {
    result.push_back(variable.name);
  }
  return result;
}

const model::EnvVar& variable(const model::Container& container, std::string_view name) {
  static const model::EnvVar kNone;
  auto found = std::ranges::find(container.env, name, &model::EnvVar::name);
  return found == container.env.end() ? kNone : *found;
}

using Words = std::vector<std::string>;

TEST(RayPod, a_head_has_the_names_and_labels_that_ray_users_know) {
  const model::Pod pod = head_pod(sample_cluster());
  EXPECT_EQ(pod.metadata.generate_name, "demo-head-");
  EXPECT_EQ(pod.metadata.labels,
            (model::StringMap{{"app.kubernetes.io/created-by", "kuberay-operator"},
                              {"app.kubernetes.io/name", "kuberay"},
                              {"ray.io/cluster", "demo"},
                              {"ray.io/group", "headgroup"},
                              {"ray.io/identifier", "demo-head"},
                              {"ray.io/is-ray-node", "yes"},
                              {"ray.io/node-type", "head"},
                              {"team", "a"}}));
  EXPECT_EQ(pod.metadata.annotations, (model::StringMap{{"ray.io/ft-enabled", "false"}}));
  ASSERT_EQ(pod.metadata.owner_references.size(), 1u);
  EXPECT_EQ(pod.metadata.owner_references[0].uid, "cluster-uid");
  EXPECT_TRUE(*pod.metadata.owner_references[0].controller);
}

TEST(RayPod, a_head_starts_ray) {
  const model::Pod pod = head_pod(sample_cluster());
  const model::Container& ray = pod.spec.containers.at(0);
  const std::string start =
      "ray start --head  --block  --dashboard-agent-listen-port=52365  --dashboard-host=0.0.0.0  "
      "--memory=2000000000  --metrics-export-port=8080  --num-cpus=1 ";
  EXPECT_EQ(ray.command, (Words{"/bin/bash", "-c", "--"}));
  EXPECT_EQ(ray.args, (Words{"ulimit -n 65536; " + start}));
  EXPECT_EQ(names(ray.env),
            (Words{"RAY_CLUSTER_NAME", "RAY_CLOUD_INSTANCE_ID", "RAY_NODE_TYPE_NAME",
                   "KUBERAY_GEN_RAY_START_CMD", "RAY_PORT", "RAY_ADDRESS",
                   "RAY_USAGE_STATS_KUBERAY_IN_USE", "RAY_USAGE_STATS_EXTRA_TAGS",
                   "RAY_DASHBOARD_ENABLE_K8S_DISK_USAGE"}));
  EXPECT_EQ(variable(ray, "RAY_CLUSTER_NAME").value_from->field_ref->field_path,
            "metadata.labels['ray.io/cluster']");
  EXPECT_EQ(variable(ray, "KUBERAY_GEN_RAY_START_CMD").value, start);
  EXPECT_EQ(variable(ray, "RAY_PORT").value, "6379");
  EXPECT_EQ(variable(ray, "RAY_ADDRESS").value, "127.0.0.1:6379");
  EXPECT_EQ(ray.ports.back().name, "metrics");
  EXPECT_EQ(ray.ports.back().container_port, 8080);
}

TEST(RayPod, ray_has_shared_memory_and_is_probed) {
  const model::Pod pod = head_pod(sample_cluster());
  const model::Container& ray = pod.spec.containers.at(0);
  ASSERT_EQ(pod.spec.volumes.size(), 1u);
  EXPECT_EQ(pod.spec.volumes[0].name, "shared-mem");
  EXPECT_EQ(pod.spec.volumes[0].empty_dir->medium, "Memory");
  EXPECT_EQ(pod.spec.volumes[0].empty_dir->size_limit->to_string(), "2G");
  EXPECT_EQ(ray.volume_mounts.at(0).mount_path, "/dev/shm");
  ASSERT_EQ(ray.liveness_probe->exec->command.size(), 3u);
  const std::string& command = ray.liveness_probe->exec->command[2];
  const std::string raylet = "http://localhost:52365/api/local_raylet_healthz";
  const std::string gcs = "http://localhost:8265/api/gcs_healthz";
  EXPECT_TRUE(command.contains("wget --tries 1 -T 2 -q -O- " + raylet + ";")) << command;
  EXPECT_TRUE(command.contains("wget --tries 1 -T 10 -q -O- " + gcs + ";")) << command;
  // In images without wget.
  EXPECT_TRUE(command.contains(".open('" + raylet + "', timeout=2)")) << command;
  EXPECT_TRUE(command.contains(".open('" + gcs + "', timeout=10)")) << command;
  EXPECT_EQ(ray.liveness_probe->initial_delay_seconds, 30);
  EXPECT_EQ(ray.liveness_probe->failure_threshold, 120);
  EXPECT_EQ(ray.liveness_probe->timeout_seconds, 5);
  EXPECT_EQ(ray.readiness_probe->initial_delay_seconds, 10);
  EXPECT_EQ(ray.readiness_probe->failure_threshold, 10);
  EXPECT_EQ(ray.readiness_probe->period_seconds, 5);
}

TEST(RayPod, a_worker_waits_for_its_head) {
  const model::RayCluster cluster = sample_cluster();
  const model::Pod pod = worker_pod(cluster, cluster.spec.worker_groups.at(0));
  EXPECT_EQ(pod.metadata.generate_name, "demo-small-group-worker-");
  EXPECT_EQ(pod.metadata.labels.at("ray.io/group"), "small-group");
  EXPECT_EQ(pod.metadata.labels.at("ray.io/node-type"), "worker");
  EXPECT_EQ(pod.metadata.labels.at("ray.io/identifier"), "demo-worker");
  EXPECT_TRUE(pod.metadata.annotations.empty());
  ASSERT_EQ(pod.spec.init_containers.size(), 1u);
  const model::Container& wait = pod.spec.init_containers[0];
  EXPECT_EQ(wait.name, "wait-gcs-ready");
  EXPECT_EQ(wait.image, "ray:2.5.0");
  EXPECT_TRUE(wait.args.at(0).contains(
      "ray health-check --address demo-head-svc.default.svc.cluster.local:6379"));
  EXPECT_EQ(wait.resources.requests.get("cpu").to_string(), "200m");
  EXPECT_EQ(wait.resources.limits.get("memory").to_string(), "256Mi");
  EXPECT_EQ(names(wait.env), (Words{"FQ_RAY_IP", "RAY_IP"}));
  const model::Container& ray = pod.spec.containers.at(0);
  EXPECT_EQ(names(ray.env),
            (Words{"FQ_RAY_IP", "RAY_IP", "RAY_CLUSTER_NAME", "RAY_CLOUD_INSTANCE_ID",
                   "RAY_NODE_TYPE_NAME", "KUBERAY_GEN_RAY_START_CMD", "RAY_PORT", "RAY_ADDRESS",
                   "RAY_USAGE_STATS_KUBERAY_IN_USE", "RAY_DASHBOARD_ENABLE_K8S_DISK_USAGE"}));
  EXPECT_EQ(variable(ray, "FQ_RAY_IP").value, "demo-head-svc.default.svc.cluster.local");
  EXPECT_EQ(variable(ray, "RAY_IP").value, "demo-head-svc");
  EXPECT_EQ(variable(ray, "RAY_ADDRESS").value, "demo-head-svc.default.svc.cluster.local:6379");
  EXPECT_TRUE(ray.args.at(0).contains("--num-gpus=1"));
  EXPECT_EQ(ray.liveness_probe->timeout_seconds, 2);
  EXPECT_FALSE(ray.liveness_probe->exec->command.at(2).contains("gcs_healthz"));
}

TEST(RayPod, own_commands_come_first_or_stay) {
  model::RayCluster cluster = sample_cluster();
  model::Container& ray = cluster.spec.head_group.pod_template.spec.containers.at(0);
  ray.command = {"echo", "hi"};
  EXPECT_TRUE(head_pod(cluster).spec.containers[0].args.at(0).starts_with(
      " echo  hi  && ulimit -n 65536; ray start --head "));
  cluster.metadata.annotations["ray.io/overwrite-container-cmd"] = "true";
  EXPECT_EQ(head_pod(cluster).spec.containers[0].command, (Words{"echo", "hi"}));
  cluster.metadata.annotations.clear();
  ray.command = {"bash", "-c"};
  ray.args = {"ray start --head --block"};
  EXPECT_EQ(head_pod(cluster).spec.containers[0].args, (Words{"ray start --head --block"}));
}

TEST(RayPod, labels_that_matter_cannot_be_overridden) {
  model::RayCluster cluster = sample_cluster();
  cluster.spec.head_group.pod_template.metadata.labels = {{"ray.io/cluster", "x"},
                                                          {"ray.io/group", "x"},
                                                          {"ray.io/node-type", "x"},
                                                          {"app.kubernetes.io/name", "mine"}};
  const model::StringMap labels = head_pod(cluster).metadata.labels;
  EXPECT_EQ(labels.at("ray.io/cluster"), "demo");
  EXPECT_EQ(labels.at("ray.io/group"), "headgroup");
  EXPECT_EQ(labels.at("ray.io/node-type"), "head");
  EXPECT_EQ(labels.at("app.kubernetes.io/name"), "mine");
  EXPECT_EQ(head_service(cluster).spec.selector.at("app.kubernetes.io/name"), "mine");
}

TEST(RayPod, long_names_are_cut) {
  model::RayCluster cluster = sample_cluster();
  cluster.metadata.name = std::string(50, 'n');
  cluster.spec.worker_groups[0].group_name = "group";
  EXPECT_EQ(worker_pod(cluster, cluster.spec.worker_groups[0]).metadata.generate_name,
            std::string(50, 'n') + "-worker-");
  cluster.metadata.name = std::string(60, 'n');
  EXPECT_EQ(head_pod(cluster).metadata.labels.at("ray.io/identifier"),
            std::string(58, 'n') + "-head");
}

TEST(RayService, leads_straight_to_the_head) {
  const model::Service service = head_service(sample_cluster());
  EXPECT_EQ(service.metadata.name, "demo-head-svc");
  EXPECT_EQ(service.spec.type, "ClusterIP");
  EXPECT_EQ(service.spec.cluster_ip, "None");
  EXPECT_TRUE(service.spec.publish_not_ready_addresses);
  EXPECT_EQ(service.spec.selector,
            (model::StringMap{{"app.kubernetes.io/created-by", "kuberay-operator"},
                              {"app.kubernetes.io/name", "kuberay"},
                              {"ray.io/cluster", "demo"},
                              {"ray.io/identifier", "demo-head"},
                              {"ray.io/node-type", "head"}}));
  EXPECT_EQ(service.metadata.labels, service.spec.selector);
  Words ports;
  for (const model::ServicePort& port : service.spec.ports) {
    ports.push_back(port.name + ":" + std::to_string(port.port));
    EXPECT_EQ(port.app_protocol, "tcp");
  }
  EXPECT_EQ(ports, (Words{"client:10001", "dashboard:8265", "gcs:6379", "metrics:8080"}));
}

TEST(RayService, has_rays_own_ports_when_the_head_names_none) {
  model::RayCluster cluster = sample_cluster();
  cluster.spec.head_group.pod_template.spec.containers[0].ports.clear();
  cluster.spec.head_group.service_type = "NodePort";
  const model::Service service = head_service(cluster);
  Words ports;
  for (const model::ServicePort& port : service.spec.ports) {
    ports.push_back(port.name + ":" + std::to_string(port.port));
  }
  EXPECT_EQ(ports, (Words{"client:10001", "dashboard:8265", "gcs-server:6379", "metrics:8080",
                          "serve:8000"}));
  EXPECT_EQ(service.spec.type, "NodePort");
  EXPECT_EQ(service.spec.cluster_ip, "");
}

TEST(RayService, may_be_the_users_own) {
  model::RayCluster cluster = sample_cluster();
  cluster.spec.head_group.head_service.text =
      R"({"metadata":{"name":"mine","labels":{"x":"y"}},"spec":{"selector":{"a":"b"},)"
      R"("ports":[{"name":"extra","port":1}]}})";
  cluster.spec.head_service_annotations = {{"k", "v"}};
  const model::Service service = head_service(cluster);
  EXPECT_EQ(service.metadata.name, "mine");
  EXPECT_EQ(service.metadata.labels.at("x"), "y");
  EXPECT_EQ(service.metadata.annotations.at("k"), "v");
  EXPECT_FALSE(service.spec.selector.contains("a"));
  EXPECT_EQ(service.spec.ports.front().name, "extra");
  EXPECT_EQ(service.spec.ports.size(), 5u);
  const model::Pod worker = worker_pod(cluster, cluster.spec.worker_groups[0]);
  EXPECT_EQ(variable(worker.spec.containers[0], "FQ_RAY_IP").value,
            "mine.default.svc.cluster.local");
}

}  // namespace
}  // namespace codeflare::controllers::raycluster
