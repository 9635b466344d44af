#include "up/node.h"

#include "base/async/sleep.h"
#include "base/async/when.h"
#include "kube/typed.h"
#include "model/codec/node.h"
#include "model/node.h"
#include "model/pod.h"
#include "model/resources.h"
#include "node/agent/pod_network.h"
#include "queue/machines.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace codeflare::up {

namespace {

constexpr Duration kSignOffWithin = std::chrono::seconds(5);
constexpr Duration kLookForImages = std::chrono::seconds(1);
constexpr std::string_view kNodePrefix = "codeflare-";

std::vector<const node::NodeDescription*> all_of(const ProcessNode& options) {
  std::vector<const node::NodeDescription*> all{&options.about};
  for (const node::NodeDescription& other : options.others) {
    all.push_back(&other);
  }
  return all;
}

// Nodes beyond the first have names of their own among the controllers.
std::string controller_name(const ProcessNode& options, const node::NodeDescription& about) {
  return &about == &options.about ? "node" : "node-" + about.name;
}

Result<node::ImageTable> read_images(FileSystem& files, const std::string& path) {
  const Result<std::string> text = files.read(path);
  if (!text) {
    return text.error().code == ErrorCode::not_found ? Result<node::ImageTable>()
                                                     : fail(text.error());
  }
  return node::ImageTable::parse(*text);
}

node::ImageTable with_own(node::ImageTable images, const ProcessNode& options) {
  for (const node::ImageEntry& entry : options.own_images) {
    images.add_last(entry);
  }
  return images;
}

bool is_numbered(std::string_view name) {
  return name.starts_with(kNodePrefix) && name.size() > kNodePrefix.size() &&
         name.find_first_not_of("0123456789", kNodePrefix.size()) == std::string_view::npos;
}

// Which node each pod is on, by UID.
Task<Result<std::map<std::string, std::string>>> nodes_of_pods(kube::Client& client) {
  std::map<std::string, std::string> nodes;
  CO_TRY_ASSIGN(const kube::ObjectList pods,
                co_await client.list_all(model::resource_type<model::Pod>(), {}));
  for (const kube::ObjectRef& pod : pods.items) {
    nodes.emplace(pod->uid(), pod->string_at({"spec", "nodeName"}));
  }
  co_return nodes;
}

}  // namespace

UpNode::UpNode(Env env, const ProcessNode& options, const node::NodeDescription& about,
               runtime::Manager& manager, Logger logger)
    : env_(env),
      options_(options),
      about_(about),
      client_(manager.client()),
      logger_(logger),
      agent_(node::add_pod_agent(
          manager, options.pods,
          {.controller = controller_name(options, about),
           .node = about.name,
           .address = about.address,
           .network = options.network,
           .api_in_network = [this] { return api_in_network_; },
           .gpus = static_cast<std::int32_t>(about.capacity.get("nvidia.com/gpu").value()),
           .images = with_own(options.images, options),
           .look_for_images = [this] { return look_for_images(); },
           .allocatable = about.capacity,
           .resolv_conf = options.resolv_conf,
           .probes = options.probes,
           .claims_directory = options.claims_directory,
           .host_paths = options.host_paths,
           .private_places = options.private_places,
           .allow_host_network = options.allow_host_network,
           .api_server = [this] { return api_server_; },
           .logger = logger})) {}

Task<Result<void>> UpNode::register_node() {
  return node::register_node(env_, client_, about_);
}

void UpNode::keep_alive(TaskGroup& group) {
  group.spawn(node::keep_alive(env_, client_, about_, logger_));
  if (!options_.image_file.empty()) {
    group.spawn(follow_images());
  }
}

Task<void> UpNode::follow_images() {
  while (co_await sleep_for(kLookForImages)) {
    co_await look_for_images();
  }
}

// Some may look at once: the table is noted as seen when it is in use, not before.
Task<void> UpNode::look_for_images() {
  if (options_.image_file.empty()) {
    co_return;
  }
  const Result<FileInfo> info =
      co_await run_blocking(env_, [this] { return env_.files.info(options_.image_file); });
  const Seen now = info ? Seen{info->modified, info->size} : Seen{};
  if (images_seen_ == now) {
    co_return;
  }
  Result<node::ImageTable> images =
      co_await run_blocking(env_, [this] { return read_images(env_.files, options_.image_file); });
  if (!images) {
    logger_.warn("image mappings are unchanged",
                 {{"file", options_.image_file}, {"error", images.error()}});
  } else {
    co_await agent_.use_images(with_own(*std::move(images), options_));
  }
  images_seen_ = now;
}

void UpNode::serve_at(ServerPlaces places) {
  // On the machine's network all addresses means this machine too.
  const bool any = places.address == "0.0.0.0" || places.address == "::";
  api_server_ = {any ? "127.0.0.1" : std::move(places.address), std::to_string(places.port)};
  if (options_.network != nullptr) {
    api_in_network_ = {std::move(places.cluster_address), std::to_string(places.cluster_port)};
  }
}

Task<void> UpNode::report_not_ready() {
  const Result<void> told =
      co_await with_timeout(kSignOffWithin, "last report of the node",
                            node::report_not_ready(env_, client_, about_.name));
  if (!told) {
    logger_.warn("the last report of the node failed", {{"error", told.error()}});
  }
}

MachineNode::MachineNode(Env env, kube::Client& client, const ProcessNode& options,
                         node::NodeDescription about, const Logger& logger)
    : about_(std::move(about)),
      manager_(env, client, {.name = "codeflare", .logger = logger}),
      node_(env, options, about_, manager_, logger),
      group_(env.loop) {}

void MachineNode::start() {
  group_.spawn(run_manager(manager_, work_));
  node_.keep_alive(group_);
}

UpNodes::UpNodes(Env env, const ProcessNode& options, runtime::Manager& manager, Logger logger)
    : env_(env),
      options_(options),
      client_(manager.client()),
      logger_(logger),
      logs_(env, options.pods, options.logs),
      http_(env, options.network) {
  if (options.streams != nullptr) {
    streams_.emplace(options.pods, *options.streams);
  }
  for (const node::NodeDescription* about : all_of(options)) {
    nodes_.push_back(std::make_unique<UpNode>(env, options, *about, manager, logger));
  }
}

Task<Result<void>> UpNodes::prepare(PodConnect* connect) {
  CO_TRY(co_await find_machines());
  const std::vector<UpNode*> nodes = all();
  for (UpNode* node : nodes) {
    CO_TRY(co_await node->register_node());
  }
  CO_TRY_ASSIGN(std::vector<node::PodRuntime::Found> found, co_await options_.pods.adopt());
  if (options_.network != nullptr) {
    co_await node::keep_networks(*options_.network, options_.pods, found, logger_);
  }
  std::map<std::string, std::string> places;
  if (nodes.size() > 1) {
    CO_TRY_ASSIGN(places, co_await nodes_of_pods(client_));
  }
  // The first looks after those that are on no node any more: it sees that they are gone.
  std::vector<std::vector<node::PodRuntime::Found>> shares(nodes.size());
  for (node::PodRuntime::Found& one : found) {
    const auto place = places.find(one.spec.uid);
    const auto at = place == places.end()
                        ? nodes.end()
                        : std::ranges::find(nodes, place->second,
                                            [](const UpNode* node) { return node->name(); });
    const auto index = at == nodes.end() ? 0 : at - nodes.begin();
    shares[static_cast<std::size_t>(index)].push_back(std::move(one));
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    nodes[i]->adopt(shares[i]);
  }
  connect_ = connect;
  if (connect != nullptr) {
    connect->serve({.logs = &logs_, .streams = streams_ ? &*streams_ : nullptr, .http = &http_},
                   names());
  }
  co_return Result<void>();
}

std::vector<UpNode*> UpNodes::all() const {
  std::vector<UpNode*> nodes;
  for (const std::unique_ptr<UpNode>& node : nodes_) {
    nodes.push_back(node.get());
  }
  for (const auto& [name, machine] : machines_) {
    nodes.push_back(&machine->node());
  }
  return nodes;
}

// Their Nodes tell what they are.
Task<Result<void>> UpNodes::find_machines() {
  kube::Api<model::Node> api(client_);
  kube::ListOptions ours{.label_selector = std::string(node::kProcessLabel) + "=true," +
                                           std::string(queue::kRequestLabel)};
  CO_TRY_ASSIGN(const kube::Api<model::Node>::List found, co_await api.list(std::move(ours)));
  for (const model::Node& node : found.items) {
    node::NodeDescription about = options_.about;
    about.name = node.metadata.name;
    about.capacity = node.status.capacity;
    about.extras = {.labels = node.metadata.labels, .resources = {}};
    about.taints = {};
    machines_.emplace(node.metadata.name, std::make_unique<MachineNode>(env_, client_, options_,
                                                                        std::move(about), logger_));
  }
  co_return Result<void>();
}

void UpNodes::tell_names() {
  if (connect_ != nullptr) {
    std::set<std::string> served = names();
    served.insert(gone_.begin(), gone_.end());
    connect_->set_nodes(std::move(served));
  }
  if (on_change_) {
    on_change_(names());
  }
}

Task<Result<void>> UpNodes::add(node::NodeDescription about) {
  if (stopping_) {
    co_return fail(unavailable("the cluster stops"));
  }
  const std::string name = about.name;
  if (machines_.contains(name)) {
    co_return Result<void>();
  }
  MachineNode& machine =
      *machines_
           .emplace(name, std::make_unique<MachineNode>(env_, client_, options_, std::move(about),
                                                        logger_))
           .first->second;
  if (places_) {
    machine.node().serve_at(*places_);
  }
  Result<void> registered = co_await machine.node().register_node();
  // The stop of the cluster looks at all of them.
  if (stopping_) {
    co_return fail(unavailable("the cluster stops"));
  }
  if (!registered) {
    machines_.erase(name);
    co_return registered;
  }
  machine.start();
  tell_names();
  co_return Result<void>();
}

Task<Result<void>> UpNodes::remove(std::string name) {
  const auto found = machines_.find(name);
  if (found != machines_.end()) {
    if (stopping_ || !leaving_.insert(name).second) {
      co_return fail(unavailable("node " + name + " is being stopped"));
    }
    MachineNode& machine = *found->second;
    Result<void> ended = co_await machine.node().stop_pods();
    if (!ended) {
      leaving_.erase(name);
      co_return ended;
    }
    co_await machine.stop();
    leaving_.erase(name);
    if (stopping_) {
      co_return fail(unavailable("the cluster stops"));
    }
    machines_.erase(name);
    gone_.insert(name);
    tell_names();
  }
  const Result<kube::ObjectRef> removed =
      co_await client_.remove(model::resource_type<model::Node>(), {"", std::move(name)});
  if (!removed && removed.error().code != ErrorCode::not_found) {
    co_return fail(removed.error());
  }
  co_return Result<void>();
}

std::set<std::string> UpNodes::names() const {
  std::set<std::string> names;
  for (const UpNode* node : all()) {
    names.insert(node->name());
  }
  return names;
}

void UpNodes::keep_alive(TaskGroup& group) {
  for (const std::unique_ptr<UpNode>& node : nodes_) {
    node->keep_alive(group);
  }
  for (const auto& [name, machine] : machines_) {
    machine->start();
  }
}

void UpNodes::serve_at(const ServerPlaces& places) {
  places_ = places;
  for (UpNode* node : all()) {
    node->serve_at(places);
  }
}

Task<Result<void>> UpNodes::serve(apiserver::ApiServer& server, std::string address,
                                  std::uint16_t port) {
  const ServerPlaces places{.address = std::move(address), .port = port};
  serve_at(places);
  if (options_.network == nullptr) {
    co_return Result<void>();
  }
  CO_TRY_ASSIGN(FileDescriptor listener,
                co_await options_.network->listen(places.cluster_address, places.cluster_port));
  co_return server.listen_on(std::move(listener));
}

Task<Result<void>> UpNodes::stop() {
  stopping_ = true;
  const std::vector<UpNode*> nodes = all();
  std::vector<Task<Result<void>>> ends;
  for (UpNode* node : nodes) {
    ends.push_back(node->stop_pods());
  }
  Result<void> ended;
  for (Result<void>& one : co_await when_all(std::move(ends))) {
    if (!one) {
      ended = std::move(one);
    }
  }
  // Streams from pods or to them end before their network does.
  co_await end_streams();
  if (options_.network != nullptr && ended) {
    co_await options_.network->shutdown();
  }
  std::vector<Task<void>> reports;
  for (UpNode* node : nodes) {
    reports.push_back(node->report_not_ready());
  }
  co_await when_all(std::move(reports));
  co_await stop_machines();
  co_return ended;
}

void UpNodes::skip_grace() {
  for (UpNode* node : all()) {
    node->skip_grace();
  }
}

Task<void> UpNodes::leave() {
  stopping_ = true;
  co_await end_streams();
  co_await stop_machines();
}

// None is added or forgotten from here on.
Task<void> UpNodes::stop_machines() {
  for (const auto& [name, machine] : machines_) {
    co_await machine->stop();
  }
}

Task<void> UpNodes::end_streams() {
  if (connect_ != nullptr) {
    connect_->end();
  }
  if (streams_) {
    co_await streams_->close();
  }
}

Task<Result<void>> remove_other_process_nodes(kube::Client& client, const ProcessNode& options) {
  const model::ResourceType nodes = model::resource_type<model::Node>();
  kube::ListOptions ours{.label_selector = std::string(node::kProcessLabel) + "=true"};
  CO_TRY_ASSIGN(const kube::ObjectList found, co_await client.list_all(nodes, std::move(ours)));
  for (const kube::ObjectRef& object : found.items) {
    const bool wanted = std::ranges::any_of(
        all_of(options),
        [&](const node::NodeDescription* about) { return about->name == object->name(); });
    if (wanted || !is_numbered(object->name())) {
      continue;
    }
    const Result<kube::ObjectRef> removed = co_await client.remove(nodes, object->key());
    if (!removed && removed.error().code != ErrorCode::not_found) {
      co_return fail(removed.error());
    }
  }
  co_return Result<void>();
}

}  // namespace codeflare::up
