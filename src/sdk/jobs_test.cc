#include "sdk/jobs.h"

#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "base/check.h"
#include "base/env/sim_env.h"
#include "json/parse.h"
#include "net/testing/scripted_service.h"
#include "ray/testing/zip_reader.h"
#include "sdk/job_handle.h"
#include "sdk/testing/ray_proxy.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace codeflare::sdk {
namespace {

using namespace std::chrono_literals;
using ray::testing::FakeDashboard;

// An API server with a ready Ray cluster "demo", in virtual time.
struct World {
  explicit World(FakeDashboard::Options options = {}) {
    proxy.add_cluster("demo", true, std::move(options));
  }
  template <typename T>
  Result<T> await(Task<Result<T>> task) {
    return *run(sim.env().loop, std::move(task));
  }
  auto submit(JobSpec spec) { return await(jobs.submit(demo, std::move(spec))); }
  FakeDashboard& dashboard() { return *proxy.dashboards.at("demo"); }
  json::Document body_of(const std::string& job) {
    return json::parse(dashboard().jobs.at(job).body).value();
  }
  void write(const std::string& path, std::string_view text) {
    ASSERT_TRUE(sim.env().files.make_directories(parent_path(path)));
    ASSERT_TRUE(sim.env().files.write(path, text));
  }

  SimEnv sim;
  testing::RayProxy proxy{sim.env()};
  kube::Client client{sim.env(), proxy};
  kube::Discovery discovery{client};
  Jobs jobs{sim.env(), proxy, client, discovery, {.base_directory = "/base"}};
  JobTarget demo{.cluster = {"team", "demo"}};
};

JobSpec a_job(std::string name = "a") {
  return {.name = std::move(name), .command = "python main.py"};
}

Task<Result<void>> collect(std::string* log, std::string text) {
  *log += text;
  co_return Result<void>();
}

TEST(Jobs, are_submitted_followed_and_removed_through_the_api_server) {
  World w;
  ASSERT_TRUE(w.submit(a_job()));
  EXPECT_EQ(w.await(w.jobs.get(w.demo, "a"))->phase, JobPhase::running);
  std::string log;
  const auto end = w.await(
      w.jobs.follow(w.demo, "a", [&](std::string text) { return collect(&log, std::move(text)); }));
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_EQ(end->job.phase, JobPhase::succeeded);
  EXPECT_EQ(end->job.cluster, (model::ObjectKey{"team", "demo"}));
  EXPECT_EQ(log, w.dashboard().log_of(w.dashboard().jobs.at("a")));
  EXPECT_EQ(w.await(w.jobs.logs(w.demo, "a")).value(), log);
  ASSERT_TRUE(w.await(w.jobs.remove(w.demo, "a")));
  const auto gone = w.await(w.jobs.get(w.demo, "a"));
  EXPECT_EQ(gone.error().code, ErrorCode::not_found);
  EXPECT_EQ(gone.error().message,
            "job 'a' not found on Ray cluster 'demo' in namespace 'team'; 'codeflare list job -c "
            "demo -n team' shows its jobs");
}

TEST(Jobs, that_are_followed_tell_their_states_before_the_end) {
  World w({.lines = 60, .pending = 20s});
  ASSERT_TRUE(w.submit(a_job()));
  const auto handle =
      w.await(open_job(w.jobs, w.client, {.ns = "team", .name = "a", .cluster = "demo"}));
  ASSERT_TRUE(handle);
  for (const std::string states : {"Pending Running ", ""}) {  // the second time it has ended
    std::string log;
    std::string told;
    const auto end = w.await((*handle)->follow(
        {.sink = [&](std::string text) { return collect(&log, std::move(text)); },
         .observer = [&](const JobInfo& job) { told += progress_line(job) + " "; }}));
    ASSERT_TRUE(end) << end.error().message;
    EXPECT_EQ(end->job.phase, JobPhase::succeeded);
    EXPECT_EQ(log, w.dashboard().log_of(w.dashboard().jobs.at("a")));
    EXPECT_EQ(told, states);
  }
}

TEST(Jobs, are_followed_from_their_last_lines) {
  World w({.lines = 20});
  ASSERT_TRUE(w.submit(a_job()));
  ASSERT_TRUE(w.await(sleep_for(3s)));
  const std::string before = w.await(w.jobs.logs(w.demo, "a")).value();
  ASSERT_GT(std::ranges::count(before, '\n'), 2);
  const auto handle =
      w.await(open_job(w.jobs, w.client, {.ns = "team", .name = "a", .cluster = "demo"}));
  ASSERT_TRUE(handle);
  const auto follow = [&](std::int64_t tail) {
    std::string log;
    const auto end =
        w.await((*handle)->follow({.choice = {.tail = tail}, .sink = [&](std::string text) {
                                     return collect(&log, std::move(text));
                                   }}));
    EXPECT_TRUE(end);
    return log;
  };
  const std::size_t last = before.rfind('\n', before.size() - 2) + 1;
  const std::string followed = follow(1);
  const std::string whole = w.await(w.jobs.logs(w.demo, "a")).value();
  EXPECT_GT(whole.size(), before.size());
  EXPECT_EQ(followed, whole.substr(last));
  EXPECT_EQ(follow(0), "");
  EXPECT_EQ(follow(100), whole);
}

TEST(Jobs, are_followed_from_now_also_before_their_first_line) {
  World w({.lines = 0});
  ASSERT_TRUE(w.submit(a_job()));
  const auto handle =
      w.await(open_job(w.jobs, w.client, {.ns = "team", .name = "a", .cluster = "demo"}));
  ASSERT_TRUE(handle);
  const auto log = w.await((*handle)->logs({.tail = 0}));
  ASSERT_TRUE(log);
  EXPECT_EQ(*log, "");
}

TEST(Jobs, bring_the_token_of_a_cluster_that_needs_one) {
  World w;
  ASSERT_TRUE(w.submit(a_job("open")));
  EXPECT_EQ(w.proxy.authorization, "");
  w.proxy.api.put(model::resource_type<model::RayCluster>(),
                  R"({"apiVersion":"ray.io/v1","kind":"RayCluster",
                      "metadata":{"namespace":"team","name":"demo"},
                      "spec":{"authOptions":{"mode":"token"}},"status":{"state":"ready"}})");
  const auto without = w.submit(a_job());
  ASSERT_FALSE(without);
  EXPECT_EQ(without.error().code, ErrorCode::not_found);
  EXPECT_TRUE(without.error().to_string().contains("token of Ray cluster 'demo'"))
      << without.error().to_string();
  w.proxy.api.put({"", "v1", "Secret", "secrets", true},
                  R"({"apiVersion":"v1","kind":"Secret","data":{"auth_token":"czNjcmV0"},
                      "metadata":{"namespace":"team","name":"demo"}})");
  ASSERT_TRUE(w.submit(a_job()));
  EXPECT_EQ(w.proxy.authorization, "Bearer s3cret");
}

class BrokenBody final : public net::BodyStream {
 public:
  Task<Result<Bytes>> read() override { co_return fail(unavailable("connection was reset")); }
};

// Delivers the first submission; its answer, an error, breaks off.
Task<Result<net::Response>> break_first_answer(World* w, int* posts, net::Request request) {
  const bool first = request.method == "POST" && ++*posts == 1;
  CO_TRY_ASSIGN(net::Response response, co_await w->proxy.send(std::move(request)));
  if (first) {
    response = {.status = 502, .body = std::make_unique<BrokenBody>()};
  }
  co_return response;
}

TEST(Jobs, whose_answer_breaks_off_are_not_taken_for_those_of_others) {
  World w;
  int posts = 0;
  net::testing::ScriptedService service(
      [&](net::Request request) { return break_first_answer(&w, &posts, std::move(request)); });
  Jobs jobs(w.sim.env(), service, w.client, w.discovery, {});
  const auto submitted = w.await(jobs.submit(w.demo, a_job()));
  EXPECT_TRUE(submitted) << submitted.error().message;
  EXPECT_EQ(posts, 1);
  EXPECT_EQ(w.dashboard().accepted, 1);
}

TEST(Jobs, send_what_was_asked_for) {
  World w;
  JobSpec spec = a_job();
  spec.runtime_env = R"({"env_vars":{"A":"0","B":"2"},"pip":["emoji"]})";
  spec.env = {{"A", "1"}};
  spec.num_cpus = 0.5;
  spec.memory_bytes = 1024;
  spec.resources = {{"tpu", 2}};
  spec.metadata = {{"who", "me"}};
  ASSERT_TRUE(w.submit(std::move(spec)));
  const json::Document body = w.body_of("a");
  EXPECT_EQ(body.root.string_or_empty("submission_id"), "a");
  EXPECT_EQ(body.root.string_or_empty("entrypoint"), "python main.py");
  EXPECT_EQ(body.root.get({"runtime_env", "env_vars"})->string_or_empty("A"), "1");
  EXPECT_EQ(body.root.get({"runtime_env", "env_vars"})->string_or_empty("B"), "2");
  EXPECT_EQ(body.root.get({"runtime_env", "pip"})->size(), 1u);
  EXPECT_NE(body.root.find("entrypoint_num_cpus"), nullptr);
  EXPECT_EQ(body.root.get({"metadata"})->string_or_empty("who"), "me");
}

TEST(Jobs, bring_their_working_directory) {
  World w;
  w.write("/base/code/main.py", "print(1)");
  JobSpec spec = a_job();
  spec.working_dir = "code";
  ASSERT_TRUE(w.submit(spec));
  ASSERT_EQ(w.dashboard().packages.size(), 1u);
  const auto& [name, bytes] = *w.dashboard().packages.begin();
  EXPECT_EQ(ray::testing::read_zip(bytes).front().name, "main.py");
  const json::Document body = w.body_of("a");
  EXPECT_EQ(body.root.get({"runtime_env"})->string_or_empty("working_dir"), "gcs://" + name);

  w.write("/base/code/main.py", "print(2)");  // a name that is taken costs no upload
  EXPECT_EQ(w.submit(spec).error().code, ErrorCode::already_exists);
  EXPECT_EQ(w.dashboard().packages.size(), 1u);
}

TEST(Jobs, a_name_that_is_taken_is_refused) {
  World w;
  ASSERT_TRUE(w.submit(a_job()));
  const auto again = w.submit(a_job());
  EXPECT_EQ(again.error().code, ErrorCode::already_exists);
  EXPECT_EQ(again.error().message,
            "job 'a' already exists on Ray cluster 'demo' in namespace 'team'; choose another name "
            "or delete the job first");
  EXPECT_EQ(w.dashboard().accepted, 1);
}

TEST(Jobs, a_wrong_description_is_refused_before_a_request) {
  World w;
  JobSpec twice = a_job();
  twice.working_dir = "code";
  twice.runtime_env = R"({"working_dir":"other"})";
  JobSpec list = a_job();
  list.runtime_env = "[]";
  JobSpec broken = a_job();
  broken.runtime_env = "{";
  JobSpec variables = a_job();
  variables.runtime_env = R"({"env_vars":[]})";
  variables.env = {{"A", "1"}};
  JobSpec missing = a_job();
  missing.working_dir = "nowhere";
  JobSpec silent = a_job();
  silent.command.clear();
  for (const JobSpec& spec : {a_job(""), a_job("a/b"), a_job("."), a_job(std::string(129, 'a')),
                              silent, twice, list, broken, variables, missing}) {
    EXPECT_EQ(w.submit(spec).error().code, ErrorCode::invalid_argument) << spec.name;
  }
  EXPECT_TRUE(w.dashboard().requests.empty());
}

TEST(Jobs, stop_and_keep_their_record) {
  World w;
  ASSERT_TRUE(w.submit(a_job()));
  const auto stopped = w.await(w.jobs.stop(w.demo, "a"));
  ASSERT_TRUE(stopped) << stopped.error().message;
  EXPECT_TRUE(stopped->was_running);
  EXPECT_EQ(stopped->job.phase, JobPhase::stopped);
  EXPECT_FALSE(w.await(w.jobs.stop(w.demo, "a"))->was_running);
  EXPECT_EQ(w.await(w.jobs.stop(w.demo, "b")).error().code, ErrorCode::not_found);
  EXPECT_EQ(w.dashboard().jobs.size(), 1u);
}

TEST(Jobs, that_run_are_stopped_before_they_are_removed) {
  World w;
  ASSERT_TRUE(w.submit(a_job()));
  ASSERT_TRUE(w.await(w.jobs.remove(w.demo, "a")));
  EXPECT_TRUE(w.dashboard().jobs.empty());
  EXPECT_EQ(w.await(w.jobs.remove(w.demo, "a")).error().code, ErrorCode::not_found);
}

// Writes the record `back` soon after record "a" was removed, as Ray's monitor of a job may do.
Task<void> write_once_more(FakeDashboard& dashboard, FakeDashboard::Record back) {
  while (dashboard.jobs.contains("a")) {
    CHECK(co_await sleep_for(100ms));
  }
  CHECK(co_await sleep_for(300ms));
  dashboard.jobs.emplace("a", std::move(back));
}

TEST(Jobs, that_were_stopped_do_not_come_back) {
  for (const std::string entrypoint : {"python main.py", "Entrypoint not found."}) {
    World w;
    ASSERT_TRUE(w.submit(a_job()));
    FakeDashboard::Record back = w.dashboard().jobs.at("a");
    back.entrypoint = entrypoint;
    back.metadata = entrypoint.starts_with("python") ? back.metadata : "{}";
    back.stopped = true;
    ASSERT_TRUE(w.await(w.jobs.stop(w.demo, "a")));  // a moment before
    TaskGroup group(w.sim.env().loop);
    group.spawn(write_once_more(w.dashboard(), back));
    ASSERT_TRUE(w.await(w.jobs.remove(w.demo, "a")));
    EXPECT_TRUE(run(w.sim.env().loop, group.join()));
    EXPECT_TRUE(w.dashboard().jobs.empty()) << entrypoint;
  }
}

TEST(Jobs, that_are_removed_while_they_run_do_not_come_back) {
  World w;
  ASSERT_TRUE(w.submit(a_job()));
  FakeDashboard::Record back = w.dashboard().jobs.at("a");
  back.stopped = true;
  TaskGroup group(w.sim.env().loop);
  group.spawn(write_once_more(w.dashboard(), back));
  ASSERT_TRUE(w.await(w.jobs.remove(w.demo, "a")));
  EXPECT_TRUE(run(w.sim.env().loop, group.join()));
  EXPECT_TRUE(w.dashboard().jobs.empty());
}

TEST(Jobs, a_new_job_of_a_removed_name_is_left_alone) {
  World w;
  ASSERT_TRUE(w.submit(a_job()));
  FakeDashboard::Record other = w.dashboard().jobs.at("a");
  other.metadata = R"({"codeflare.dev/submission":"another"})";
  other.stopped = true;
  TaskGroup group(w.sim.env().loop);
  group.spawn(write_once_more(w.dashboard(), other));
  ASSERT_TRUE(w.await(w.jobs.remove(w.demo, "a")));
  EXPECT_TRUE(run(w.sim.env().loop, group.join()));
  EXPECT_EQ(w.dashboard().jobs.size(), 1u);
}

TEST(Jobs, are_waited_for) {
  World w({.lines = 100, .final_status = "FAILED"});
  ASSERT_TRUE(w.submit(a_job()));
  std::vector<std::string> seen;
  const JobWait options{
      .observer = [&](const JobInfo& job) { seen.push_back(progress_line(job)); }};
  JobWait running = options;
  running.goal = JobGoal::running;
  EXPECT_EQ(w.await(w.jobs.wait(w.demo, "a", running))->phase, JobPhase::running);
  JobWait brief = options;
  brief.timeout = 5s;
  EXPECT_EQ(w.await(w.jobs.wait(w.demo, "a", brief)).error().code, ErrorCode::deadline_exceeded);
  seen.clear();
  EXPECT_EQ(w.await(w.jobs.wait(w.demo, "a", options))->phase, JobPhase::failed);
  EXPECT_EQ(seen, (std::vector<std::string>{"Running", "Failed"}));
}

TEST(Jobs, of_every_cluster_are_listed_and_silent_dashboards_noted) {
  World w;
  w.proxy.add_cluster("other");
  w.proxy.add_cluster("dead", true, {.refusals = 1'000'000});
  ASSERT_TRUE(w.submit(a_job("b")));
  ASSERT_TRUE(w.submit(a_job("a")));
  ASSERT_TRUE(w.await(w.jobs.submit({.cluster = {"team", "other"}}, a_job("c"))));
  const auto listed = w.await(w.jobs.list_all("team"));
  ASSERT_TRUE(listed) << listed.error().message;
  std::string names;
  for (const JobInfo& job : listed->jobs) {
    names += job.cluster.name + "/" + job.name + " ";
  }
  EXPECT_EQ(names, "demo/a demo/b other/c ");
  ASSERT_EQ(listed->notes.size(), 1u);
  EXPECT_TRUE(listed->notes.front().starts_with(
      "cannot reach the dashboard of Ray cluster 'dead' in namespace 'team' by "
      "services/dead-head-svc:dashboard/proxy of the API server: "))
      << listed->notes.front();
  EXPECT_EQ(w.await(w.jobs.list(w.demo))->size(), 2u);
  EXPECT_TRUE(w.await(w.jobs.list_all("elsewhere"))->jobs.empty());
}

TEST(Jobs, a_missing_right_is_named) {
  World w;
  w.proxy.forbidden = true;
  const auto refused = w.submit(a_job());
  EXPECT_EQ(refused.error().code, ErrorCode::permission_denied);
  EXPECT_EQ(refused.error().message,
            "cannot reach the dashboard of Ray cluster 'demo' in namespace 'team' by "
            "services/demo-head-svc:dashboard/proxy of the API server: submit job a: services is "
            "forbidden: user u cannot get services/proxy; the rights get, create, update and "
            "delete on services/proxy are needed in namespace 'team'");
}

TEST(Jobs, a_cluster_that_is_missing_or_not_ready_is_named) {
  World w;
  w.proxy.add_cluster("new", false);
  const auto missing = w.await(w.jobs.submit({.cluster = {"team", "none"}}, a_job()));
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
  EXPECT_EQ(missing.error().message,
            "Ray cluster 'none' not found in namespace 'team'; 'codeflare list raycluster --all' "
            "shows all Ray clusters");
  const auto early = w.await(w.jobs.get({.cluster = {"team", "new"}}, "a"));
  EXPECT_EQ(early.error().code, ErrorCode::failed_precondition);
  EXPECT_EQ(early.error().message, "Ray cluster 'new' is not ready: Starting: head starting");
}

TEST(Jobs, the_only_cluster_need_not_be_named) {
  World w;
  EXPECT_EQ(w.await(w.jobs.only_cluster("team")).value().name, "demo");
  w.proxy.add_cluster("other", false);
  const auto several = w.await(w.jobs.only_cluster("team"));
  EXPECT_EQ(several.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(several.error().message,
            "namespace 'team' has 2 Ray clusters (demo, other); choose one with --cluster-name");
  const auto none = w.await(w.jobs.only_cluster("empty"));
  EXPECT_EQ(none.error().code, ErrorCode::not_found);
  EXPECT_EQ(none.error().message,
            "no Ray cluster in namespace 'empty'; create one first: codeflare create raycluster "
            "NAME --wait");
}

TEST(Jobs, go_to_the_address_that_was_given) {
  World w;
  std::string host;
  Jobs jobs(w.sim.env(), w.proxy, w.client, w.discovery,
            {.client = {.retry_for = 5s}, .dial = [&](net::Url url) {
               host = url.host_and_port();
               std::unique_ptr<net::HttpService> service =
                   std::make_unique<net::testing::ScriptedService>([&](net::Request request) {
                     return w.dashboard().send(std::move(request));
                   });
               return Result<std::unique_ptr<net::HttpService>>(std::move(service));
             }});
  ASSERT_TRUE(w.await(jobs.submit({.address = "http://head:8265/"}, a_job())));
  EXPECT_EQ(host, "head:8265");
  EXPECT_EQ(w.dashboard().requests.back(), "POST /api/jobs/");
  EXPECT_FALSE(w.await(jobs.list({.address = "http://head:8265/ray/"})));
  EXPECT_EQ(w.dashboard().requests.back(), "GET /ray/api/jobs/");
  EXPECT_EQ(w.await(jobs.get({.address = "http://head:8265"}, "b")).error().message,
            "job 'b' not found on the Ray dashboard at http://head:8265; 'codeflare list job "
            "--address http://head:8265' shows its jobs");
  const auto wrong = w.await(jobs.list({.address = "head:8265"}));
  EXPECT_EQ(wrong.error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace codeflare::sdk
