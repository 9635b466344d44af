#include "controllers/appwrapper/queue_controllers.h"
#include "controllers/crds/ensure_crds.h"
#include "controllers/fakenode/fake_nodes.h"
#include "controllers/job/job_controller.h"
#include "controllers/rayjob/rayjob_controller.h"
#include "controllers/rayjob/testing/proxied_api.h"
#include "controllers/testing/embedded_cluster.h"
#include "model/codec/app_wrapper.h"
#include "model/codec/core.h"
#include "model/codec/job.h"
#include "model/codec/pod.h"
#include "model/codec/ray_job.h"
#include "sdk/gang_jobs.h"
#include "sdk/job_handle.h"
#include "sdk/own_cluster_submit.h"

#include <gtest/gtest.h>

namespace codeflare::sdk {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

// The queue, RayJobs and one fake node, in virtual time. Pods only pretend: tests say what the
// submitter's does.
struct World {
  controllers::testing::EmbeddedCluster cluster;
  controllers::rayjob::testing::ProxiedApi api{cluster.env, cluster.service()};
  kube::Discovery discovery{cluster.client};
  Jobs jobs{cluster.env, cluster.service(), cluster.client, discovery, {}};

  World() {
    auto crds =
        *run(cluster.env.loop, controllers::ensure_crds(cluster.client, {.ray_cluster = true}));
    EXPECT_TRUE(crds) << crds.error().to_string();
    auto nodes =
        *run(cluster.env.loop, controllers::fakenode::register_fake_nodes(
                                   cluster.client, {.count = 1, .cpus = model::Quantity(4)}));
    EXPECT_TRUE(nodes) << nodes.error().to_string();
    controllers::add_queue_controllers(
        cluster.manager,
        {.queue = {.binds = queue::Binds::all, .user_check = false}, .trim_caches = false});
    controllers::fakenode::add_fake_node_controllers(cluster.manager);
    controllers::job::add_job_controller(cluster.manager);
    controllers::rayjob::add_ray_controllers(cluster.manager, api, {});
    cluster.start();
  }
  template <typename T>
  Result<T> await(Task<Result<T>> task) {
    return *run(cluster.env.loop, std::move(task));
  }
  Result<std::vector<std::string>> submit(const std::string& name, JobSpec spec = {},
                                          std::string priority_class = {}) {
    spec.name = name;
    spec.command = "python train.py";
    OwnClusterJob own{.job = std::move(spec),
                      .cluster = {.num_workers = 1,
                                  .head_cpu_limits = "1",
                                  // How long pods that end by themselves pretend to run.
                                  .annotations = {{"codeflare.dev/duration", "1h"}},
                                  .priority_class = std::move(priority_class)}};
    return await(submit_own_cluster(cluster.env, cluster.client, discovery, std::move(own),
                                    "default", "/home/user"));
  }
  std::unique_ptr<JobHandle> open(const std::string& name) {
    auto handle = await(open_job(jobs, cluster.client, {.ns = "default", .name = name}));
    EXPECT_TRUE(handle) << handle.error().message;
    return *std::move(handle);
  }
  JobInfo info(const std::string& name) { return *await(open(name)->get()); }
  model::RayJobStatus status(const std::string& name) {
    return cluster.read<model::RayJob>(name).status;
  }
  ray::testing::FakeDashboard& dashboard(const std::string& name) {
    return api.of(status(name).ray_cluster_name);
  }
  // The submitter has submitted the job, and its pod runs.
  void begin(const std::string& name) {
    cluster.settle(seconds(10));
    EXPECT_EQ(status(name).job_deployment_status, "Running");
    dashboard(name).jobs[name] = {.body = "",
                                  .entrypoint = "python train.py",
                                  .metadata = "{}",
                                  .started = cluster.env.loop.now()};
  }
  // The pod has seen the end of the job.
  void end(const std::string& name, const std::string& message) {
    const auto pods = cluster.list<model::Pod>("default", "job-name=" + name);
    ASSERT_EQ(pods.size(), 1u);
    cluster.patch<model::Pod>(
        pods[0].metadata.name,
        R"({"status":{"phase":"Succeeded","containerStatuses":[{"name":"main","image":"i",)"
        R"("imageID":"","ready":false,"restartCount":0,"state":{"terminated":{"exitCode":0,)"
        R"("message":")" +
            message + R"("}}}]}})",
        "status");
  }
};

TEST(OwnCluster, a_job_is_queued_run_and_torn_down_without_a_client) {
  World w;
  ASSERT_TRUE(w.submit("train"));
  w.begin("train");
  w.cluster.settle(seconds(5));
  const JobInfo running = w.info("train");
  EXPECT_EQ(running.phase, JobPhase::running);
  EXPECT_EQ(running.backend, JobBackend::ray_own);
  EXPECT_EQ(running.command, "python train.py");
  EXPECT_EQ(running.cluster.name, w.status("train").ray_cluster_name);
  w.cluster.settle(seconds(10));
  w.end("train", R"({\"status\": \"SUCCEEDED\", \"exitCode\": 0})");
  w.cluster.settle(minutes(2));
  const JobInfo ended = w.info("train");
  EXPECT_EQ(ended.phase, JobPhase::succeeded) << ended.message;
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(w.cluster.read<model::AppWrapper>("train").status.state, "Completed");
  // Nothing of it holds places any more, but its submitter is there for the log.
  EXPECT_TRUE(w.cluster.list<model::RayCluster>().empty());
  EXPECT_EQ(w.cluster.list<model::Pod>().size(), 1u);
  const auto listed = w.await(list_gang_jobs(w.cluster.client, "default"));
  ASSERT_TRUE(listed && listed->size() == 1u);
  EXPECT_EQ(listed->front().backend, JobBackend::ray_own);
  ASSERT_TRUE(w.await(w.open("train")->remove()));
  EXPECT_TRUE(w.cluster.list<model::Pod>().empty());
  EXPECT_EQ(w.cluster.get<model::RayJob>("train"), nullptr);
}

TEST(OwnCluster, a_job_that_does_not_fit_waits_and_says_why) {
  World w;
  ASSERT_TRUE(w.submit("first"));
  ASSERT_TRUE(w.submit("second"));
  w.cluster.settle(seconds(10));
  // Head, worker and submitter need 2.1 of 4 CPUs.
  const JobInfo waiting = w.info("second");
  EXPECT_EQ(waiting.phase, JobPhase::queued);
  EXPECT_FALSE(waiting.reason.empty());
  EXPECT_EQ(w.cluster.get<model::RayJob>("second"), nullptr);
}

TEST(OwnCluster, a_job_has_the_priority_of_its_priority_class) {
  World w;
  const model::ResourceType classes{"scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses",
                                    false};
  ASSERT_TRUE(w.await(w.cluster.client.create(
      classes, "",
      R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"high"},)"
      R"("value":1000})")));
  ASSERT_TRUE(w.submit("train", {}, "high"));
  w.cluster.settle(seconds(10));
  EXPECT_EQ(w.cluster.read<model::AppWrapper>("train").spec.priority, 1000);
  const auto pods = w.cluster.list<model::Pod>();
  EXPECT_EQ(pods.size(), 3u);  // head, worker and submitter
  for (const model::Pod& pod : pods) {
    EXPECT_EQ(pod.spec.priority_class_name, "high") << pod.metadata.name;
  }
  const auto unknown = w.submit("other", {}, "nobodys");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::not_found);
  EXPECT_EQ(unknown.error().message,
            "priority_class: PriorityClass 'nobodys' not found; create it, or name another one");
  EXPECT_EQ(w.cluster.get<model::AppWrapper>("other"), nullptr);
}

TEST(OwnCluster, a_failed_job_has_its_exit_code) {
  World w;
  w.api.options.final_status = "FAILED";
  ASSERT_TRUE(w.submit("train"));
  w.begin("train");
  w.cluster.settle(seconds(10));
  w.end("train", R"({\"status\": \"FAILED\", \"exitCode\": 3})");
  w.cluster.settle(minutes(2));
  const JobInfo job = w.info("train");
  EXPECT_EQ(job.phase, JobPhase::failed);
  EXPECT_EQ(job.exit_code, 3);
  EXPECT_EQ(job.reason, "AppFailed");
  EXPECT_EQ(w.cluster.read<model::AppWrapper>("train").status.state, "Failed");
  EXPECT_EQ(w.cluster.list<model::Pod>().size(), 1u);
}

TEST(OwnCluster, a_cancelled_job_frees_its_places_and_stays_on_record) {
  World w;
  w.api.options.lines = 100'000;
  ASSERT_TRUE(w.submit("train"));
  w.begin("train");
  const auto stop = w.await(w.open("train")->stop(true));
  ASSERT_TRUE(stop) << stop.error().message;
  EXPECT_TRUE(stop->was_running);
  EXPECT_EQ(w.info("train").phase, JobPhase::stopped);
  EXPECT_TRUE(w.cluster.list<model::RayCluster>().empty());
}

TEST(OwnCluster, a_name_that_is_taken_is_rejected) {
  World w;
  ASSERT_TRUE(w.submit("train"));
  const auto again = w.submit("train");
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::already_exists);
}

TEST(OwnCluster, code_travels_in_secrets_to_the_submitter) {
  World w;
  FileSystem& files = w.cluster.env.files;
  ASSERT_TRUE(files.make_directories("/home/user/code"));
  ASSERT_TRUE(files.write("/home/user/code/train.py", "print(1)\n"));
  ASSERT_TRUE(w.submit("train", {.working_dir = "code"}));
  const auto secrets = w.cluster.list<model::Secret>("default", "codeflare.dev/job=train");
  EXPECT_EQ(secrets.size(), 1u);
  w.cluster.settle(seconds(10));
  const model::RayJob job = w.cluster.read<model::RayJob>("train");
  EXPECT_TRUE(job.spec.runtime_env_yaml.contains("/workspace")) << job.spec.runtime_env_yaml;
  EXPECT_EQ(job.spec.submitter_pod_template->spec.init_containers.size(), 1u);
  EXPECT_EQ(job.status.job_deployment_status, "Running");
}

TEST(OwnCluster, local_modules_are_rejected_with_the_way_out) {
  World w;
  FileSystem& files = w.cluster.env.files;
  ASSERT_TRUE(files.make_directories("/home/user/mod"));
  ASSERT_TRUE(files.write("/home/user/mod/a.py", "1"));
  const auto refused = w.submit("train", {.runtime_env = R"({"py_modules":["mod"]})"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  EXPECT_TRUE(refused.error().message.contains("py_modules")) << refused.error().message;
}

}  // namespace
}  // namespace codeflare::sdk
