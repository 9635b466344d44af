#include "sdk/ddp_gang.h"

#include "json/write.h"

#include <gtest/gtest.h>

namespace codeflare::sdk {
namespace {

DdpDefinition definition() {
  return {.script = "train.py",
          .m = {},
          .script_args = {"--lr", "0.1"},
          .name = "mnist",
          .cpu = model::Quantity(2),
          .gpu = 1,
          .mem_mb = 2000,
          .replicas = 2,
          .processes = 4,
          .max_retries = 3,
          .mounts = {"type=volume", "src=claim", "dst=/data", "readonly",
                     "type=bind,src=/mnt,dst=/host"},
          .image = "torch:2"};
}

TEST(DdpGang, is_a_pod_per_replica_with_torchrun) {
  const Result<GangSubmission> made = ddp_gang(definition(), {.ns = "team"});
  ASSERT_TRUE(made.has_value()) << made.error().message;
  const GangJob& gang = made->gang;
  EXPECT_TRUE(gang.torchrun);
  EXPECT_EQ(gang.pods, 2);
  EXPECT_EQ(gang.processes_per_pod, 4);
  EXPECT_EQ(gang.backoff_limit, 6);
  EXPECT_EQ(gang.restarts, 3);
  EXPECT_EQ(gang.argv, (std::vector<std::string>{"train.py", "--lr", "0.1"}));
  EXPECT_EQ(gang.resources,
            (model::StringMap{{"cpu", "2"}, {"memory", "2000M"}, {"nvidia.com/gpu", "1"}}));
  EXPECT_EQ(gang.volumes.text,
            R"([{"name":"mount-0","persistentVolumeClaim":{"claimName":"claim","readOnly":true}},)"
            R"({"name":"mount-1","hostPath":{"path":"/mnt"}}])");
  EXPECT_EQ(made->command, "torchrun train.py --lr 0.1");
}

TEST(DdpGang, takes_a_module_and_usual_sizes) {
  const Result<GangSubmission> made =
      ddp_gang({.script = {}, .m = "pkg.train", .name = "a"}, {.ns = "team", .image = "i"});
  ASSERT_TRUE(made.has_value()) << made.error().message;
  EXPECT_EQ(made->gang.argv, (std::vector<std::string>{"-m", "pkg.train"}));
  EXPECT_EQ(made->gang.resources, (model::StringMap{{"cpu", "1"}}));
  EXPECT_EQ(made->gang.pods, 1);
}

TEST(DdpGang, names_what_kubernetes_does_not_have) {
  const auto fault = [](auto change) {
    DdpDefinition wrong = definition();
    change(wrong);
    const Result<GangSubmission> made = ddp_gang(wrong, {.ns = "team"});
    return made ? std::string("none") : made.error().message;
  };
  EXPECT_TRUE(fault([](auto& d) { d.rdzv_backend = "etcd"; }).contains("'etcd' is not available"));
  EXPECT_TRUE(fault([](auto& d) { d.mounts = {"src=x"}; }).contains("before a type"));
  EXPECT_TRUE(fault([](auto& d) { d.mounts = {"type=device,src=/dev/x"}; }).contains("'device'"));
  EXPECT_TRUE(fault([](auto& d) { d.mounts = {"type=bind,src=/x,dst=y"}; }).contains("absolute"));
  EXPECT_TRUE(fault([](auto& d) { d.scheduler_args = {{"queue", "x"}}; }).contains("queue is not"));
  EXPECT_TRUE(fault([](auto& d) { d.image = ""; }).contains("the image is missing"));
}

}  // namespace
}  // namespace codeflare::sdk
