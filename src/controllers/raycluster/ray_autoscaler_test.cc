#include "controllers/raycluster/ray_autoscaler.h"

#include "controllers/raycluster/ray_pod.h"
#include "controllers/raycluster/testing/sample.h"

#include <gtest/gtest.h>

namespace codeflare::controllers::raycluster {
namespace {

using testing::sample_cluster;

constexpr const char* kOn = R"("enableInTreeAutoscaling":true,)";

TEST(RayAutoscaler, runs_beside_the_head_with_an_account_and_shared_logs) {
  const model::Pod head = head_pod(sample_cluster(1, kOn));
  ASSERT_EQ(head.spec.containers.size(), 2u);
  const model::Container& ray = head.spec.containers[0];
  const model::Container& scaler = head.spec.containers[1];
  EXPECT_EQ(scaler.name, "autoscaler");
  EXPECT_EQ(scaler.image, "ray:2.5.0");
  EXPECT_TRUE(scaler.args.at(0).starts_with("ray kuberay-autoscaler --cluster-name "));
  EXPECT_EQ(scaler.resources.requests.get("cpu"), model::Quantity::milli(500));
  EXPECT_EQ(head.spec.service_account_name, "demo");
  EXPECT_TRUE(ray.args.at(0).contains("--no-monitor"));
  EXPECT_EQ(ray.volume_mounts.back().mount_path, "/tmp/ray");
  EXPECT_EQ(scaler.volume_mounts.back().name, ray.volume_mounts.back().name);
  EXPECT_TRUE(head.spec.restart_policy.empty());
  EXPECT_EQ(head_pod(sample_cluster(1)).spec.containers.size(), 1u);
}

TEST(RayAutoscaler, takes_its_options) {
  const model::RayCluster cluster = sample_cluster(
      1, std::string(kOn) +
             R"("autoscalerOptions":{"version":"v2","image":"other","imagePullPolicy":"Always",)"
             R"("resources":{"limits":{"cpu":"1"}},"env":[{"name":"A","value":"b"}],)"
             R"("envFrom":[{"secretRef":{"name":"s"}}],)"
             R"("volumeMounts":[{"name":"v","mountPath":"/v"}],)"
             R"("securityContext":{"runAsUser":7}},)");
  const model::Pod head = head_pod(cluster);
  const model::Container& scaler = head.spec.containers.at(1);
  EXPECT_EQ(scaler.image, "other");
  EXPECT_EQ(scaler.image_pull_policy, "Always");
  EXPECT_EQ(scaler.resources.limits.get("cpu"), model::Quantity(1));
  EXPECT_EQ(scaler.env.back().name, "A");
  EXPECT_EQ(scaler.env_from.size(), 1u);
  EXPECT_EQ(scaler.volume_mounts.at(0).mount_path, "/v");
  EXPECT_EQ(scaler.security_context.text, R"({"runAsUser":7})");
  EXPECT_EQ(head.spec.restart_policy, "Never");
  EXPECT_EQ(head.spec.containers[0].env.back().name, "RAY_enable_autoscaler_v2");
  EXPECT_EQ(worker_pod(cluster, cluster.spec.worker_groups[0]).spec.restart_policy, "Never");
}

TEST(RayAutoscaler, its_account_may_scale_its_cluster) {
  model::RayCluster cluster = sample_cluster(1, kOn);
  const std::vector<AutoscalerObject> objects = autoscaler_objects(cluster);
  ASSERT_EQ(objects.size(), 3u);
  EXPECT_EQ(objects[0].type.kind, "ServiceAccount");
  EXPECT_EQ(objects[1].type.kind, "Role");
  EXPECT_TRUE(objects[1].body.contains(
      R"({"apiGroups":["ray.io"],"resources":["rayclusters"],"verbs":["get","patch"]})"));
  EXPECT_TRUE(objects[2].body.contains(
      R"("roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"demo"})"));
  cluster.spec.head_group.pod_template.spec.service_account_name = "mine";
  const std::vector<AutoscalerObject> own = autoscaler_objects(cluster);
  ASSERT_EQ(own.size(), 2u);
  EXPECT_TRUE(own[1].body.contains(R"("kind":"ServiceAccount","name":"mine")"));
  EXPECT_EQ(head_pod(cluster).spec.service_account_name, "mine");
}

TEST(RayAutoscaler, clips_long_names_as_kuberay_does) {
  model::RayCluster cluster = sample_cluster(1, kOn);
  cluster.metadata.name = "a12" + std::string(50, 'x');
  EXPECT_TRUE(autoscaler_objects(cluster)[0].body.contains("\"" + std::string(50, 'x') + "\""));
  // An account of one's own is named by its name.
  const std::string own(60, 'a');
  cluster.spec.head_group.pod_template.spec.service_account_name = own;
  EXPECT_EQ(head_pod(cluster).spec.service_account_name, own);
}

}  // namespace
}  // namespace codeflare::controllers::raycluster
