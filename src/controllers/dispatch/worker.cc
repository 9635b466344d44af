#include "controllers/dispatch/worker.h"

#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "controllers/appwrapper/app_wrapper_object.h"
#include "controllers/appwrapper/trim.h"
#include "controllers/dispatch/copy_object.h"
#include "controllers/dispatch/fence.h"
#include "controllers/dispatch/marks.h"
#include "controllers/pods_type.h"
#include "json/parse.h"
#include "json/write.h"
#include "kube/config.h"
#include "kube/ensure_namespace.h"
#include "model/codec/machines.h"
#include "model/managed_cluster.h"
#include "model/resources.h"
#include "net/connect_error.h"
#include "queue/marks.h"
#include "runtime/transform.h"

#include <algorithm>
#include <utility>

namespace codeflare::controllers::dispatch {

namespace mc = model::managed_cluster;
using runtime::Informer;
using runtime::InformerOptions;
using runtime::ObjectChange;

namespace {

const model::ResourceType kNodes{"", "v1", "Node", "nodes", false};
const model::ResourceType kNamespaces{"", "v1", "Namespace", "namespaces", false};
const model::ResourceType kLeases{"coordination.k8s.io", "v1", "Lease", "leases", true};
constexpr Duration kWatchBackoffMax = std::chrono::seconds(5);
// Older workers do not serve machines, and older accounts may not see them.
constexpr Duration kMachinesBackoffMax = std::chrono::minutes(1);
constexpr std::string_view kSystemNamespace = "kube-system";

InformerOptions informer_options(std::function<kube::ObjectRef(kube::ObjectRef)> transform) {
  InformerOptions options;
  options.transform = std::move(transform);
  options.watch.backoff_max = kWatchBackoffMax;
  return options;
}

void by_owner(const kube::Object& pod, std::vector<std::string>& keys) {
  const std::string_view labels = pod.labels_json();
  if (labels.find(queue::kUidLabel) == std::string_view::npos) {
    return;
  }
  const Result<json::Document> parsed = json::parse_in_place(labels);
  const std::string_view owner = parsed ? parsed->root.string_or_empty(queue::kUidLabel) : "";
  if (!owner.empty()) {
    keys.emplace_back(owner);
  }
}

// A client and the connection that it needs.
struct Linked {
  Linked(Env env, std::unique_ptr<kube::Connection> connection_in, kube::ClientOptions options)
      : connection(std::move(connection_in)),
        client(env, connection->service(), std::move(options)) {}
  std::unique_ptr<kube::Connection> connection;
  kube::Client client;
};

std::string_view reason_of(const Error& error) {
  const std::optional<net::ConnectStep> step = net::connect_step(error);
  if (step == net::ConnectStep::trust || step == net::ConnectStep::name) {
    return mc::kReasonCertificate;
  }
  switch (error.code) {
    case ErrorCode::unauthenticated:
      return mc::kReasonUnauthorized;
    case ErrorCode::permission_denied:
      return mc::kReasonForbidden;
    default:
      return mc::kReasonUnreachable;
  }
}

// Fields that lead out of the text.
std::string outside(const kube::Kubeconfig& kubeconfig) {
  for (const kube::ClusterEntry& cluster : kubeconfig.clusters) {
    if (!cluster.certificate_authority.empty()) {
      return cluster.place.path + ".certificate-authority";
    }
  }
  for (const kube::UserEntry& user : kubeconfig.users) {
    const std::pair<bool, std::string_view> fields[] = {
        {!user.client_certificate.empty(), "client-certificate"},
        {!user.client_key.empty(), "client-key"},
        {!user.token_file.empty(), "tokenFile"},
        {user.exec.has_value(), "exec"},
    };
    for (const auto& [used, field] : fields) {
      if (used) {
        return user.place.path + "." + std::string(field);
      }
    }
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<kube::Connection>> connect_worker(Env env, const std::string& kubeconfig,
                                                         const std::string& origin) {
  TRY_ASSIGN(const kube::Kubeconfig parsed, kube::parse_kubeconfig(kubeconfig, origin));
  if (const std::string field = outside(parsed); !field.empty()) {
    return fail(invalid_argument(origin + ": " + field +
                                 ": files and programs cannot be used here; put the data itself "
                                 "into the kubeconfig (kubectl config view --raw --flatten)"));
  }
  TRY_ASSIGN(kube::Config config, kube::resolve_config(env.files, parsed));
  return kube::connect(env, std::move(config), {.user_agent = "codeflare-hub"});
}

LinkState link_state(const Error& error) {
  return {.reason = std::string(reason_of(error)), .message = error.message};
}

Worker::Worker(Env env, Listener& listener, std::unique_ptr<kube::Connection> connection,
               LinkState state, Options options)
    : env_(env), listener_(listener), options_(std::move(options)), state_(std::move(state)) {
  if (connection == nullptr) {
    refused_ = true;
    return;
  }
  connection_ = connection.get();
  kube::ClientOptions client_options{.user_agent = "codeflare-hub",
                                     .host = connection->host(),
                                     .attempts_max = 2,
                                     .transport_attempts_max = 2,
                                     .request_timeout = options_.times.request_timeout};
  auto linked = std::make_shared<Linked>(env, std::move(connection), std::move(client_options));
  client_ = std::shared_ptr<kube::Client>(linked, &linked->client);
  nodes_ = std::make_unique<Informer>(env, *client_, kNodes, informer_options(trimmed_node));
  pods_ = std::make_unique<Informer>(env, *client_, kPods, informer_options(trimmed_pod));
  pods_->add_index(std::string(kByOwner), by_owner);
  copies_ = copies_of(WorkKind::app_wrapper, synced_);
  training_ = copies_of(WorkKind::training_job, training_synced_);
  training_problem_ = "has not told yet whether it takes TrainingJobs";
  InformerOptions machines = informer_options(runtime::without_managed_fields);
  machines.watch.backoff_max = kMachinesBackoffMax;
  machine_types_ = std::make_unique<Informer>(env, *client_,
                                              model::resource_type<model::MachineType>(), machines);
  machine_requests_ = std::make_unique<Informer>(
      env, *client_, model::resource_type<model::MachineRequest>(), std::move(machines));
  for (Informer* each : {machine_types_.get(), machine_requests_.get()}) {
    each->add_handler([this](const ObjectChange&) { listener_.machines_changed(*this); });
  }
  nodes_->add_handler([this](const ObjectChange& change) {
    if (synced_) {
      listener_.node_changed(*this, change);
    }
  });
  pods_->add_handler([this](const ObjectChange& change) {
    if (synced_) {
      listener_.pod_changed(*this, change);
    }
  });
}

Worker::~Worker() = default;

// The listener hears of changes while `known` is true.
std::unique_ptr<Informer> Worker::copies_of(WorkKind kind, const bool& known) {
  InformerOptions options = informer_options(runtime::without_managed_fields);
  options.watch.label_selector = std::string(kCopyLabel) + "=" + options_.hub;
  auto informer = std::make_unique<Informer>(env_, *client_, copy_type(kind), std::move(options));
  informer->add_handler([this, kind, &known](const ObjectChange& change) {
    if (known) {
      listener_.copy_changed(*this, kind, change);
    }
  });
  return informer;
}

Informer* Worker::copies(WorkKind kind) const {
  if (kind == WorkKind::training_job) {
    return training_synced_ ? training_.get() : nullptr;
  }
  return copies_.get();
}

std::string Worker::server() const {
  return connection_ == nullptr ? std::string() : connection_->config().server;
}

void Worker::refuse(LinkState state) {
  refused_ = true;
  set_state(std::move(state));
}

void Worker::set_state(LinkState state) {
  if (state == state_) {
    return;
  }
  const bool news = state.connected != state_.connected || state.reason != state_.reason;
  state_ = std::move(state);
  if (news && state_.connected) {
    options_.logger.info("worker cluster connected",
                         {{"cluster", options_.name}, {"server", server()}});
  } else if (news) {
    options_.logger.warn(
        "worker cluster not connected",
        {{"cluster", options_.name}, {"reason", state_.reason}, {"message", state_.message}});
  }
  listener_.link_changed(*this);
}

Task<void> Worker::run() {
  if (client_ == nullptr) {
    co_return;
  }
  const TaskContext& context = co_await current_context();
  TaskGroup group(*context.loop, context.stop);
  bool follows = false;
  bool follows_training = false;
  while (!context.stop.stop_requested()) {
    LinkState state = co_await probe();
    if (context.stop.stop_requested()) {
      break;
    }
    if (!refused_) {
      set_state(std::move(state));
    }
    if (state_.connected && !follows) {
      follows = true;
      for (Informer* each : {nodes_.get(), pods_.get(), copies_.get(), machine_types_.get(),
                             machine_requests_.get()}) {
        group.spawn(each->run());
      }
      group.spawn(follow());
    }
    if (state_.connected && serves_training_ && !follows_training) {
      follows_training = true;
      group.spawn(training_->run());
      group.spawn(follow_training());
    }
    if (state_.connected && keeps_lease_) {
      co_await renew_lease();
    }
    if (!co_await sleep_for(options_.times.probe_every)) {
      break;
    }
  }
  co_await group.close();
}

// --- the sign of life of this hub ---

Task<void> Worker::renew_lease() {
  const Instant begin = env_.clock.now();
  auto writing = write_lease();
  const Result<kube::ObjectRef> written = co_await with_timeout(
      options_.times.probe_timeout, "renewal of the hub's Lease", std::move(writing));
  // A try that failed may have reached the server anyway.
  lease_tried_ = env_.clock.now();
  const std::string before = std::exchange(lease_problem_, "");
  if (written) {
    lease_version_ = (*written)->resource_version();
    lease_renewed_ = begin;
    co_return;
  }
  lease_version_.clear();
  lease_problem_ = written.error().message;
  if (lease_problem_ != before) {
    options_.logger.warn("cannot renew the hub's Lease on a worker cluster",
                         {{"cluster", options_.name}, {"error", written.error()}});
  }
}

Task<Result<kube::ObjectRef>> Worker::write_lease() {
  const model::ObjectKey key{std::string(queue::kControllerNamespace),
                             hub_lease_name(options_.name)};
  bool exists = !lease_version_.empty();
  if (!exists) {
    const Result<kube::ObjectRef> found = co_await client_->get(kLeases, key);
    if (!found && found.error().code != ErrorCode::not_found) {
      co_return fail(found.error());
    }
    exists = found.has_value();
    const std::string holder = found ? (*found)->string_at({"spec", "holderIdentity"}) : "";
    if (!holder.empty() && holder != options_.hub) {
      co_return fail(failed_precondition("Lease " + key.to_string() + " is held by another hub (" +
                                         holder + "); add this cluster under another name"));
    }
    lease_version_ = found ? (*found)->resource_version() : "";
  }
  std::string body;
  json::Writer w(body);
  w.begin_object().key("metadata").begin_object().member("name", key.name);
  w.member_if_set("resourceVersion", lease_version_).end_object();
  w.key("spec").begin_object().member("holderIdentity", options_.hub);
  w.member("renewTime", to_rfc3339(env_.clock.wall(), 6)).end_object().end_object();
  if (exists) {
    co_return co_await client_->patch(kLeases, key, kube::PatchKind::merge, std::move(body));
  }
  Result<kube::ObjectRef> made = co_await client_->create(kLeases, key.ns, std::move(body));
  if (!made && made.error().code == ErrorCode::not_found) {
    CO_TRY(co_await kube::ensure_namespace(*client_, key.ns));
  }
  co_return made;
}

// The listener hears of objects once all of them are known.
Task<void> Worker::follow() {
  Informer* const all[] = {nodes_.get(), pods_.get(), copies_.get()};
  for (Informer* each : all) {
    if (!co_await each->wait_synced()) {
      co_return;
    }
  }
  synced_ = true;
  listener_.link_changed(*this);
}

std::optional<queue::ClusterMachines> Worker::machines() const {
  if (client_ == nullptr || !machine_types_->synced() || !machine_requests_->synced()) {
    return std::nullopt;
  }
  queue::ClusterMachines machines{.cluster = options_.name};
  for (const kube::ObjectRef& object : machine_types_->store().list()) {
    if (Result<model::MachineType> type = object->as<model::MachineType>()) {
      machines.types.push_back(*std::move(type));
    }
  }
  for (const kube::ObjectRef& object : machine_requests_->store().list()) {
    if (Result<model::MachineRequest> request = object->as<model::MachineRequest>()) {
      machines.requests.push_back(*std::move(request));
    }
  }
  return machines;
}

// Copies that are known only now: after rights were given, or a definition was installed.
Task<void> Worker::follow_training() {
  if (!co_await training_->wait_synced()) {
    co_return;
  }
  training_synced_ = true;
  training_problem_.clear();
  for (const kube::ObjectRef& object : training_->store().list()) {
    listener_.copy_changed(*this, WorkKind::training_job, ObjectChange{nullptr, object, true});
  }
  listener_.link_changed(*this);
}

// Each time until the worker serves them to us.
Task<void> Worker::look_at_training() {
  if (!options_.training_jobs || serves_training_) {
    co_return;
  }
  const model::ResourceType type = copy_type(WorkKind::training_job);
  const Result<kube::ObjectList> served =
      co_await client_->list(type, {.limit = 1, .metadata_only = true});
  serves_training_ = served.has_value();
  if (!served && served.error().code == ErrorCode::not_found) {
    training_problem_ = "does not serve " + type.qualified_name();
  } else if (!served && served.error().code == ErrorCode::permission_denied) {
    training_problem_ = "does not let this hub list TrainingJobs; run codeflare cluster add again";
  }
}

Task<LinkState> Worker::probe() {
  const Instant begin = env_.clock.now();
  auto looking = look();
  const Result<void> seen = co_await with_timeout(
      options_.times.probe_timeout, "answer of cluster " + options_.name, std::move(looking));
  if (seen) {
    round_trip_ = env_.clock.now() - begin;
    last_seen_ = std::chrono::floor<std::chrono::seconds>(env_.clock.wall());
    co_return LinkState{.connected = true, .reason = std::string(mc::kReasonConnected)};
  }
  // The code of a wrong certificate, too.
  if (seen.error().code == ErrorCode::failed_precondition && !net::connect_step(seen.error())) {
    const bool other = !options_.expected_id.empty() && id_ != options_.expected_id;
    co_return LinkState{
        .reason = std::string(other ? mc::kReasonAnotherCluster : mc::kReasonDefinitionsMissing),
        .message = seen.error().message};
  }
  co_return link_state(seen.error());
}

// Checks the worker's identity, each time: behind the same address may be another cluster tomorrow.
Task<Result<void>> Worker::look() {
  CO_TRY_ASSIGN(const kube::ObjectRef system,
                co_await client_->get(kNamespaces, {"", std::string(kSystemNamespace)}));
  co_await look_at_training();
  const bool first = id_ != system->uid() || !state_.connected;
  id_ = system->uid();
  if (!options_.expected_id.empty() && id_ != options_.expected_id) {
    co_return fail(failed_precondition(
        "the kubeconfig leads to another cluster than before (kube-system has UID " + id_ +
        ", was " + options_.expected_id + "); remove this ManagedCluster and add a new one"));
  }
  if (!first) {
    co_return Result<void>();
  }
  const model::ResourceType wrappers = app_wrapper_type(model::WrapperApi::workload_v1beta1);
  const Result<kube::ObjectList> served =
      co_await client_->list(wrappers, {.limit = 1, .metadata_only = true});
  if (!served && served.error().code == ErrorCode::not_found) {
    co_return fail(failed_precondition("the cluster does not serve " + wrappers.qualified_name() +
                                       "; run codeflare controller --install-crds there"));
  }
  if (!served) {
    co_return fail(served.error());
  }
  const Result<kube::Client::RawResponse> version = co_await client_->raw({.target = "/version"});
  if (version) {
    const Result<json::Document> parsed = json::parse(version->body);
    version_ = parsed ? std::string(parsed->root.string_or_empty("gitVersion")) : "";
  }
  co_return Result<void>();
}

}  // namespace codeflare::controllers::dispatch
