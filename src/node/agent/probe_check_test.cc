#include "node/agent/probe_check.h"

#include "base/env/sim_env.h"
#include "node/testing/scripted_probes.h"

#include <gtest/gtest.h>

namespace codeflare::node {
namespace {

using std::chrono::seconds;
using Kind = ProbeOutcome::Kind;

struct World {
  SimEnv sim;
  Env env = sim.env();
  testing::ScriptedProbes probes;
  ProbeCheck check{probes, &probes};
  ProbeTarget target{.uid = "u", .address = "10.0.0.5", .container = {}};

  World() {
    target.container.name = "c";
    target.container.ports = {{.name = "web", .container_port = 8080}};
  }
  ProbeOutcome run(model::Probe probe) {
    return *codeflare::run(env.loop, check.run(target, std::move(probe)));
  }
  Result<void> hook(model::LifecycleHandler hook) {
    return *codeflare::run(env.loop, check.run_hook(target, std::move(hook)));
  }
};

model::Probe get(std::string path, model::IntOrString port) {
  model::Probe probe;
  model::HttpGetAction& action = probe.http_get.emplace();
  action.path = std::move(path);
  action.port = std::move(port);
  return probe;
}

model::Probe exec(std::string program) {
  model::Probe probe;
  probe.exec.emplace().command = {std::move(program)};
  return probe;
}

TEST(ProbeCheck, asks_the_pods_own_address_and_resolves_names_of_ports) {
  World w;
  w.probes.statuses["/healthz"] = 200;
  EXPECT_EQ(w.run(get("/healthz", model::IntOrString::of("web"))).kind, Kind::success);
  EXPECT_EQ(w.probes.asked.back(), "GET 10.0.0.5:8080/healthz");
  EXPECT_EQ(w.run(get("healthz", model::IntOrString::of(81))).kind, Kind::success);
  EXPECT_EQ(w.probes.asked.back(), "GET 10.0.0.5:81/healthz");
  EXPECT_EQ(w.run(get("/healthz", model::IntOrString::of("nope"))).kind, Kind::failure);
}

TEST(ProbeCheck, a_host_is_one_that_the_pod_sees) {
  World w;
  w.target.own_network = true;
  w.probes.statuses["/"] = 200;
  w.probes.ports[22] = true;
  model::Probe probe = get("/", model::IntOrString::of(80));
  w.run(probe);
  EXPECT_EQ(w.probes.asked.back(), "GET 10.0.0.5:80/ from all pods'");
  probe.http_get->host = "127.0.0.1";
  w.run(probe);
  EXPECT_EQ(w.probes.asked.back(), "GET 127.0.0.1:80/ from u");
  probe.http_get->host = "localhost";
  w.run(probe);
  EXPECT_EQ(w.probes.asked.back(), "GET 127.0.0.1:80/ from u");
  model::LifecycleHandler hook;
  hook.http_get = probe.http_get;
  hook.http_get->host = "192.168.1.1";
  EXPECT_TRUE(w.hook(hook));
  EXPECT_EQ(w.probes.asked.back(), "GET 192.168.1.1:80/ from u");
  model::Probe port;
  port.tcp_socket.emplace().port = model::IntOrString::of(22);
  port.tcp_socket->host = "127.0.0.1";
  w.run(port);
  EXPECT_EQ(w.probes.asked.back(), "connect 127.0.0.1:22 from u");
  // On the machine's network it sees what the machine sees.
  w.target.own_network = false;
  w.run(port);
  EXPECT_EQ(w.probes.asked.back(), "connect 127.0.0.1:22");
}

TEST(ProbeCheck, statuses_below_400_are_good) {
  World w;
  struct Case {
    int status;
    Kind kind;
    bool warning;
  };
  for (const Case& one : {Case{199, Kind::failure, false},
                          {200, Kind::success, false},
                          {204, Kind::success, false},
                          {302, Kind::success, true},
                          {399, Kind::success, true},
                          {400, Kind::failure, false},
                          {503, Kind::failure, false}}) {
    w.probes.statuses["/"] = one.status;
    const ProbeOutcome outcome = w.run(get("/", model::IntOrString::of(80)));
    EXPECT_EQ(outcome.kind, one.kind) << one.status;
    EXPECT_EQ(outcome.warning, one.warning) << one.status;
  }
  EXPECT_EQ(w.run(get("/", model::IntOrString::of(80))).text,
            "HTTP probe failed with statuscode: 503");
}

TEST(ProbeCheck, what_takes_too_long_has_failed) {
  World w;
  w.probes.statuses["/"] = 200;
  w.probes.delay = seconds(2);
  model::Probe probe = get("/", model::IntOrString::of(80));
  const ProbeOutcome late = w.run(probe);
  EXPECT_EQ(late.kind, Kind::failure);
  EXPECT_TRUE(late.text.starts_with("Get \"http://10.0.0.5:80/\": ")) << late.text;
  probe.timeout_seconds = 3;
  EXPECT_EQ(w.run(probe).kind, Kind::success);
}

TEST(ProbeCheck, sockets_and_grpc_ask_whether_somebody_accepts) {
  World w;
  w.probes.ports[8080] = true;
  model::Probe probe;
  probe.tcp_socket.emplace().port = model::IntOrString::of("web");
  EXPECT_EQ(w.run(probe).kind, Kind::success);
  probe.tcp_socket->port = model::IntOrString::of(9);
  EXPECT_EQ(w.run(probe).kind, Kind::failure);
  model::Probe grpc;
  grpc.grpc.emplace().port = 8080;
  EXPECT_EQ(w.run(grpc).kind, Kind::success);
}

TEST(ProbeCheck, a_program_says_it_with_its_exit_code) {
  World w;
  w.probes.programs["good"] = {};
  w.probes.programs["bad"] = {.exit_code = 1, .output = "not yet"};
  EXPECT_EQ(w.run(exec("good")).kind, Kind::success);
  EXPECT_EQ(w.probes.asked.back(), "exec u/c good");
  const ProbeOutcome bad = w.run(exec("bad"));
  EXPECT_EQ(bad.kind, Kind::failure);
  EXPECT_EQ(bad.text, "not yet");
  EXPECT_EQ(w.run(exec("missing")).kind, Kind::failure);
}

TEST(ProbeCheck, where_programs_cannot_be_run_they_count_as_done_and_people_are_told) {
  World w;
  ProbeCheck without(w.probes, nullptr);
  const ProbeOutcome outcome = *run(w.env.loop, without.run(w.target, exec("any")));
  EXPECT_EQ(outcome.kind, Kind::success);
  EXPECT_TRUE(outcome.warning);
}

TEST(ProbeCheck, hooks_run_programs_requests_and_sleep) {
  World w;
  w.probes.programs["bad"] = {.exit_code = 3};
  w.probes.programs["good"] = {};
  model::LifecycleHandler hook;
  hook.exec.emplace().command = {"good"};
  EXPECT_TRUE(w.hook(hook));
  hook.exec->command = {"bad"};
  EXPECT_FALSE(w.hook(hook));
  model::LifecycleHandler call;
  call.http_get = get("/bye", model::IntOrString::of(80)).http_get;
  EXPECT_FALSE(w.hook(call));
  w.probes.statuses["/bye"] = 500;  // the call came: that is all that is asked
  EXPECT_TRUE(w.hook(call));
  model::LifecycleHandler rest;
  rest.sleep.emplace().seconds = 7;
  const Instant before = w.env.clock.now();
  EXPECT_TRUE(w.hook(rest));
  EXPECT_EQ(w.env.clock.now() - before, Duration(seconds(7)));
}

}  // namespace
}  // namespace codeflare::node
