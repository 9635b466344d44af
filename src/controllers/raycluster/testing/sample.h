#pragma once

#include "json/parse.h"
#include "model/codec/ray_cluster.h"
#include "model/ray_cluster.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace codeflare::controllers::raycluster::testing {

// One head of 1 CPU and 2G with three named ports, one group of 2-CPU workers.
inline std::string sample(int replicas = 1, std::string more = "", std::string version = "v1") {
  return R"({"apiVersion":"ray.io/)" + version +
         R"(","kind":"RayCluster","metadata":{"name":"demo","namespace":"default"},
    "spec":{)" +
         more + R"("rayVersion":"2.5.0",
      "headGroupSpec":{"serviceType":"ClusterIP","rayStartParams":{"dashboard-host":"0.0.0.0"},
        "template":{"metadata":{"labels":{"team":"a"}},"spec":{"containers":[{"name":"ray-head",
          "image":"ray:2.5.0",
          "ports":[{"containerPort":6379,"name":"gcs"},{"containerPort":8265,"name":"dashboard"},
                   {"containerPort":10001,"name":"client"}],
          "resources":{"limits":{"cpu":"1","memory":"2G"},"requests":{"cpu":"1","memory":"2G"}}}]}}},
      "workerGroupSpecs":[{"replicas":)" +
         std::to_string(replicas) +
         R"(,"minReplicas":0,"maxReplicas":5,"groupName":"small-group","rayStartParams":{},
        "template":{"spec":{"containers":[{"name":"ray-worker","image":"ray:2.5.0",
          "resources":{"limits":{"cpu":"2","memory":"2G","nvidia.com/gpu":"1"},
                       "requests":{"cpu":"2","memory":"2G","nvidia.com/gpu":"1"}}}]}}}]}})";
}

inline model::RayCluster sample_cluster(int replicas = 1, std::string more = "") {
  const auto document = json::parse(sample(replicas, std::move(more)));
  EXPECT_TRUE(document) << document.error().to_string();
  auto cluster = model::from_json<model::RayCluster>(document->root);
  EXPECT_TRUE(cluster) << cluster.error().to_string();
  cluster->metadata.uid = "cluster-uid";
  cluster->metadata.generation = 1;
  return *std::move(cluster);
}

}  // namespace codeflare::controllers::raycluster::testing
