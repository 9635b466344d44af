#include "base/async/sleep.h"
#include "base/env/sim_env.h"
#include "cli/testing/captured_console.h"
#include "cli/verbs/end_job.h"
#include "cli/verbs/follow_job.h"
#include "cli/verbs/show_job.h"
#include "cli/verbs/submit_job.h"
#include "json/parse.h"
#include "sdk/testing/ray_proxy.h"

#include <gtest/gtest.h>

#include <functional>

namespace codeflare::cli {
namespace {

using namespace std::chrono_literals;
using ray::testing::FakeDashboard;

// Ray clusters behind an API server, and verbs for their jobs in virtual time.
struct World {
  // Stops the verb after `interrupt` as Ctrl-C does; zero: never.
  int verb(const std::function<Task<int>(Session&)>& verb, const SessionFlags& flags = {},
           Duration interrupt = {}) {
    console.out_text.clear();
    console.err_text.clear();
    auto session = Session::over(sim.env(), console, proxy, "team", flags);
    EXPECT_TRUE(session);
    StopSource stop;
    if (interrupt > Duration()) {
      sim.env().loop.start_timer(after(sim.env().loop.now(), interrupt),
                                 [&] { stop.request_stop(); });
    }
    return run(sim.env().loop, verb(**session), stop.token()).value_or(-1);
  }
  int submit(std::vector<std::string> command, SubmitJobFlags how = {}, SessionFlags flags = {},
             Duration interrupt = {}) {
    how.name = how.name.empty() ? "a" : how.name;
    how.command = std::move(command);
    return verb([&](Session& s) { return run_submit_job(s, how); }, flags, interrupt);
  }
  int status(const std::string& name, SessionFlags flags = {}) {
    return verb([&](Session& s) { return run_status_job(s, {.name = name}); }, flags);
  }
  int list(ListJobFlags how = {}, SessionFlags flags = {}) {
    return verb([&](Session& s) { return run_list_job(s, how); }, flags);
  }
  template <typename Flags>
  int named(Task<int> (*run)(Session&, Flags), Flags how = {}, Duration interrupt = {}) {
    how.name = "a";
    return verb([&](Session& s) { return run(s, how); }, {}, interrupt);
  }

  SimEnv sim;
  sdk::testing::RayProxy proxy{sim.env()};
  testing::CapturedConsole console;
};

struct DemoWorld : World {
  explicit DemoWorld(FakeDashboard::Options options = {}) {
    proxy.add_cluster("demo", true, std::move(options));
  }
  FakeDashboard& dashboard() { return *proxy.dashboards.at("demo"); }
};

TEST(SubmitJob, goes_to_the_only_cluster_and_says_what_is_next) {
  DemoWorld w;
  ASSERT_EQ(w.submit({"python", "main.py", "a b"}), kDone) << w.console.err_text;
  EXPECT_EQ(w.console.out_text,
            "job/a submitted to Ray cluster 'demo' in namespace 'team'\n"
            "Next: codeflare logs job a -c demo -f, codeflare status job a -c demo, codeflare "
            "cancel job a -c demo\n");
  EXPECT_EQ(w.dashboard().jobs.at("a").entrypoint, "python main.py 'a b'");
  EXPECT_EQ(w.submit({"ls"}), kExists);
  SubmitJobFlags other;
  other.name = "b";
  EXPECT_EQ(w.submit({"ls"}, other, {.output = "name"}), kDone);
  EXPECT_EQ(w.console.out_text, "job/b\n");
  other.name = "c";
  EXPECT_EQ(w.submit({"ls"}, other, {.output = "json"}), kDone);
  EXPECT_EQ(json::parse(w.console.out_text)->root.string_or_empty("status"), "Running");
}

TEST(SubmitJob, follows_the_log_to_the_end) {
  DemoWorld w({.lines = 3});
  SubmitJobFlags how;
  how.follow = true;
  ASSERT_EQ(w.submit({"x"}, how), kDone) << w.console.err_text;
  EXPECT_EQ(w.console.out_text,
            "job/a submitted to Ray cluster 'demo' in namespace 'team'\nline 1 of x\nline 2 of x\n"
            "line 3 of x\n");
  EXPECT_EQ(w.console.err_text, "job/a Succeeded\n");
}

TEST(SubmitJob, that_fails_is_exit_code_1_after_the_wait) {
  DemoWorld w({.final_status = "FAILED"});
  SubmitJobFlags how;
  how.wait = true;
  EXPECT_EQ(w.submit({"x"}, how), kFailed);
  EXPECT_TRUE(w.console.out_text.ends_with("job/a Failed\n")) << w.console.out_text;
  EXPECT_TRUE(w.console.err_text.contains(" job/a: Running (0s)\n")) << w.console.err_text;
  LogsJobFlags logs;
  logs.follow = true;
  EXPECT_EQ(w.named(run_logs_job, logs), kFailed);
}

TEST(SubmitJob, an_interruption_detaches) {
  DemoWorld w({.lines = 1000});
  SubmitJobFlags how;
  how.follow = true;
  EXPECT_EQ(w.submit({"x"}, how, {.ns = "team"}, 10s), kInterrupted);
  EXPECT_EQ(w.console.err_text,
            "detached; the job continues. To attach again: codeflare logs job a -f -c demo -n "
            "team\n");
  EXPECT_EQ(w.named(run_wait_job, {}, 10s), kInterrupted);
  EXPECT_TRUE(w.console.err_text.ends_with(
      "detached; the job continues. To attach again: codeflare wait job a -c demo\n"));
  EXPECT_EQ(w.status("a"), kDone);
  EXPECT_TRUE(w.console.out_text.contains("Status:      Running\n")) << w.console.out_text;
}

TEST(SubmitJob, passes_its_options_on) {
  DemoWorld w;
  SubmitJobFlags how;
  how.env = {"A=1=2"};
  how.memory = "1Ki";
  how.resources = R"({"tpu": 0.5})";
  how.num_gpus = 2;
  how.runtime_env_json = R"({"pip":["emoji"]})";
  ASSERT_EQ(w.submit({"x"}, how), kDone) << w.console.err_text;
  const json::Document body = json::parse(w.dashboard().jobs.at("a").body).value();
  EXPECT_EQ(body.root.get({"runtime_env", "env_vars"})->string_or_empty("A"), "1=2");
  EXPECT_EQ(body.root.find("entrypoint_memory")->number(), "1024");
  EXPECT_NE(body.root.get({"entrypoint_resources", "tpu"}), nullptr);
  EXPECT_NE(body.root.find("entrypoint_num_gpus"), nullptr);

  ASSERT_TRUE(w.sim.env().files.write("/env.yaml", "pip: [emoji, x]\n"));
  SubmitJobFlags file;
  file.name = "b";
  file.runtime_env_file = "/env.yaml";
  ASSERT_EQ(w.submit({"x"}, file), kDone) << w.console.err_text;
  const json::Document other = json::parse(w.dashboard().jobs.at("b").body).value();
  EXPECT_EQ(other.root.get({"runtime_env", "pip"})->size(), 2u);
}

TEST(SubmitJob, names_what_is_wrong) {
  DemoWorld w;
  SubmitJobFlags env, memory, resources, number, file, json, name;
  env.env = {"novalue"};
  memory.memory = "lots";
  resources.resources = "[]";
  number.resources = R"({"a":"b"})";
  file.runtime_env_file = "/missing.yaml";
  json.runtime_env_json = "{";
  name.name = "a/b";
  for (const auto& [how, text] : std::vector<std::pair<SubmitJobFlags, std::string>>{
           {env, "--env: novalue is not KEY=VALUE"},
           {memory, "--entrypoint-memory: lots is not an amount"},
           {resources, "--entrypoint-resources: [] is not a JSON object"},
           {number, "--entrypoint-resources: "},
           {file, "/missing.yaml"},
           {json, "runtime_env: "},
           {name, "job name 'a/b'"}}) {
    EXPECT_EQ(w.submit({"x"}, how), kUsage) << text;
    EXPECT_TRUE(w.console.err_text.contains(text)) << w.console.err_text;
  }
  EXPECT_EQ(w.submit({}), kUsage);
  EXPECT_TRUE(w.console.err_text.contains("COMMAND is missing")) << w.console.err_text;
  const int nameless = w.verb([](Session& s) { return run_submit_job(s, {}); });
  EXPECT_EQ(nameless, kUsage);
  EXPECT_TRUE(w.console.err_text.contains("NAME is missing")) << w.console.err_text;
  EXPECT_EQ(w.dashboard().accepted, 0);
}

TEST(SubmitJob, the_cluster_must_be_clear) {
  World w;
  EXPECT_EQ(w.submit({"x"}), kNotFound);
  EXPECT_EQ(w.console.err_text,
            "error: no Ray cluster in namespace 'team'; create one first: codeflare create "
            "raycluster NAME --wait\n");
  w.proxy.add_cluster("one");
  w.proxy.add_cluster("two");
  EXPECT_EQ(w.submit({"x"}), kUsage);
  EXPECT_TRUE(w.console.err_text.contains("2 Ray clusters (one, two)")) << w.console.err_text;
  SubmitJobFlags how;
  how.cluster = "two";
  EXPECT_EQ(w.submit({"x"}, how), kDone);
  how.cluster = "three";
  EXPECT_EQ(w.submit({"x"}, how), kNotFound);
  w.proxy.forbidden = true;
  how.cluster = "one";
  EXPECT_EQ(w.submit({"x"}, how), kNotAllowed);
  EXPECT_TRUE(w.console.err_text.contains("services/proxy")) << w.console.err_text;
}

TEST(ListJob, shows_the_jobs_of_every_cluster_and_notes_silent_ones) {
  World w;
  EXPECT_EQ(w.list(), kDone);
  EXPECT_EQ(w.console.err_text, "no jobs found in namespace team\n");
  w.proxy.add_cluster("one");
  w.proxy.add_cluster("two", true, {.refusals = 1'000'000});
  SubmitJobFlags how;
  how.cluster = "one";
  ASSERT_EQ(w.submit({"x"}, how), kDone) << w.console.err_text;
  EXPECT_EQ(w.list(), kDone);
  EXPECT_TRUE(w.console.out_text.starts_with("NAME   NAMESPACE   BACKEND   CLUSTER   STATUS "))
      << w.console.out_text;
  EXPECT_TRUE(w.console.out_text.contains("\na      team        ray       one       Running "))
      << w.console.out_text;
  EXPECT_TRUE(
      w.console.err_text.starts_with("note: cannot reach the dashboard of Ray cluster "
                                     "'two'"))
      << w.console.err_text;
  EXPECT_EQ(w.list({}, {.output = "name"}), kDone);
  EXPECT_EQ(w.console.out_text, "job/a\n");
  ListJobFlags one;
  one.cluster = "one";
  EXPECT_EQ(w.list(one, {.output = "json"}), kDone);
  EXPECT_EQ(json::parse(w.console.out_text)->root.size(), 1u);
  one.all_namespaces = true;
  EXPECT_EQ(w.list(one), kUsage);
  ListJobFlags all;
  all.all_namespaces = true;
  EXPECT_EQ(w.list(all), kDone);
}

TEST(Jobs, are_shown_stopped_and_deleted) {
  DemoWorld w;
  EXPECT_EQ(w.status("a"), kNotFound);
  ASSERT_EQ(w.submit({"x"}), kDone);
  EXPECT_EQ(w.status("a", {.output = "json"}), kDone);
  EXPECT_EQ(json::parse(w.console.out_text)->root.string_or_empty("command"), "x");
  EXPECT_EQ(w.named(run_cancel_job), kDone);
  EXPECT_EQ(w.console.out_text, "job/a Stopped\n");
  EXPECT_EQ(w.named(run_cancel_job), kDone);
  EXPECT_EQ(w.console.out_text, "job/a has already ended: Stopped\n");
  EXPECT_EQ(w.named(run_wait_job), kFailed);
  EXPECT_EQ(w.console.out_text, "job/a Stopped\n");
  EXPECT_EQ(w.named(run_logs_job), kDone);
  EXPECT_EQ(w.named(run_delete_job), kDone);
  EXPECT_EQ(w.console.out_text, "job/a deleted\n");
  EXPECT_EQ(w.named(run_delete_job), kNotFound);
  DeleteJobFlags any;
  any.ignore_not_found = true;
  EXPECT_EQ(w.named(run_delete_job, any), kDone);
  EXPECT_EQ(w.named(run_logs_job), kNotFound);
  EXPECT_EQ(w.named(run_wait_job), kNotFound);
}

TEST(WaitJob, ends_when_its_time_is_up_or_the_job_runs) {
  DemoWorld w({.lines = 1000});
  ASSERT_EQ(w.submit({"x"}), kDone);
  WaitJobFlags brief;
  brief.timeout = 5s;
  EXPECT_EQ(w.named(run_wait_job, brief), kTimeUp);
  WaitJobFlags running;
  running.goal = "running";
  EXPECT_EQ(w.named(run_wait_job, running), kDone);
  EXPECT_EQ(w.console.out_text, "job/a Running\n");
}

}  // namespace
}  // namespace codeflare::cli
