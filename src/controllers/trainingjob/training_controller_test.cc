#include "controllers/trainingjob/training_controller.h"

#include "base/base64.h"
#include "checkpoint/token.h"
#include "controllers/appwrapper/queue_controllers.h"
#include "controllers/crds/ensure_crds.h"
#include "controllers/fakenode/fake_nodes.h"
#include "controllers/testing/embedded_cluster.h"
#include "controllers/trainingjob/pull_secret.h"
#include "model/codec/app_wrapper.h"
#include "model/codec/node.h"
#include "model/codec/pod.h"
#include "model/codec/service.h"
#include "model/codec/training_job.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <string>

namespace codeflare::controllers::trainingjob {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

std::string job(const std::string& name, const std::string& spec,
                const std::string& annotations = R"("codeflare.dev/duration":"24h")") {
  return R"({"apiVersion":"breezeml.ai/v1","kind":"TrainingJob","metadata":{"name":")" + name +
         R"("},"spec":{)" + spec + R"("replicaSpecs":{"template":{"metadata":{"annotations":{)" +
         annotations + R"(}},"spec":{"containers":[{"name":"trainingjob","image":"i",)" +
         R"("resources":{"requests":{"cpu":"1"},"limits":{"cpu":"1"}}}]}}}}})";
}

std::string bounds(int min, int max) {
  return "\"minSize\":" + std::to_string(min) + ",\"maxSize\":" + std::to_string(max) + ",";
}

// A cluster with one fake node, the queue and TrainingJobs.
struct World {
  testing::EmbeddedCluster cluster;
  std::shared_ptr<QueueDriver> driver;

  explicit World(int cpus, QueueControllersOptions options = {}, WorkerOptions workers = {}) {
    auto crds = *run(cluster.env.loop, ensure_crds(cluster.client, {}));
    EXPECT_TRUE(crds);
    options.queue.binds = queue::Binds::all;
    options.queue.user_check = false;
    options.training_jobs = true;
    options.trim_caches = false;
    driver = add_queue_controllers(cluster.manager, options);
    workers.training = options.queue.training;
    workers.scheduler_name = "codeflare";
    workers.metrics = &cluster.metrics;
    add_training_controller(cluster.manager, *driver, std::move(workers));
    fakenode::add_fake_node_controllers(cluster.manager);
    auto nodes = *run(cluster.env.loop, fakenode::register_fake_nodes(
                                            cluster.client, {.cpus = model::Quantity(cpus)}));
    EXPECT_TRUE(nodes);
    cluster.start();
  }

  void make(const std::string& body) {
    cluster.create<model::TrainingJob>(body);
    cluster.settle(seconds(10));
  }
  model::TrainingJobStatus status(const std::string& name) {
    return cluster.read<model::TrainingJob>(name).status;
  }
  // Names and UIDs of its pods that run.
  std::map<std::string, std::string> running(const std::string& name) {
    std::map<std::string, std::string> pods;
    for (const model::Pod& pod : cluster.list<model::Pod>("default", "breezeml.ai/job=" + name)) {
      if (pod.status.phase == "Running" && !pod.metadata.deleting()) {
        pods.emplace(pod.metadata.name, pod.metadata.uid);
      }
    }
    return pods;
  }
};

TEST(TrainingController, runs_a_job_on_whatever_is_free_between_its_bounds) {
  World w(3);
  w.make(job("bert", bounds(1, 8)));
  const model::TrainingJobStatus status = w.status("bert");
  EXPECT_EQ(status.stage, "Running");
  EXPECT_EQ(status.current_size, 3);
  EXPECT_EQ(status.ready_size, 3);
  EXPECT_EQ(status.plan->places.size(), 3U);
  ASSERT_TRUE(status.membership);
  EXPECT_EQ(status.membership->members.size(), 3U);
  const auto pods = w.running("bert");
  EXPECT_EQ(pods.size(), 3U);
  EXPECT_TRUE(pods.contains("bert-worker-0"));
  const auto service = w.cluster.read<model::Service>("bert");
  EXPECT_EQ(service.spec.cluster_ip, "None");
  EXPECT_TRUE(service.spec.publish_not_ready_addresses);
}

TEST(TrainingController, workers_have_the_annotations_that_their_nodes_ask_for) {
  World w(2);
  w.driver->set_pod_annotations([](const std::string& uid, const std::string& node) {
    return model::StringMap{{"example.com/uses", uid.empty() ? "" : node}};
  });
  w.make(job("bert", bounds(1, 2)));
  ASSERT_EQ(w.running("bert").size(), 2U);
  for (const model::Pod& pod : w.cluster.list<model::Pod>("default", "breezeml.ai/job=bert")) {
    EXPECT_EQ(model::find_or_empty(pod.metadata.annotations, "example.com/uses"),
              pod.spec.node_name);
  }
}

TEST(TrainingController, bounds_change_while_it_runs_and_survivors_keep_their_pods) {
  World w(8);
  w.make(job("bert", bounds(1, 4)));
  const auto before = w.running("bert");
  ASSERT_EQ(before.size(), 4U);
  w.cluster.patch<model::TrainingJob>("bert", R"({"spec":{"maxSize":6}})");
  w.cluster.settle(seconds(10));
  const auto grown = w.running("bert");
  EXPECT_EQ(grown.size(), 6U);
  for (const auto& [name, uid] : before) {
    EXPECT_EQ(grown.at(name), uid) << name;
  }
  w.cluster.patch<model::TrainingJob>("bert", R"({"spec":{"maxSize":2}})");
  w.cluster.settle(minutes(3));
  const auto shrunk = w.running("bert");
  EXPECT_EQ(shrunk.size(), 2U);
  for (const auto& [name, uid] : shrunk) {
    EXPECT_EQ(grown.at(name), uid) << name;
  }
  EXPECT_EQ(w.status("bert").current_size, 2);
  EXPECT_EQ(w.status("bert").restart_counts.user, 0);
}

TEST(TrainingController, two_jobs_of_two_to_four_on_five_units_are_three_and_two) {
  World w(5);
  w.make(job("a", bounds(2, 4)));
  EXPECT_EQ(w.running("a").size(), 4U);
  w.make(job("b", bounds(2, 4)));
  w.cluster.settle(minutes(3));
  EXPECT_EQ(w.running("a").size(), 3U);
  EXPECT_EQ(w.running("b").size(), 2U);
}

TEST(TrainingController, an_app_wrapper_takes_growth_and_the_job_grows_back) {
  World w(4);
  w.make(job("bert", bounds(1, 4)));
  EXPECT_EQ(w.running("bert").size(), 4U);
  w.cluster.create<model::AppWrapper>(
      R"({"apiVersion":"workload.codeflare.dev/v1beta1","kind":"AppWrapper","metadata":{)"
      R"("name":"fixed"},"spec":{"resources":{"GenericItems":[{"generictemplate":{)"
      R"("apiVersion":"v1","kind":"Pod","metadata":{"name":"fixed","annotations":{)"
      R"("codeflare.dev/duration":"60s"}},"spec":{"restartPolicy":"Never","containers":[{)"
      R"("name":"c","image":"i","resources":{"requests":{"cpu":"2"}}}]}}}]}}})");
  w.cluster.settle(seconds(40));
  EXPECT_EQ(w.running("bert").size(), 2U);
  EXPECT_EQ(w.cluster.read<model::Pod>("fixed").status.phase, "Running");
  w.cluster.settle(minutes(3));
  EXPECT_EQ(w.running("bert").size(), 4U);
}

// An AppWrapper around the job.
std::string wrapping(const std::string& name, const std::string& job,
                     const std::string& more = "") {
  return R"({"apiVersion":"workload.codeflare.dev/v1beta1","kind":"AppWrapper","metadata":{)"
         R"("name":")" +
         name + R"("},"spec":{)" + more + R"("resources":{"GenericItems":[)" +
         R"({"generictemplate":)" + job + "}]}}}";
}

TEST(TrainingController, a_job_inside_an_app_wrapper_grows_under_its_plan_and_ends_with_it) {
  World w(4);
  w.cluster.create<model::AppWrapper>(
      wrapping("aw", job("bert", bounds(1, 8), R"("codeflare.dev/duration":"10m")")));
  w.cluster.settle(seconds(20));
  EXPECT_EQ(w.running("bert").size(), 4U);
  EXPECT_EQ(w.status("bert").current_size, 4);
  auto outer = w.cluster.read<model::AppWrapper>("aw");
  ASSERT_TRUE(outer.status.plan);
  ASSERT_EQ(outer.status.plan->places.size(), 1U);
  EXPECT_EQ(outer.status.plan->places.front().count, 4) << "the one durable fact";
  // Equal priority: a minimum takes growth, once.
  w.make(job("other", bounds(2, 2)));
  w.cluster.settle(minutes(2));
  EXPECT_EQ(w.running("other").size(), 2U);
  EXPECT_EQ(w.running("bert").size(), 2U);
  outer = w.cluster.read<model::AppWrapper>("aw");
  EXPECT_EQ(outer.status.plan->places.front().count, 2);
  EXPECT_EQ(outer.status.state, "Running");
  w.cluster.settle(minutes(12));
  EXPECT_EQ(w.status("bert").stage, "Completed");
  outer = w.cluster.read<model::AppWrapper>("aw");
  EXPECT_EQ(outer.status.state, "Completed") << outer.status.message;
  EXPECT_FALSE(outer.status.plan);
}

TEST(TrainingController, a_job_inside_an_app_wrapper_is_scaled_live_and_stops_with_it) {
  World w(6);
  w.cluster.create<model::AppWrapper>(wrapping("aw", job("bert", bounds(1, 2))));
  w.cluster.settle(seconds(20));
  const auto before = w.running("bert");
  EXPECT_EQ(before.size(), 2U);
  w.cluster.patch<model::TrainingJob>("bert", R"({"spec":{"maxSize":5}})");
  w.cluster.settle(seconds(30));
  const auto grown = w.running("bert");
  EXPECT_EQ(grown.size(), 5U);
  for (const auto& [name, uid] : before) {
    EXPECT_EQ(grown.at(name), uid) << name;
  }
  w.cluster.patch<model::AppWrapper>("aw", R"({"spec":{"suspend":true}})");
  w.cluster.settle(minutes(3));
  EXPECT_EQ(w.cluster.get<model::TrainingJob>("bert"), nullptr);
  EXPECT_TRUE(w.cluster.list<model::Pod>().empty());
  EXPECT_FALSE(w.cluster.read<model::AppWrapper>("aw").status.plan);
  w.cluster.patch<model::AppWrapper>("aw", R"({"spec":{"suspend":false}})");
  w.cluster.settle(minutes(1));
  EXPECT_EQ(w.running("bert").size(), 2U) << "as the item was written";
}

TEST(TrainingController, a_job_inside_an_app_wrapper_stays_until_its_end_was_seen) {
  World w(2);
  const std::string removed = bounds(2, 2) + R"("runPolicy":{"ttlSecondsAfterFinished":0},)";
  w.cluster.create<model::AppWrapper>(
      wrapping("aw", job("bert", removed, R"("codeflare.dev/duration":"30s")")));
  w.cluster.settle(minutes(5));
  EXPECT_EQ(w.cluster.get<model::TrainingJob>("bert"), nullptr);
  const auto outer = w.cluster.read<model::AppWrapper>("aw");
  EXPECT_EQ(outer.status.state, "Completed") << outer.status.message;
}

TEST(TrainingController, succeeds_when_every_worker_has_and_is_never_run_again) {
  World w(4);
  w.make(job("bert", bounds(2, 2), R"("codeflare.dev/duration":"30s")"));
  w.cluster.settle(minutes(2));
  const model::TrainingJobStatus status = w.status("bert");
  EXPECT_EQ(status.stage, "Completed");
  EXPECT_EQ(status.reason, "Succeeded");
  EXPECT_FALSE(status.plan);
  EXPECT_EQ(status.membership->reason, "Finish");
  EXPECT_TRUE(w.cluster.list<model::Pod>().empty()) << "cleanPodPolicy All";
  w.cluster.patch<model::TrainingJob>("bert", R"({"spec":{"maxSize":4}})");
  w.cluster.settle(minutes(1));
  EXPECT_TRUE(w.cluster.list<model::Pod>().empty());
}

TEST(TrainingController, counts_failures_of_the_program_up_to_the_limit) {
  World w(4);
  w.make(job("bert", bounds(1, 1) + R"("runPolicy":{"backoffLimit":2,"cleanPodPolicy":"None"},)",
             R"("codeflare.dev/duration":"5s","codeflare.dev/exit-code":"3")"));
  w.cluster.settle(minutes(5));
  const model::TrainingJobStatus status = w.status("bert");
  EXPECT_EQ(status.stage, "Completed");
  EXPECT_EQ(status.reason, "BackoffLimitExceeded");
  EXPECT_EQ(status.restart_counts.user, 3);
  EXPECT_NE(status.message.find("exit code 3"), std::string::npos) << status.message;
}

TEST(TrainingController, a_deleted_pod_is_replaced_and_counts_for_nobody) {
  World w(2);
  w.make(job("bert", bounds(2, 2)));
  const auto before = w.running("bert");
  w.cluster.remove<model::Pod>("bert-worker-1");
  w.cluster.settle(minutes(2));
  const auto after = w.running("bert");
  EXPECT_EQ(after.size(), 2U);
  EXPECT_EQ(after.at("bert-worker-0"), before.at("bert-worker-0"));
  EXPECT_NE(after.at("bert-worker-1"), before.at("bert-worker-1"));
  EXPECT_EQ(w.status("bert").restart_counts.user, 0);
}

TEST(TrainingController, suspend_stops_the_pods_and_a_release_starts_them_again) {
  World w(2);
  w.make(job("bert", bounds(1, 2)));
  w.cluster.patch<model::TrainingJob>("bert", R"({"spec":{"runPolicy":{"suspend":true}}})");
  w.cluster.settle(minutes(2));
  EXPECT_EQ(w.status("bert").stage, "Suspended");
  EXPECT_FALSE(w.status("bert").plan);
  EXPECT_TRUE(w.running("bert").empty());
  w.cluster.patch<model::TrainingJob>("bert", R"({"spec":{"runPolicy":{"suspend":false}}})");
  w.cluster.settle(seconds(20));
  EXPECT_EQ(w.status("bert").stage, "Running");
  EXPECT_EQ(w.running("bert").size(), 2U);
}

TEST(TrainingController, a_wrong_spec_is_told_and_mended_by_apply) {
  World w(2);
  w.make(job("bert", bounds(1, 2) + R"("framework":"jax",)"));
  EXPECT_EQ(w.status("bert").stage, "WrongConfiguration");
  EXPECT_NE(w.status("bert").message.find("spec.framework: \"jax\" is unknown"), std::string::npos);
  EXPECT_TRUE(w.cluster.list<model::Pod>().empty());
  w.cluster.patch<model::TrainingJob>("bert", R"({"spec":{"framework":"pytorch"}})");
  w.cluster.settle(seconds(20));
  EXPECT_EQ(w.status("bert").stage, "Running");
}

TEST(TrainingController, some_fields_cannot_change_while_it_runs) {
  World w(2);
  w.make(job("bert", bounds(1, 2) + R"("queue":"a",)"));
  const auto change = [&](const std::string& spec) {
    auto answer =
        *run(w.cluster.env.loop,
             w.cluster.client.patch(model::resource_type<model::TrainingJob>(), {"default", "bert"},
                                    kube::PatchKind::merge, R"({"spec":{)" + spec + "}}"));
    return answer ? std::string() : answer.error().message;
  };
  EXPECT_NE(change(R"("queue":"b")").find("spec.queue cannot be changed while the job runs"),
            std::string::npos);
  EXPECT_NE(change(R"("framework":"generic")").find("spec.framework"), std::string::npos);
  EXPECT_NE(change(R"("runPolicy":{"activeDeadlineSeconds":5})").find("activeDeadlineSeconds"),
            std::string::npos);
  EXPECT_NE(change(R"("runPolicy":{"managedBy":"x.dev/y"})").find("managedBy"), std::string::npos);
  EXPECT_EQ(change(R"("maxSize":1,"priority":3,"runPolicy":{"suspend":true})"), "");
  w.cluster.settle(minutes(2));
  EXPECT_EQ(change(R"("queue":"b")"), "") << "it does not run";
}

TEST(TrainingController, a_job_that_does_not_fit_waits_with_numbers) {
  World w(2);
  w.make(job("bert", bounds(3, 4)));
  const model::TrainingJobStatus status = w.status("bert");
  EXPECT_EQ(status.stage, "Waiting");
  EXPECT_EQ(status.reason, "InsufficientResources");
  EXPECT_NE(status.message.find("needs 3 CPUs"), std::string::npos) << status.message;
}

// A job with agents that never register.
std::string injected(const std::string& name) {
  std::string text = job(name, bounds(1, 1) + R"("injectLattice":true,)");
  text.replace(text.find(R"("image":"i")"), 11, R"("image":"i","command":["train"])");
  return text;
}

TEST(TrainingController, the_first_job_that_saves_remotely_starts_the_checkpoint_service) {
  World w(4, {}, {.lattice = {.starts_checkpoint_service = true}, .agent_image = "codeflare:1"});
  w.make(job("plain", bounds(1, 1)));
  const runtime::ResourceType secrets{"", "v1", "Secret", "secrets", true};
  const runtime::ResourceType sets{"apps", "v1", "StatefulSet", "statefulsets", true};
  const auto get = [&](const runtime::ResourceType& type, const std::string& ns,
                       const std::string& name) {
    return *run(w.cluster.env.loop, w.cluster.client.get(type, {ns, name}));
  };
  EXPECT_FALSE(get(sets, "lattice", "lattice-checkpoint")) << "nobody needs it";
  w.make(injected("bert"));
  const auto set = get(sets, "lattice", "lattice-checkpoint");
  ASSERT_TRUE(set);
  const auto held = get(secrets, "lattice", "lattice-checkpoint-key");
  ASSERT_TRUE(held);
  const Secret key(*from_base64((*held)->string_at({"data", "key"})));
  const auto bert = w.cluster.read<model::TrainingJob>("bert");
  const auto secret = get(secrets, "default", token_secret_name(bert));
  ASSERT_TRUE(secret);
  const auto scope = checkpoint::check_token(
      key, *from_base64((*secret)->string_at({"data", "token"})), w.cluster.env.clock.wall());
  ASSERT_TRUE(scope);
  EXPECT_TRUE(scope->reaches({"default", bert.metadata.uid}));
  EXPECT_FALSE(scope->reaches({"default", "another"}));
  // The next one finds the key that is there.
  w.make(injected("second"));
  const auto second = w.cluster.read<model::TrainingJob>("second");
  const auto other = get(secrets, "default", token_secret_name(second));
  ASSERT_TRUE(other);
  EXPECT_TRUE(checkpoint::check_token(key, *from_base64((*other)->string_at({"data", "token"})),
                                      w.cluster.env.clock.wall()));
}

TEST(TrainingController, nodes_pull_the_image_of_agents_with_the_login_of_the_operator) {
  World w(4, {},
          {.lattice = {.checkpoint_type = "none", .jfrog_path = "/job-secret"},
           .agent_image = "registry.example:8443/lattice/operator:1"});
  ASSERT_TRUE(w.cluster.env.files.make_directories("/job-secret"));
  ASSERT_TRUE(w.cluster.env.files.write("/job-secret/username", "ann"));
  ASSERT_TRUE(w.cluster.env.files.write("/job-secret/password", "sesame\n"));
  w.make(injected("bert"));
  const auto bert = w.cluster.read<model::TrainingJob>("bert");
  const runtime::ResourceType secrets{"", "v1", "Secret", "secrets", true};
  const auto secret =
      *run(w.cluster.env.loop, w.cluster.client.get(secrets, {"default", pull_secret_name(bert)}));
  ASSERT_TRUE(secret);
  EXPECT_EQ((*secret)->string_at({"type"}), "kubernetes.io/dockerconfigjson");
  EXPECT_EQ(*from_base64((*secret)->string_at({"data", ".dockerconfigjson"})),
            R"({"auths":{"registry.example:8443":{"username":"ann","password":"sesame",)"
            R"("auth":"YW5uOnNlc2FtZQ=="}}})");
  const auto pod = w.cluster.read<model::Pod>("bert-worker-0");
  ASSERT_EQ(pod.spec.image_pull_secrets.size(), 1u);
  EXPECT_EQ(pod.spec.image_pull_secrets[0].name, pull_secret_name(bert));
  w.make(job("plain", bounds(1, 1)));
  EXPECT_TRUE(w.cluster.read<model::Pod>("plain-worker-0").spec.image_pull_secrets.empty());
}

TEST(PullSecret, images_without_a_registry_belong_to_docker_hub) {
  EXPECT_EQ(registry_of("registry.example/lattice/operator:1"), "registry.example");
  EXPECT_EQ(registry_of("localhost/operator"), "localhost");
  EXPECT_EQ(registry_of("lattice/operator:1"), "https://index.docker.io/v1/");
  EXPECT_EQ(registry_of("operator:1"), "https://index.docker.io/v1/");
}

TEST(TrainingController, a_worker_of_a_node_that_is_not_ready_starts_elsewhere) {
  World w(2);
  auto more = *run(
      w.cluster.env.loop,
      fakenode::register_fake_nodes(w.cluster.client, {.count = 3, .cpus = model::Quantity(2)}));
  ASSERT_TRUE(more);
  w.make(job("bert", bounds(3, 3)));
  ASSERT_EQ(w.running("bert").size(), 3U);
  std::map<std::string, int> by_node;
  for (const model::Pod& pod : w.cluster.list<model::Pod>()) {
    ++by_node[pod.spec.node_name];
  }
  const std::string lost =
      std::ranges::find(by_node, 1, &std::pair<const std::string, int>::second)->first;
  w.cluster.patch<model::Node>(lost,
                               R"({"metadata":{"annotations":{"codeflare.dev/ready":"false"}}})");
  w.cluster.settle(seconds(20));
  EXPECT_EQ(w.running("bert").size(), 3U) << "it may come back";
  w.cluster.settle(minutes(2));
  for (const model::Pod& pod : w.cluster.list<model::Pod>()) {
    EXPECT_NE(pod.spec.node_name, lost) << pod.metadata.name;
  }
  EXPECT_EQ(w.running("bert").size(), 3U);
  EXPECT_EQ(w.status("bert").restart_counts.infra, 1);
  EXPECT_EQ(w.status("bert").restart_counts.user, 0);
}

TEST(TrainingController, counts_jobs_and_pods_under_the_names_of_the_original) {
  World w(4);
  w.make(job("good", bounds(2, 2), R"("codeflare.dev/duration":"30s")"));
  w.make(job("long", bounds(1, 1) + R"("framework":"generic",)"));
  const std::string uid = w.cluster.read<model::TrainingJob>("long").metadata.uid;
  const auto has = [&](const std::string& line) {
    const std::string text = w.cluster.metrics.expose();
    EXPECT_TRUE(text.contains(line + "\n")) << line << " is not in\n" << text;
  };
  has(R"(training_operator_active_size 3)");
  has(R"(training_operator_cluster_size 1)");
  has("training_operator_live_pods_total{job_namespace=\"default\",job_id=\"" + uid + "\"} 1");
  has("training_operator_running_pods_total{job_namespace=\"default\",job_id=\"" + uid + "\"} 1");
  w.cluster.settle(minutes(2));
  has(R"(training_operator_jobs_successful_total{job_namespace="default",framework="pytorch"} 1)");
  has(R"(training_operator_jobs_created_total{job_namespace="default",framework="generic"} 1)");
  w.cluster.remove<model::TrainingJob>("long");
  w.cluster.settle(minutes(1));
  has(R"(training_operator_jobs_deleted_total{job_namespace="default",framework="generic"} 1)");
  has(R"(training_operator_active_size 0)");
  EXPECT_FALSE(w.cluster.metrics.expose().contains(uid));
}

TEST(TrainingController, is_at_rest_when_nothing_changes) {
  World w(2);
  w.make(job("bert", bounds(1, 2)));
  const auto before = w.cluster.read<model::TrainingJob>("bert").metadata.resource_version;
  w.cluster.settle(minutes(10));
  EXPECT_EQ(w.cluster.read<model::TrainingJob>("bert").metadata.resource_version, before);
}

}  // namespace
}  // namespace codeflare::controllers::trainingjob
