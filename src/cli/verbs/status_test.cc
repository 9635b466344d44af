#include "cli/verbs/status.h"

#include "cli/gather/cluster_counts.h"
#include "cli/testing/up_world.h"
#include "cli/testing/verb_world.h"
#include "cli/verbs/create.h"
#include "cli/views/up_status_view.h"
#include "json/parse.h"

#include <gtest/gtest.h>

namespace codeflare::cli {
namespace {

using up::UpState;

UpState running_state() {
  UpState state = testing::UpWorld().state();
  state.process = {77, 4242};
  state.context = {.file = "/home/me/.kube/config", .name = "codeflare"};
  state.log = "/data/up.log";
  return state;
}

TEST(UpStatus, tells_what_runs_since_when_with_nodes_pods_and_queue) {
  const ClusterCounts counts{
      .nodes = {{.name = "codeflare-0",
                 .ready = true,
                 .cpus = "8",
                 .memory = "16Gi",
                 .gpus = "0",
                 .pods = 2},
                {.name = "codeflare-1", .cpus = "8", .memory = "16Gi", .gpus = "0"}},
      .pods = {{"Running", 2}, {"Succeeded", 1}},
      .waiting = 1,
      .running = 2,
      .paused = true};
  const UpState state = running_state();
  EXPECT_EQ(render_up_status(state, "/data", counts, state.since + std::chrono::minutes(5)),
            "codeflare 1.2 runs in /data\n"
            "since:      2023-11-14T22:13:21Z (5m), process 77\n"
            "server:     https://127.0.0.1:6443\n"
            "kubeconfig: /data/admin.kubeconfig\n"
            "context:    codeflare in /home/me/.kube/config\n"
            "log:        /data/up.log\n"
            "nodes:      1 of 2 ready\n"
            "  NAME          READY   CPUS   MEMORY   GPUS   PODS\n"
            "  codeflare-0   yes     8      16Gi     0      2\n"
            "  codeflare-1   no      8      16Gi     0      0\n"
            "pods:       2 running, 1 succeeded\n"
            "queue:      1 waiting, 2 running, paused\n");
}

TEST(UpStatus, asks_the_cluster) {
  testing::VerbWorld world;
  world.write("all.yaml", testing::app_wrapper_crd() +
                              "---\n"
                              "apiVersion: workload.codeflare.dev/v1beta1\n"
                              "kind: AppWrapper\n"
                              "metadata: {name: train}\n"
                              "spec:\n"
                              "  resources: {GenericItems: []}\n"
                              "---\n"
                              "apiVersion: v1\n"
                              "kind: Node\n"
                              "metadata: {name: one}\n"
                              "---\n"
                              "apiVersion: v1\n"
                              "kind: Pod\n"
                              "metadata: {name: p}\n"
                              "spec:\n"
                              "  nodeName: one\n"
                              "  containers: [{name: c, image: x}]\n");
  ASSERT_EQ(world.verb([](Session& s) { return run_create(s, {.files = {"all.yaml"}}); }), kDone)
      << world.console.err_text;
  ASSERT_EQ(world.verb([](Session& s) { return run_up_status(s, running_state(), "/data"); },
                       {.output = "json"}),
            kDone)
      << world.console.err_text;
  const Result<json::Document> document = json::parse(world.console.out_text);
  ASSERT_TRUE(document) << world.console.out_text;
  const json::Value& root = document->root;
  EXPECT_TRUE(root.find("running")->as_bool());
  EXPECT_EQ(root.find("pid")->to_int64(), 77);
  EXPECT_EQ(root.find("nodes")->items()[0].string_or_empty("name"), "one");
  EXPECT_EQ(root.find("nodes")->items()[0].find("pods")->to_int64(), 1);
  EXPECT_EQ(root.get({"pods", "Pending"})->to_int64(), 1);
  EXPECT_EQ(root.get({"queue", "waiting"})->to_int64(), 1);
  EXPECT_EQ(root.string_or_empty("context"), "codeflare");
}

}  // namespace
}  // namespace codeflare::cli
