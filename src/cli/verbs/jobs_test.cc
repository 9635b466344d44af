#include "base/async/sleep.h"
#include "base/env/sim_env.h"
#include "cli/testing/captured_console.h"
#include "cli/verbs/define_job.h"
#include "cli/verbs/end_job.h"
#include "cli/verbs/follow_job.h"
#include "cli/verbs/show_job.h"
#include "cli/verbs/show_raycluster.h"
#include "cli/verbs/submit_job.h"
#include "json/parse.h"
#include "model/event.h"
#include "model/resources.h"
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

TEST(WaitJob, ends_when_the_job_is_deleted) {
  DemoWorld w({.lines = 1000});
  ASSERT_EQ(w.submit({"x"}), kDone);
  WaitJobFlags gone;
  gone.goal = "deleted";
  gone.timeout = 5s;
  EXPECT_EQ(w.named(run_wait_job, gone), kTimeUp);
  w.sim.env().loop.start_timer(after(w.sim.env().loop.now(), 10s),
                               [&] { w.dashboard().jobs.erase("a"); });
  gone.timeout = 60s;
  EXPECT_EQ(w.named(run_wait_job, gone), kDone);
  EXPECT_EQ(w.console.out_text, "job/a deleted\n");
  EXPECT_TRUE(w.console.err_text.contains("job/a: Running")) << w.console.err_text;
  EXPECT_EQ(w.named(run_wait_job, gone), kDone);
  gone.name = "";
  EXPECT_EQ(w.verb([&](Session& s) { return run_wait_job(s, gone); }), kUsage);
}

TEST(DeleteJob, without_a_wait_stops_a_job_and_keeps_its_record) {
  DemoWorld w({.lines = 1000});
  ASSERT_EQ(w.submit({"x"}), kDone);
  DeleteJobFlags at_once;
  at_once.wait = false;
  EXPECT_EQ(w.named(run_delete_job, at_once), kDone);
  EXPECT_EQ(w.console.out_text,
            "job/a stopping; its record stays. To remove the record: codeflare delete job a -c "
            "demo\n");
  EXPECT_EQ(w.status("a"), kDone);
  EXPECT_EQ(w.named(run_delete_job, at_once), kDone);
  EXPECT_EQ(w.console.out_text, "job/a deleted\n");
  EXPECT_EQ(w.named(run_delete_job, at_once), kNotFound);
}

TEST(HoldJob, is_not_for_a_job_on_a_ray_cluster) {
  DemoWorld w;
  const auto hold = [&](bool on) {
    return w.verb([on](Session& s) { return run_hold_job(s, {.name = "a"}, on); });
  };
  EXPECT_EQ(hold(true), kNotFound);
  ASSERT_EQ(w.submit({"x"}), kDone);
  for (const bool on : {true, false}) {
    EXPECT_EQ(hold(on), kFailed);
    EXPECT_EQ(w.console.err_text,
              "error: job 'a' is on Ray cluster 'demo' in namespace 'team', not in the queue; use "
              "'codeflare cancel job a -c demo'\n");
  }
}

struct DefinedWorld : DemoWorld {
  DefinedWorld() {
    EXPECT_TRUE(sim.env().files.make_directories("/code"));
    EXPECT_TRUE(sim.env().files.write("/code/train.py", "print(1)\n"));
  }
  int define(const std::function<void(DefineJobFlags&)>& change = {}, SessionFlags flags = {}) {
    DefineJobFlags how;
    how.first_word = "a";
    how.ddp.script = "train.py";
    how.ddp.shape = "2x1";
    how.job.script_args = {"--epochs", "3"};
    how.job.working_dir = "/code";
    if (change) {
      change(how);
    }
    return verb([&](Session& s) { return run_define_job(s, how); }, flags);
  }
};

TEST(DefineJob, writes_a_file_and_keeps_it_once_it_was_edited) {
  DefinedWorld w;
  ASSERT_EQ(w.define(), kDone) << w.console.err_text;
  EXPECT_EQ(w.console.out_text,
            "a.job.yaml written\nNext: codeflare submit job a -f, or with -c CLUSTER on a Ray "
            "cluster\n");
  ASSERT_EQ(w.define({}, {.output = "yaml"}), kDone);
  EXPECT_EQ(w.console.out_text,
            "# Submit with: codeflare submit job a\nname: a\nscript: train.py\nscript_args:\n- "
            "--epochs\n- \"3\"\nj: 2x1\nworkspace: /code\n");
  EXPECT_TRUE(w.sim.env().files.read("a.job.yaml")->ends_with(w.console.out_text));
  EXPECT_EQ(w.define([](DefineJobFlags& how) { how.ddp.gpu = 2; }), kDone);
  ASSERT_TRUE(w.sim.env().files.append("a.job.yaml", "# mine\n"));
  EXPECT_EQ(w.define(), kExists);
  EXPECT_EQ(w.define([](DefineJobFlags& how) { how.force = true; }), kDone);
}

TEST(DefineJob, names_what_is_wrong) {
  DefinedWorld w;
  const auto told = [&](const std::function<void(DefineJobFlags&)>& change) {
    EXPECT_EQ(w.define(change), kUsage);
    return w.console.err_text;
  };
  EXPECT_TRUE(told([](DefineJobFlags& how) { how.first_word = ""; }).contains("NAME is missing"));
  EXPECT_TRUE(told([](DefineJobFlags& how) { how.first_word = "a/b"; }).contains("job name 'a/b'"));
  EXPECT_TRUE(told([](DefineJobFlags& how) { how.ddp.script = ""; }).contains("[script, m]"));
  EXPECT_TRUE(told([](DefineJobFlags& how) { how.ddp.shape = "2by1"; }).contains("2by1"));
  EXPECT_TRUE(told([](DefineJobFlags& how) { how.job.env = {"A"}; }).contains("--env: A is not"));
}

TEST(SubmitJob, takes_the_definition_of_a_file) {
  DefinedWorld w;
  SubmitJobFlags how;
  how.cluster = "demo";
  EXPECT_EQ(w.submit({}, how), kUsage);
  EXPECT_TRUE(w.console.err_text.contains("'codeflare define job a'")) << w.console.err_text;
  ASSERT_EQ(w.define([](DefineJobFlags& job) { job.job.env = {"A=1"}; }), kDone);
  SubmitJobFlags more = how;
  more.env = {"A=2"};
  EXPECT_EQ(w.submit({}, more), kUsage);
  EXPECT_TRUE(w.console.err_text.contains("a.job.yaml describes the job already"))
      << w.console.err_text;
  SubmitJobFlags address;
  address.address = "http://127.0.0.1:1";
  EXPECT_EQ(w.submit({}, address), kUsage);
  EXPECT_TRUE(w.console.err_text.contains("--cluster-name")) << w.console.err_text;
  ASSERT_EQ(w.submit({}, how), kDone) << w.console.err_text;
  const FakeDashboard::Record& record = w.dashboard().jobs.at("a");
  EXPECT_TRUE(record.entrypoint.contains("--replicas 2 --processes 1")) << record.entrypoint;
  EXPECT_TRUE(record.entrypoint.ends_with("-- train.py --epochs 3")) << record.entrypoint;
  EXPECT_TRUE(record.body.contains(R"("A":"1")")) << record.body;
  EXPECT_EQ(w.dashboard().packages.size(), 1u);
}

TEST(SubmitJob, rejects_a_file_of_another_job) {
  DefinedWorld w;
  ASSERT_TRUE(w.sim.env().files.write("a.job.yaml", "name: b\nscript: train.py\n"));
  EXPECT_EQ(w.submit({}), kUsage);
  EXPECT_TRUE(w.console.err_text.contains("a.job.yaml: defines job 'b', not 'a'"))
      << w.console.err_text;
  ASSERT_TRUE(w.sim.env().files.write("a.job.yaml", "- 1\n"));
  EXPECT_EQ(w.submit({}), kUsage);
  ASSERT_TRUE(w.sim.env().files.write("a.job.yaml", "scrpt: train.py\n"));
  EXPECT_EQ(w.submit({}), kUsage);
  EXPECT_TRUE(w.console.err_text.contains("did you mean script?")) << w.console.err_text;
}

int details(World& w, SessionFlags flags = {}) {
  return w.verb([](Session& s) { return run_details_raycluster(s, {.name = "demo"}); }, flags);
}

TEST(DetailsRayCluster, lists_the_jobs_and_the_last_events) {
  DemoWorld w;
  EXPECT_EQ(details(w), kDone) << w.console.err_text;
  EXPECT_TRUE(w.console.out_text.ends_with("Jobs:        none\n")) << w.console.out_text;
  ASSERT_EQ(w.submit({"x"}), kDone);
  for (int i = 0; i < 7; ++i) {
    const std::string n = std::to_string(i);
    w.proxy.api.put(
        model::resource_type<model::Event>(),
        R"({"apiVersion":"v1","kind":"Event","metadata":{"namespace":"team","name":"e)" + n +
            R"("},"involvedObject":{"kind":"RayCluster","name":")" + (i == 6 ? "other" : "demo") +
            R"("},"type":"Normal","reason":"R)" + n +
            R"(","message":"m","lastTimestamp":"2024-01-01T00:00:0)" + n + R"(Z"})");
  }
  EXPECT_EQ(details(w), kDone) << w.console.err_text;
  const std::string& text = w.console.out_text;
  EXPECT_TRUE(text.contains("Jobs:\n  JOB   STATUS    STARTED   REASON\n  a     Running   "))
      << text;
  EXPECT_TRUE(text.contains("Events:\n  AGE ")) << text;
  EXPECT_LT(text.find("R1"), text.find("R5"));
  EXPECT_FALSE(text.contains("R0")) << text;
  EXPECT_FALSE(text.contains("R6")) << text;
  EXPECT_EQ(details(w, {.output = "json"}), kDone);
  const json::Document told = json::parse(w.console.out_text).value();
  EXPECT_EQ(told.root.find("jobs")->size(), 1u);
  EXPECT_EQ(told.root.find("events")->size(), 5u);
}

TEST(DetailsRayCluster, does_not_wait_for_a_silent_head) {
  DemoWorld w({.refusals = 1'000'000});
  const Instant before = w.sim.env().loop.now();
  EXPECT_EQ(details(w), kDone) << w.console.err_text;
  EXPECT_TRUE(w.console.out_text.contains("Jobs:        not known: ")) << w.console.out_text;
  EXPECT_LE(w.sim.env().loop.now() - before, 4s);
}

}  // namespace
}  // namespace codeflare::cli
