#include "controllers/apps/workload_pods.h"

#include "controllers/apps/apps_world.h"
#include "controllers/apps/replica_set_controller.h"
#include "model/codec/job.h"

#include <memory>

namespace codeflare::controllers::apps {
namespace {

TEST(WorkloadPods, knows_those_of_workloads_and_of_nobody_but_not_those_of_others) {
  testing::EmbeddedCluster cluster;
  auto pods = std::make_shared<const WorkloadPods>(
      cluster.manager.cache().informer(model::resource_type<model::Pod>()));
  add_replica_set_controller(cluster.manager, pods);
  cluster.start();
  cluster.create<model::ReplicaSet>(workload("ReplicaSet", R"("replicas":2,)"));
  cluster.create<model::Pod>(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"lonely"},)"
                             R"("spec":{"containers":[{"name":"c","image":"x"}]}})");
  const kube::ObjectRef job = cluster.create<model::Job>(
      R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"job"},"spec":{"template":{)"
      R"("spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"x"}]}}}})");
  cluster.settle();
  const std::string set = cluster.read<model::ReplicaSet>("web").metadata.uid;
  EXPECT_EQ(pods->of(set).size(), 2u);
  ASSERT_EQ(pods->orphans("default").size(), 1u);
  EXPECT_EQ(pods->orphans("default")[0].name, "lonely");

  const std::string owner = R"({"apiVersion":"batch/v1","kind":"Job","name":"job","uid":")" +
                            std::string(job->uid()) + R"(")";
  cluster.patch<model::Pod>("lonely", R"({"metadata":{"ownerReferences":[)" + owner + "}]}}");
  cluster.settle();
  EXPECT_EQ(pods->orphans("default").size(), 1u) << "an owner that does not control it";
  cluster.patch<model::Pod>(
      "lonely", R"({"metadata":{"ownerReferences":[)" + owner + R"(,"controller":true}]}})");
  cluster.settle();
  EXPECT_TRUE(pods->orphans("default").empty());
  EXPECT_TRUE(pods->of(job->uid()).empty());
  EXPECT_EQ(pods->of(set).size(), 2u);
}

}  // namespace
}  // namespace codeflare::controllers::apps
