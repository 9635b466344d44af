#include "up/kubelet_service.h"

#include "base/env/sim_env.h"
#include "net/testing/scripted_service.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace codeflare::up {
namespace {

TEST(KubeletService, reads_the_paths_and_names_of_a_kubelet) {
  const auto exec = parse_kubelet_request(
      "/exec/team/web-0/main?command=sh&command=-c&command=a%20b&input=1&output=1&tty=1");
  ASSERT_TRUE(exec) << exec.error().message;
  EXPECT_EQ(exec->pod, (model::ObjectKey{"team", "web-0"}));
  EXPECT_EQ(exec->info.subresource, "exec");
  const node::CommandRequest command = command_request(exec->info.query);
  EXPECT_EQ(command.container, "main");
  EXPECT_EQ(command.command, (std::vector<std::string>{"sh", "-c", "a b"}));
  EXPECT_TRUE(command.streams.input && command.streams.output && command.streams.terminal);
  EXPECT_FALSE(command.streams.error_output);

  const auto logs = parse_kubelet_request("/containerLogs/team/web-0/main?follow=true&tailLines=3");
  ASSERT_TRUE(logs);
  const auto wanted = log_request(logs->info.query, WallTime());
  ASSERT_TRUE(wanted);
  EXPECT_EQ(wanted->container, "main");
  EXPECT_TRUE(wanted->follow);
  EXPECT_EQ(wanted->tail_lines, 3);

  const auto ports = parse_kubelet_request("/portForward/team/web-0?port=8080");
  ASSERT_TRUE(ports);
  EXPECT_EQ(ports->info.query.get("ports"), "8080");
  for (const char* other : {"/", "", "/exec/team/web-0", "/pods", "/run/team/web-0/main",
                            "/portForward/team/web-0/main", "/containerLogs/team/web-0/main/x"}) {
    EXPECT_FALSE(parse_kubelet_request(other)) << other;
  }
}

struct World {
  SimEnv sim;
  std::vector<std::string> asked;
  bool allowed = true;
  net::testing::ScriptedService server{
      [this](net::Request request) { return answer(std::move(request)); }};
  kube::Client client{sim.env(), server, {.attempts_max = 1}};
  PodConnect pods;
  KubeletService service{client, pods, "worker-1"};

  Task<Result<net::Response>> answer(net::Request request) {
    asked.push_back(request.method + " " + request.target);
    const std::string body =
        request.method == "POST"
            ? R"({"status":{"allowed":)" + std::string(allowed ? "true" : "false") + "}}"
            : R"({"kind":"Pod","metadata":{"name":"a","namespace":"team"},)"
              R"("spec":{"nodeName":"elsewhere","containers":[]}})";
    co_return net::make_response(200, "application/json", Bytes::from(body));
  }
  int status(net::Peer peer) {
    net::Request request{.target = "/containerLogs/team/a/main",
                         .peer = std::make_shared<net::Peer>(std::move(peer))};
    return (*run(sim.env().loop, service.send(std::move(request))))->status;
  }
};

TEST(KubeletService,
     serves_only_certificates_of_its_authority_with_the_right_of_a_kubelets_client) {
  World w;
  EXPECT_EQ(w.status({.address = "x"}), 401);
  EXPECT_EQ(w.status({.address = "x", .foreign_certificate = true}), 401);
  EXPECT_TRUE(w.asked.empty());
  const net::Peer known{.address = "x",
                        .certificate = net::Peer::Certificate{
                            .common_name = "apiserver", .organizations = {"ops"}, .sha256 = ""}};
  w.allowed = false;
  EXPECT_EQ(w.status(known), 403);
  ASSERT_EQ(w.asked.size(), 1u);
  EXPECT_EQ(w.asked[0], "POST /apis/authorization.k8s.io/v1/subjectaccessreviews");
  w.allowed = true;
  EXPECT_EQ(w.status(known), 404);  // the pod is on another node
}

}  // namespace
}  // namespace codeflare::up
