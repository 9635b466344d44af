#include "controllers/platform/image_controller.h"

#include "controllers/crds/ensure_crds.h"
#include "controllers/testing/embedded_cluster.h"
#include "model/codec/node.h"
#include "model/codec/platform.h"
#include "model/codec/pod.h"
#include "model/node.h"
#include "model/pod.h"
#include "runtime/testing/idempotence.h"

#include <gtest/gtest.h>

namespace codeflare::controllers::platform_kinds {
namespace {

TEST(ImageController, fetches_on_each_node_and_counts_those_that_have_it) {
  controllers::testing::EmbeddedCluster cluster;
  ASSERT_TRUE(*codeflare::run(cluster.env.loop, ensure_crds(cluster.client, {})));
  ImageReconciler& reconciler = add_image_controller(cluster.manager);
  cluster.start();
  for (const char* name : {"a", "b"}) {
    cluster.create<model::Node>(std::string(R"({"apiVersion":"v1","kind":"Node","metadata":{)") +
                                R"("name":")" + name + R"("}})");
    cluster.patch<model::Node>(
        name, R"({"status":{"conditions":[{"type":"Ready","status":"True"}]}})", "status");
  }
  cluster.create<model::Image>(
      R"({"apiVersion":"codeflare.dev/v1alpha1","kind":"Image","metadata":{"name":"i"},)"
      R"("spec":{"image":"ray:1"}})");
  cluster.settle();
  EXPECT_EQ(cluster.read<model::Image>("i").status.ready, "0/2");
  for (const char* ready : {"1/2", "2/2"}) {
    const auto pods = cluster.list<model::Pod>();
    ASSERT_FALSE(pods.empty());
    cluster.patch<model::Pod>(pods[0].metadata.name, R"({"status":{"phase":"Succeeded"}})",
                              "status");
    cluster.settle(std::chrono::seconds(3));
    EXPECT_EQ(cluster.read<model::Image>("i").status.ready, ready);
    EXPECT_TRUE(runtime::testing::is_idempotent(cluster.env, reconciler, {"default", "i"}));
  }
}

}  // namespace
}  // namespace codeflare::controllers::platform_kinds
