#include "controllers/appwrapper/testing/queue_world.h"

#include "base/async/sleep.h"
#include "base/check.h"
#include "controllers/appwrapper/app_wrapper_object.h"
#include "controllers/appwrapper/queue_driver.h"
#include "controllers/crds/ensure_crds.h"
#include "json/parse.h"
#include "json/write.h"

#include <gtest/gtest.h>

#include <utility>

namespace codeflare::controllers::testing {

using kube::ObjectRef;
using model::ResourceType;

namespace {

const std::string kNs = "default";

Task<void> wait(Duration time) {
  static_cast<void>(co_await sleep_for(time));
}

model::ObjectKey key_of(const ResourceType& type, std::string name) {
  return {type.namespaced ? kNs : "", std::move(name)};
}

// "/apis/batch/v1/namespaces/default/jobs/a?x" -> "jobs/a"
std::string shown(const std::string& target) {
  std::string path = target.substr(0, target.find('?'));
  const std::size_t ns = path.find("/namespaces/default/");
  return ns == std::string::npos ? path : path.substr(ns + 20);
}

}  // namespace

Task<Result<net::Response>> Wire::send(net::Request request) {
  if (dead_) {
    co_return fail(unavailable("the process is dead"));
  }
  if (intercept) {
    if (std::optional<net::Response> answer = intercept(request)) {
      co_return *std::move(answer);
    }
  }
  const bool event = request.target.contains("/events");
  const bool write = request.method != "GET" && !event;
  if (event && request.method != "GET") {
    events_ += 1;
  }
  if (write) {
    writes_ += 1;
    story_.push_back(request.method + " " + shown(request.target));
    if (cut_at_ && writes_ >= *cut_at_) {
      dead_ = true;
      if (lost_reply_) {
        static_cast<void>(co_await target_->send(std::move(request)));
      }
      co_return fail(deadline_exceeded("the process is dead"));
    }
  }
  Result<net::Response> response = co_await target_->send(std::move(request));
  if (dead_) {
    co_return fail(deadline_exceeded("the process is dead"));
  }
  co_return response;
}

struct QueueWorld::Process {
  Process(Env env, Wire& wire, runtime::ManagerOptions manager_options)
      : client(env, wire, {.attempts_max = 2, .transport_attempts_max = 1}),
        manager(env, client, std::move(manager_options)),
        group(env.loop) {}
  kube::Client client;
  runtime::Manager manager;
  TaskGroup group;
};

QueueWorld::QueueWorld(QueueControllersOptions options, std::uint64_t seed)
    : sim(SimEnv::Options{.seed = seed}),
      options_(std::move(options)),
      server_(start_server()),
      service_(server_->service(),
               {.address = "test",
                .certificate = net::Peer::Certificate{.common_name = "admin",
                                                      .organizations = {"system:masters"},
                                                      .sha256 = {}}}),
      admin(env, service_),
      wire(service_) {
  options_.queue.user_check = options_.submitters.built_in || options_.submitters.seal != nullptr;
  settle();
  auto installed = *run(env.loop, ensure_crds(admin, {.legacy_group = options_.legacy_group}));
  CHECK(installed.has_value(), "the CRDs cannot be installed");
}

QueueWorld::~QueueWorld() {
  if (process_) {
    crash();
  }
  CHECK(run(env.loop, server_->stop({})));
}

std::unique_ptr<apiserver::ApiServer> QueueWorld::start_server() {
  auto started = *run(
      env.loop, apiserver::ApiServer::start(
                    env, {.data_directory = "/data", .durability = apiserver::Durability::memory},
                    log.logger(env.clock, LogLevel::warn), metrics));
  CHECK(started.has_value());
  return std::move(*started);
}

void QueueWorld::start() {
  wire.mend();
  process_ = std::make_unique<Process>(
      env, wire, runtime::ManagerOptions{.name = "codeflare", .logger = log.logger(env.clock)});
  QueueControllersOptions options = options_;
  options.logger = log.logger(env.clock);
  options.mend_definitions = mend;
  add_queue_controllers(process_->manager, std::move(options));
  process_->group.spawn(run_manager(process_->manager));
  settle();
}

void QueueWorld::crash() {
  CHECK(run(env.loop, process_->group.close()));
  process_.reset();
}

std::string QueueWorld::why_not_ready() const {
  return process_->manager.why_not_ready();
}

Task<void> QueueWorld::run_manager(runtime::Manager& manager) {
  static_cast<void>(co_await manager.run());
}

void QueueWorld::settle(Duration time) {
  CHECK(run(env.loop, wait(time)));
}

void QueueWorld::add_node(std::string_view name, std::string_view cpus) {
  const std::string named(name);
  if (get(kNodes, named) == nullptr) {
    create(kNodes, R"({"metadata":{"name":")" + named + R"("}})");
  }
  const std::string amounts =
      R"({"cpu":")" + std::string(cpus) + R"(","memory":"64Gi","pods":"110"})";
  patch(kNodes, named,
        R"({"status":{"conditions":[{"type":"Ready","status":"True"}],"allocatable":)" + amounts +
            R"(,"capacity":)" + amounts + "}}",
        "status");
  patch(kNodes, named, R"({"spec":{"taints":null}})");
}

void QueueWorld::create(std::string_view name, std::string_view items, std::string_view spec) {
  create(
      kAppWrappers,
      R"({"apiVersion":"workload.codeflare.dev/v1beta1","kind":"AppWrapper","metadata":{"name":")" +
          std::string(name) + R"("},"spec":{)" + std::string(spec) +
          R"("resources":{"GenericItems":[)" + std::string(items) + "]}}}");
}

ObjectRef QueueWorld::create(const ResourceType& type, std::string body) {
  auto made = *run(env.loop, admin.create(type, type.namespaced ? kNs : "", std::move(body)));
  EXPECT_TRUE(made) << made.error().to_string();
  return made ? *made : nullptr;
}

void QueueWorld::patch(const ResourceType& type, std::string name, std::string body,
                       std::string subresource) {
  auto done =
      *run(env.loop, admin.patch(type, key_of(type, std::move(name)), kube::PatchKind::merge,
                                 std::move(body), {.subresource = std::move(subresource)}));
  EXPECT_TRUE(done) << done.error().to_string();
}

void QueueWorld::remove(const ResourceType& type, std::string name, kube::DeleteOptions options) {
  auto done = *run(env.loop, admin.remove(type, key_of(type, std::move(name)), std::move(options)));
  EXPECT_TRUE(done) << done.error().to_string();
}

ObjectRef QueueWorld::get(const ResourceType& type, std::string name) {
  auto found = *run(env.loop, admin.get(type, key_of(type, std::move(name))));
  return found ? *found : nullptr;
}

std::vector<ObjectRef> QueueWorld::list(const ResourceType& type) {
  auto found = *run(env.loop, admin.list(type, {}));
  return found ? found->items : std::vector<ObjectRef>();
}

model::AppWrapper QueueWorld::wrapper(std::string name) {
  ObjectRef object = get(kAppWrappers, name);
  if (object == nullptr) {
    ADD_FAILURE() << "no AppWrapper " << name;
    return {};
  }
  return *to_app_wrapper(*object);
}

std::string QueueWorld::history(std::string name) {
  std::string text;
  for (const model::AppWrapperCondition& entry : status(std::move(name)).conditions) {
    if (entry.type != "Queued") {
      text += (text.empty() ? "" : " ") + entry.type;
    }
  }
  return text;
}

std::string QueueWorld::message(std::string name, std::string_view type) {
  for (const model::AppWrapperCondition& entry : status(std::move(name)).conditions) {
    if (entry.type == type) {
      return entry.message;
    }
  }
  return {};
}

void QueueWorld::run_pod(std::string job, std::string pod, std::string node, std::string phase) {
  ObjectRef owner = get(kJobs, job);
  ASSERT_NE(owner, nullptr) << "no Job " << job;
  json::Document document = *owner->parse();
  const json::Value* labels = document.root.get({"spec", "template", "metadata", "labels"});
  const json::Value* spec = document.root.get({"spec", "template", "spec"});
  json::Value pod_spec = *spec;
  pod_spec.set_static(document.arena, "nodeName", json::Value::string_view_of(node));
  std::string body;
  json::Writer w(body);
  w.begin_object().key("metadata").begin_object().member("name", pod);
  w.key("labels").value(*labels).key("ownerReferences").begin_array().begin_object();
  w.member("apiVersion", "batch/v1").member("kind", "Job").member("name", job);
  w.member("uid", owner->uid()).key("controller").boolean(true).end_object().end_array();
  w.end_object().key("spec").value(pod_spec).end_object();
  create(kPods, std::move(body));
  set_phase(pod, std::move(phase));
}

void QueueWorld::set_phase(std::string pod, std::string phase) {
  patch(kPods, std::move(pod), R"({"status":{"phase":")" + phase + R"("}})", "status");
}

void QueueWorld::complete(std::string job) {
  const std::string now = to_rfc3339(env.clock.wall());
  patch(kJobs, std::move(job),
        R"({"status":{"startTime":")" + now + R"(","completionTime":")" + now +
            R"(","conditions":[{"type":"SuccessCriteriaMet","status":"True"},)" +
            R"({"type":"Complete","status":"True"}]}})",
        "status");
}

std::string job_item(std::string_view name, int pods, std::string_view cpu) {
  const std::string count = std::to_string(pods);
  return R"({"completionstatus":"Complete","generictemplate":{"apiVersion":"batch/v1","kind":"Job",)"
         R"("metadata":{"name":")" +
         std::string(name) + R"("},"spec":{"parallelism":)" + count + R"(,"completions":)" + count +
         R"(,"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i",)"
         R"("resources":{"requests":{"cpu":")" +
         std::string(cpu) + R"("}}}]}}}}})";
}

}  // namespace codeflare::controllers::testing
