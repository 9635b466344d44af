#include "sdk/ddp_job.h"

#include "json/parse.h"
#include "model/ray_cluster.h"

#include <gtest/gtest.h>

namespace codeflare::sdk {
namespace {

Result<DdpDefinition> read(std::string_view text) {
  const Result<json::Document> document = json::parse(text);
  return read_ddp(document.value().root);
}

// A Ray cluster of two workers with 2 CPUs and 1 GPU each.
ClusterInfo a_cluster() {
  model::RayCluster ray;
  ray.metadata.name = "demo";
  model::RayWorkerGroup group;
  group.group_name = "small";
  group.replicas = 2;
  model::Container container;
  container.resources.limits.set("cpu", model::Quantity(2));
  container.resources.limits.set("nvidia.com/gpu", model::Quantity(1));
  group.pod_template.spec.containers.push_back(std::move(container));
  ray.spec.worker_groups.push_back(std::move(group));
  return cluster_info({.wrapper = {}, .ray = std::move(ray), .pods = {}});
}

TEST(DdpJob, takes_its_sizes_from_the_workers_of_the_cluster) {
  const auto definition = read(R"({"script":"code/train.py","script_args":["--lr","0.1 x"]})");
  ASSERT_TRUE(definition) << definition.error().message;
  EXPECT_EQ(ddp_name(*definition), "train");
  const auto spec = ddp_on_ray(*definition, a_cluster());
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_EQ(spec->command,
            "python -c 'import os; exec(os.environ['\\''CODEFLARE_DDP_DRIVER'\\''])' --replicas 2 "
            "--processes 1 --cpus 2 --gpus 1 --retries 0 -- code/train.py --lr '0.1 x'");
  EXPECT_EQ(spec->env.at("CODEFLARE_DDP_DRIVER"), ddp_driver());
  EXPECT_EQ(spec->working_dir, "");
}

TEST(DdpJob, keeps_sizes_that_were_given) {
  const auto definition =
      read(R"({"m":"pkg.train","cpu":"500m","gpu":0,"memMB":64,"j":"3x2","max_retries":1,)"
           R"("rdzv_port":29500,"workspace":"file:///w","env":{"A":"b"},)"
           R"("scheduler_args":{"requirements":"r.txt","namespace":"x"},"image":null})");
  ASSERT_TRUE(definition) << definition.error().message;
  EXPECT_EQ(ddp_name(*definition), "train");
  const auto spec = ddp_on_ray(*definition, a_cluster());
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_TRUE(
      spec->command.ends_with("--replicas 3 --processes 2 --cpus 0.5 --gpus 0 --memory-mb 64 "
                              "--port 29500 --retries 1 -- -m pkg.train"))
      << spec->command;
  EXPECT_EQ(spec->working_dir, "/w");
  EXPECT_EQ(spec->runtime_env, R"({"pip":"r.txt"})");
  EXPECT_EQ(spec->env.at("A"), "b");
}

TEST(DdpJob, names_every_fault_of_a_definition) {
  EXPECT_EQ(read("{}").error().message,
            "Exactly one of the following arguments must be defined: [script, m].");
  const Error error =
      read(R"({"script":"a","m":"b","j":"1:2x4","h":"big","cpu":-1,"gpu":"some","scrip":1,)"
           R"("max_retries":-1,"rdzv_port":70000})")
          .error();
  EXPECT_EQ(error.code, ErrorCode::invalid_argument);
  for (const char* text :
       {"8 problems", "j: \"1:2x4\" asks for a varying number", "h: \"big\"", "cpu: -1 is negative",
        "gpu: \"some\" is not a whole number", "did you mean script?",
        "max_retries: -1 is too small", "rdzv_port: 70000", "Exactly one"}) {
    EXPECT_TRUE(error.message.contains(text)) << text << " is missing in " << error.message;
  }
  EXPECT_FALSE(read(R"({"script":"a","j":"0x1"})"));
  EXPECT_FALSE(read(R"({"script":"a","j":"2x"})"));
  EXPECT_EQ(read(R"({"script":"a","j":"2"})")->processes, 1);
}

TEST(DdpJob, rejects_what_running_pods_cannot_have) {
  EXPECT_TRUE(ddp_on_ray(*read(R"({"script":"a","mounts":["type=bind"]})"), a_cluster())
                  .error()
                  .message.starts_with("mounts: the pods of Ray cluster 'demo' run already"));
  EXPECT_FALSE(ddp_on_ray(*read(R"({"script":"a","rdzv_backend":"c10d"})"), a_cluster()));
  EXPECT_FALSE(ddp_on_ray(*read(R"({"script":"a","scheduler_args":{"queue":"q"}})"), a_cluster()));
}

TEST(DdpJob, the_driver_survives_the_expansion_of_variables) {
  EXPECT_FALSE(ddp_driver().contains('$'));
  EXPECT_TRUE(ddp_driver().starts_with("\"\"\"Runs a Python program"));
}

}  // namespace
}  // namespace codeflare::sdk
