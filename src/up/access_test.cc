#include "up/access.h"

#include "apiserver/request/request_info.h"
#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "base/env/sim_env.h"
#include "base/log_capture.h"
#include "base/split.h"
#include "controllers/access/access_table.h"
#include "kube/client.h"
#include "kube/discovery.h"
#include "model/resources.h"
#include "net/in_process.h"
#include "node/testing/sim_pod_network.h"
#include "node/testing/sim_pod_runtime.h"
#include "up/cluster.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace codeflare::up {
namespace {

using controllers::AccessPart;
using runtime::Right;
using std::chrono::minutes;
using std::chrono::seconds;

// A call as RBAC sees it.
struct Call {
  std::string verb;
  std::string group;
  std::string resource;  // with the subresource
  std::string name;

  friend auto operator<=>(const Call&, const Call&) = default;
  std::string text() const { return verb + " " + resource + "." + group + " " + name; }
};

bool has_word(std::string_view words, std::string_view word) {
  const std::vector<std::string_view> all = split(words, ' ');
  return std::ranges::find(all, word) != all.end();
}

bool covers(const Right& right, const Call& call) {
  return has_word(right.verbs, call.verb) && (right.group == "*" || right.group == call.group) &&
         (right.resources == "*" || has_word(right.resources, call.resource)) &&
         (right.name.empty() || right.name == call.name);
}

// The name that a list or watch is about, as the authorizer of Kubernetes reads it.
std::string selected_name(const apiserver::RequestInfo& info) {
  constexpr std::string_view kByName = "metadata.name=";
  const std::string_view selector = info.query.get("fieldSelector").value_or("");
  return std::string(selector.starts_with(kByName) ? selector.substr(kByName.size()) : "");
}

// Calls that need a right of the caller. Those in another's name need the right to that name.
std::vector<Call> calls_of(const net::Request& request) {
  if (const auto user = request.headers.get("Impersonate-User")) {
    const bool account = user->starts_with("system:serviceaccount:");
    std::vector<Call> calls{{"impersonate", "", account ? "serviceaccounts" : "users", ""}};
    if (request.headers.has("Impersonate-Group")) {
      calls.push_back({"impersonate", "", "groups", ""});
    }
    if (request.headers.has("Impersonate-Uid")) {
      calls.push_back({"impersonate", "authentication.k8s.io", "*", ""});
    }
    return calls;
  }
  const auto info = apiserver::RequestInfo::parse(request.method, request.target);
  if (!info || !info->is_resource) {
    return {};
  }
  return {{info->verb, info->group,
           info->resource + (info->subresource.empty() ? "" : "/" + info->subresource),
           info->name.empty() ? selected_name(*info) : info->name}};
}

// `codeflare up` with one fake node and one whose processes are scripted, in virtual time.
class AccessWorld {
 public:
  AccessWorld() {
    UpOptions options;
    options.server.data_directory = "/data";
    options.server.durability = apiserver::Durability::memory;
    options.queue.legacy_group = true;
    options.queue.queue.core.preemption = true;  // settings worth publishing
    options.nodes.count = 1;
    options.nodes.cpus = model::Quantity(4);
    node::NodeDescription about{.name = "n", .address = "127.0.0.1"};
    about.capacity.set("cpu", model::Quantity(8));
    about.capacity.set("memory", *model::Quantity::parse("16Gi"));
    about.capacity.set("pods", model::Quantity(110));
    about.machine.architecture = "amd64";
    about.version = "test";
    options.process_node.emplace(ProcessNode{.about = about,
                                             .images = {},
                                             .image_file = "/data/node/images.json",
                                             .resolv_conf = {},
                                             .pods = pods,
                                             .logs = logs});
    options.process_node->network = &network;
    options.process_node->claims_directory = "/data/claims";
    options.scale.patience = {.timeout = minutes(1), .down_after = seconds(10)};
    options.on_call = [this](const net::Request& request) {
      for (Call& call : calls_of(request)) {
        seen.insert(std::move(call));
      }
    };
    group_.spawn(go(std::move(options)));
    for (int i = 0; i < 100 && server_ == nullptr && !end_; ++i) {
      settle();
    }
    CHECK(server_ != nullptr);
    service_ = std::make_unique<net::InProcessService>(
        server_->service(),
        net::Peer{.address = "test",
                  .certificate = net::Peer::Certificate{.common_name = "admin",
                                                        .organizations = {"system:masters"}}});
    client = std::make_unique<kube::Client>(env, *service_);
  }
  ~AccessWorld() {
    stop_.request_stop();
    CHECK(run(env.loop, group_.join()));
    EXPECT_TRUE(end_ && *end_);
  }
  AccessWorld(const AccessWorld&) = delete;
  AccessWorld& operator=(const AccessWorld&) = delete;

  void settle(Duration time = seconds(1)) { CHECK(run(env.loop, sleep(time))); }
  // POST of an object, or another method.
  void send(std::string target, std::string body, std::string method = "POST",
            net::Headers headers = {}) {
    kube::Client::RawRequest request{.method = std::move(method),
                                     .target = std::move(target),
                                     .body = std::move(body),
                                     .headers = std::move(headers)};
    if (request.method == "PATCH") {
      request.content_type = "application/merge-patch+json";
    }
    auto answer = *run(env.loop, client->raw(std::move(request)));
    EXPECT_TRUE(answer) << answer.error().to_string();
  }
  void remove(std::string target) { send(std::move(target), "", "DELETE"); }

  SimEnv sim;
  Env env = sim.env();
  MetricsRegistry metrics;
  LogCapture log;
  node::testing::SimPodRuntime pods{env};
  node::testing::SimPodNetwork network;
  node::testing::SimLogFiles logs{env.files};
  std::unique_ptr<kube::Client> client;
  std::set<Call> seen;

 private:
  static Task<void> sleep(Duration time) { static_cast<void>(co_await sleep_for(time)); }
  Task<void> go(UpOptions options) {
    end_ =
        co_await run_up(env, std::move(options), log.logger(env.clock, LogLevel::warn), metrics,
                        stop_.token(), [this](const UpReady& about) { server_ = &about.server; });
  }

  StopSource stop_;
  std::optional<Result<void>> end_;
  apiserver::ApiServer* server_ = nullptr;
  std::unique_ptr<net::InProcessService> service_;
  TaskGroup group_{env.loop};
};

constexpr const char* kCore = "/api/v1/namespaces/default/";
constexpr const char* kApps = "/apis/apps/v1/namespaces/default/";
constexpr const char* kBatch = "/apis/batch/v1/namespaces/default/";

std::string container(std::string more = "") {
  return R"({"name":"c","image":"x","command":["run"],"resources":{"requests":{"cpu":"100m"}})" +
         more + "}";
}

std::string pod_template(std::string more = "") {
  return R"({"metadata":{"labels":{"app":"a"}},"spec":{)" + more + R"("containers":[)" +
         container() + "]}}";
}

// Deployments, StatefulSets, a Service, claims: from their creation to their end.
void run_apps(AccessWorld& w) {
  const std::string at = kApps;
  const std::string spec = R"("replicas":2,"selector":{"matchLabels":{"app":"a"}},"template":)";
  w.send(at + "deployments", R"({"metadata":{"name":"d"},"spec":{)" + spec + pod_template() + "}}");
  w.send(std::string(kCore) + "services",
         R"({"metadata":{"name":"s"},"spec":{"selector":{"app":"a"},"ports":[{"port":80}]}})");
  w.send(at + "statefulsets",
         R"({"metadata":{"name":"st"},"spec":{"serviceName":"s","replicas":2,"selector":)"
         R"({"matchLabels":{"app":"st"}},"template":{"metadata":{"labels":{"app":"st"}},"spec":)"
         R"({"containers":[)" +
             container() +
             R"(]}},"volumeClaimTemplates":[{"metadata":{"name":"v"},"spec":{"accessModes":)"
             R"(["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}]}})");
  w.settle(seconds(20));
  // New revisions, one after the other, so that old ones go; a scale down.
  for (const char* round : {"1", "2", "3", "2"}) {
    const std::string body = std::string(R"({"spec":{"revisionHistoryLimit":1,"template":{)") +
                             R"("metadata":{"annotations":{"round":")" + round + R"("}}}}})";
    w.send(at + "deployments/d", body, "PATCH");
    w.send(at + "statefulsets/st", body, "PATCH");
    w.settle(minutes(3));
  }
  w.send(at + "statefulsets/st", R"({"spec":{"replicas":1}})", "PATCH");
  w.send(at + "deployments/d", R"({"spec":{"replicas":1}})", "PATCH");
  w.settle(minutes(2));
  // Orphans that a set adopts, and a set that a Deployment adopts.
  w.send(std::string(kCore) + "pods",
         R"({"metadata":{"name":"orphan","labels":{"app":"a","pod-template-hash":"0"}},"spec":)"
         R"({"containers":[)" +
             container() + "]}}");
  w.send(
      at + "replicasets",
      R"({"metadata":{"name":"rs","labels":{"app":"a"}},"spec":{"replicas":1,"selector":{"matchLabels":)"
      R"({"pod-template-hash":"0"}},"template":{"metadata":{"labels":{"app":"a",)"
      R"("pod-template-hash":"0"}},"spec":{"containers":[)" +
          container() + "]}}}}");
  w.settle(seconds(20));
  w.remove(at + "deployments/d");
  w.remove(at + "statefulsets/st");
  w.remove(std::string(kCore) + "services/s");
  w.settle(minutes(2));
  w.remove(std::string(kCore) + "persistentvolumeclaims/v-st-0");
  w.settle(minutes(1));
}

void run_jobs(AccessWorld& w) {
  w.send(
      std::string(kBatch) + "jobs",
      R"({"metadata":{"name":"j"},"spec":{"ttlSecondsAfterFinished":5,"template":{"spec":)"
      R"({"nodeName":"n","restartPolicy":"Never","containers":[{"name":"c","image":"x","command":["exit","0"],)"
      R"("env":[{"name":"A","valueFrom":{"configMapKeyRef":{"name":"cm","key":"k"}}}],)"
      R"("volumeMounts":[{"name":"s","mountPath":"/s"},{"name":"p","mountPath":"/p"}]}],)"
      R"("volumes":[{"name":"s","secret":{"secretName":"se"}},)"
      R"({"name":"p","persistentVolumeClaim":{"claimName":"pc"}}]}}}})");
  w.send(std::string(kCore) + "configmaps", R"({"metadata":{"name":"cm"},"data":{"k":"v"}})");
  w.send(std::string(kCore) + "secrets", R"({"metadata":{"name":"se"},"stringData":{"k":"v"}})");
  w.send(std::string(kCore) + "persistentvolumeclaims",
         R"({"metadata":{"name":"pc"},"spec":{"accessModes":["ReadWriteOnce"],"resources":)"
         R"({"requests":{"storage":"1Gi"}}}})");
  w.settle(minutes(3));
}

std::string wrapper(std::string name, std::string item, std::string more = "") {
  return R"({"metadata":{"name":")" + name + R"(","labels":{"t":"root"}},"spec":{)" + more +
         R"("resources":{"GenericItems":[{"replicas":1,"completionstatus":"Complete",)"
         R"("generictemplate":)" +
         item +
         R"(},{"replicas":1,"generictemplate":{"apiVersion":"v1","kind":"ConfigMap",)"
         R"("metadata":{"name":")" +
         name + R"("}}}]}}})";
}

std::string wrapped_job(std::string name, std::string cpu) {
  return R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":")" + name +
         R"("},"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c",)"
         R"("image":"x","command":["exit","0"],"resources":{"requests":{"cpu":")" +
         cpu + R"("}}}]}}}})";
}

void run_queue(AccessWorld& w) {
  w.send("/apis/quota.codeflare.dev/v1alpha1/namespaces/default/quotasubtrees",
         R"({"metadata":{"name":"tree","labels":{"tree":"t"}},"spec":{"children":[{"name":"root",)"
         R"("quotas":{"requests":{"cpu":"100"}}}]}})");
  for (const char* group : {"workload.codeflare.dev", "mcad.ibm.com"}) {
    const std::string at =
        "/apis/" + std::string(group) + "/v1beta1/namespaces/default/appwrappers";
    const std::string name = group[0] == 'w' ? "w" : "m";
    w.send(at, wrapper(name, wrapped_job(name, "1"), R"("ttlSecondsAfterFinished":5,)"));
    w.send(at, wrapper(name + "-big", wrapped_job(name + "-big", "1000")));
    w.settle(minutes(3));
    w.remove(at + "/" + name + "-big");
    w.settle(minutes(1));
  }
  // Of a service account.
  w.send("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
         R"({"metadata":{"name":"sa"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":)"
         R"("ClusterRole","name":"cluster-admin"},"subjects":[{"kind":"ServiceAccount","name":)"
         R"("default","namespace":"default"}]})");
  w.send("/apis/workload.codeflare.dev/v1beta1/namespaces/default/appwrappers",
         wrapper("sa", wrapped_job("sa", "1")), "POST",
         {{"Impersonate-User", "system:serviceaccount:default:default"},
          {"Impersonate-Uid", "uid-of-it"},
          {"Impersonate-Group", "system:authenticated"}});
  w.settle(minutes(1));
  // A worker cluster without a kubeconfig.
  w.send("/apis/dispatch.codeflare.dev/v1alpha1/managedclusters",
         R"({"metadata":{"name":"east"},"spec":{}})");
  w.settle(seconds(20));
  w.remove("/apis/dispatch.codeflare.dev/v1alpha1/managedclusters/east");
  w.settle(seconds(20));
  // A pod that fits nowhere.
  w.send(std::string(kCore) + "pods",
         R"({"metadata":{"name":"huge"},"spec":{"containers":[{"name":"c","image":"x",)"
         R"("command":["run"],"resources":{"requests":{"cpu":"1000"}}}]}})");
  w.settle(minutes(1));
  w.remove(std::string(kCore) + "pods/huge");
}

void run_ray(AccessWorld& w) {
  const std::string pod = R"("rayStartParams":{},"template":)" + pod_template();
  w.send("/apis/ray.io/v1/namespaces/default/rayclusters",
         R"({"metadata":{"name":"r"},"spec":{"rayVersion":"2.60.0",)"
         R"("authOptions":{"mode":"token"},"headGroupSpec":{)" +
             pod +
             R"(},"workerGroupSpecs":[{"groupName":"g","replicas":2,"minReplicas":0,)"
             R"("maxReplicas":9,)" +
             pod + "}]}}");
  w.settle(minutes(1));
  w.send("/apis/ray.io/v1/namespaces/default/rayclusters/r",
         R"({"spec":{"workerGroupSpecs":[{"groupName":"g","replicas":1,"minReplicas":0,)"
         R"("maxReplicas":9,)" +
             pod + "}]}}",
         "PATCH");
  w.settle(minutes(1));
  w.remove("/apis/ray.io/v1/namespaces/default/rayclusters/r");
  w.send("/apis/ray.io/v1/namespaces/default/rayclusters",
         R"({"metadata":{"name":"a"},"spec":{"enableInTreeAutoscaling":true,"headGroupSpec":{)" +
             pod + "}}}");
  w.settle(minutes(1));
  w.remove("/apis/ray.io/v1/namespaces/default/rayclusters/a");
  w.settle(minutes(1));
}

// RayJobs whose jobs are submitted by a pod and by the controller; no dashboard answers here.
void run_ray_jobs(AccessWorld& w) {
  const std::string at = "/apis/ray.io/v1/namespaces/default/rayjobs";
  for (const char* mode : {"K8sJobMode", "HTTPMode"}) {
    const std::string name = mode[0] == 'K' ? "k" : "h";
    w.send(at, R"({"metadata":{"name":")" + name + R"("},"spec":{"entrypoint":"run",)" +
                   R"("shutdownAfterJobFinishes":true,"activeDeadlineSeconds":120,)" +
                   R"("submissionMode":")" + mode + R"(","rayClusterSpec":{"headGroupSpec":{)" +
                   R"("rayStartParams":{},"template":)" + pod_template() + "}}}}");
    w.settle(minutes(5));
    w.remove(at + "/" + name);
    w.settle(minutes(1));
  }
}

void run_runs(AccessWorld& w) {
  const std::string at = "/apis/codeflare.dev/v1alpha1/namespaces/default/";
  w.send(at + "datasets",
         R"({"apiVersion":"codeflare.dev/v1alpha1","kind":"DataSet","metadata":{"name":"data"},)"
         R"("spec":{"inline":{"a.txt":"x"}}})");
  w.send(at + "datasets",
         R"({"apiVersion":"codeflare.dev/v1alpha1","kind":"DataSet","metadata":{"name":"bucket"},)"
         R"("spec":{"s3":{"endpoint":"http://s3","bucket":"b","secret":{"name":"keys"}}}})");
  w.send(at + "images",
         R"({"apiVersion":"codeflare.dev/v1alpha1","kind":"Image","metadata":{"name":"i"},)"
         R"("spec":{"image":"x"}})");
  w.send(at + "applications",
         R"({"apiVersion":"codeflare.dev/v1alpha1","kind":"Application","metadata":{"name":"app"},)"
         R"("spec":{"api":"torch","image":"x","command":"exit 0","inputs":[{"name":"data"}]}})");
  w.send(at + "runs",
         R"({"apiVersion":"codeflare.dev/v1alpha1","kind":"Run","metadata":{"name":"r"},)"
         R"("spec":{"application":{"name":"app"},"size":"xs","workers":2,)"
         R"("ttlSecondsAfterFinished":5,"activeDeadlineSeconds":30}})");
  w.settle(minutes(3));
  w.send(at + "runs",
         R"({"apiVersion":"codeflare.dev/v1alpha1","kind":"Run","metadata":{"name":"s"},)"
         R"("spec":{"application":{"name":"app"},"size":"xs"}})");
  w.settle(seconds(2));
  w.send(at + "runs/s", R"({"spec":{"suspend":true}})", "PATCH");
  w.settle(seconds(20));
  w.remove(at + "images/i");
  w.remove(at + "runs/s");
  w.settle(minutes(1));
}

// With agents that never register; its time is over soon.
void run_agents(AccessWorld& w) {
  w.send("/apis/breezeml.ai/v1/namespaces/default/trainingjobs",
         R"({"apiVersion":"breezeml.ai/v1","kind":"TrainingJob","metadata":{"name":"t"},)"
         R"("spec":{"injectLattice":true,"elastic":{"gracePeriodSeconds":5},"runPolicy":)"
         R"({"activeDeadlineSeconds":30,"ttlSecondsAfterFinished":5},"replicaSpecs":{"template":)"
         R"({"spec":{"containers":[{"name":"trainingjob","image":"x","command":["run"],)"
         R"("resources":{"requests":{"cpu":"1"},"limits":{"cpu":"1"}}}]}}}}})");
  w.settle(minutes(3));
}

// A TrainingJob that ends and is removed after its time.
void run_training_jobs(AccessWorld& w) {
  w.send(
      "/apis/breezeml.ai/v1/namespaces/default/trainingjobs",
      R"({"apiVersion":"breezeml.ai/v1","kind":"TrainingJob","metadata":{"name":"t","labels":{"t":"root"}},)"
      R"("spec":{"minSize":1,"maxSize":1,"runPolicy":{"ttlSecondsAfterFinished":5},)"
      R"("replicaSpecs":{"template":{"spec":{"containers":[{"name":"trainingjob","image":"x",)"
      R"("command":["exit","0"],"resources":{"requests":{"cpu":"1"},"limits":{"cpu":"1"}}}]}}}}})");
  w.settle(minutes(3));
}

// A machine comes for an AppWrapper and goes after it.
void run_machines(AccessWorld& w) {
  w.send("/apis/scale.codeflare.dev/v1alpha1/machinetypes",
         R"({"apiVersion":"scale.codeflare.dev/v1alpha1","kind":"MachineType",)"
         R"("metadata":{"name":"big"},"spec":{"provider":"local","max":1,)"
         R"("capacity":{"cpu":"32","memory":"8Gi"}}})");
  w.send("/apis/workload.codeflare.dev/v1beta1/namespaces/default/appwrappers",
         wrapper("large", wrapped_job("large", "20")));
  w.settle(minutes(1));
  const auto made = [&](std::string_view verb) {
    return std::ranges::any_of(w.seen, [&](const Call& call) {
      return call.verb == verb && call.resource == "nodes" && call.name.starts_with("scale-");
    });
  };
  EXPECT_TRUE(made("delete"));
}

// A node that is deleted registers anew; a fake one becomes not ready; the Lease is lost.
void run_nodes(AccessWorld& w) {
  w.send("/api/v1/nodes/codeflare-fake-0",
         R"({"metadata":{"annotations":{"codeflare.dev/ready":"false"}}})", "PATCH");
  w.settle(minutes(1));
  w.remove("/api/v1/nodes/n");
  w.settle(minutes(2));
  w.remove("/apis/coordination.k8s.io/v1/namespaces/codeflare-system/leases/codeflare-controller");
  w.remove("/api/v1/namespaces/codeflare-system");
  w.settle(minutes(1));
}

void run_everything(AccessWorld& w) {
  run_agents(w);
  run_apps(w);
  run_jobs(w);
  run_queue(w);
  run_ray(w);
  run_ray_jobs(w);
  run_runs(w);
  run_training_jobs(w);
  run_machines(w);
  run_nodes(w);
}

// Calls that need a fault or a restart, and the test that has one.
bool is_made_elsewhere(std::string_view verb, std::string_view resource) {
  return (verb == "get" && resource == "appwrappers") ||        // app_wrapper_faults_test
         (verb == "update" && resource == "nodes") ||           // node_test: a changed description
         (verb == "delete" && resource == "endpointslices") ||  // endpoint_decision_test
         (verb == "patch" && resource == "services") ||         // rayjob: another cluster
         (verb == "delete" && resource == "runs") ||            // run_controller_test
         (verb == "create" && resource == "rayjobs") ||         // tests/platform: Runs of Ray
         (verb == "get" && resource == "machinerequests") ||    // a create whose answer was lost
         (verb == "get" && resource == "trainingjobs") ||       // held to be granted to agents
         (verb == "patch" && resource == "trainingjobs") ||     // dispatch_training_test
         (verb == "create" && resource == "roles") ||           // an apply that creates needs it
         resource.ends_with("/finalizers") ||                   // for blockOwnerDeletion
         (verb == "get" && resource == "pods") ||               // held to be granted to autoscalers
         (verb == "patch" && resource == "pods") ||             // as well
         (verb == "get" && resource == "rayclusters") ||        // as well
         (verb == "patch" && resource == "rayclusters") ||      // as well
         resource == "pods/resize" ||                           // as well
         resource == "pods/log" ||                              // tests/platform: progress of Runs
         resource == "services/proxy";  // rayjob and sdk_own_cluster_test: a dashboard that answers
}

// Informers list where a server cannot stream the objects that exist.
bool is_used(const std::set<Call>& seen, Right right) {
  const auto used = [&] {
    return std::ranges::any_of(seen, [&](const Call& call) { return covers(right, call); });
  };
  if (used()) {
    return true;
  }
  if (right.verbs == "list") {
    right.verbs = "watch";
  }
  return used();
}

bool is_wildcard(const Right& right) {
  return right.resources == "*" && right.group == "*";
}

TEST(UpAccess, controllers_have_every_right_that_they_use) {
  AccessWorld w;
  run_everything(w);
  // By the right to wrapped objects of any kind alone: those that were wrapped here.
  const std::set<std::pair<std::string, std::string>> wrapped = {{"", "configmaps"},
                                                                 {"batch", "jobs"}};
  for (const Call& call : w.seen) {
    bool covered = false;
    for (const AccessPart& part : controllers::up_access()) {
      covered = covered || std::ranges::any_of(part.rights, [&](const Right& right) {
                  return covers(right, call) &&
                         (!is_wildcard(right) || wrapped.contains({call.group, call.resource}));
                });
    }
    EXPECT_TRUE(covered) << "no access.h has the right: " << call.text();
  }
}

TEST(UpAccess, controllers_use_every_right_that_they_have) {
  AccessWorld w;
  run_everything(w);
  for (const AccessPart& part : controllers::up_access()) {
    for (const Right& right : part.rights) {
      for (const std::string_view verb : split(right.verbs, ' ')) {
        for (const std::string_view resource : split(right.resources, ' ')) {
          const Right one{.verbs = verb,
                          .group = right.group,
                          .resources = resource,
                          .why = right.why,
                          .name = right.name};
          EXPECT_TRUE(is_used(w.seen, one) || is_made_elsewhere(verb, resource))
              << "access.h of " << part.name << " has a right that is never used: " << verb << " "
              << resource << "." << right.group << " " << right.name;
        }
      }
    }
  }
}

}  // namespace
}  // namespace codeflare::up
