#include "controllers/scale/machine_planner.h"

#include "base/async/sleep.h"
#include "controllers/appwrapper/app_wrapper_object.h"
#include "controllers/scale/access.h"
#include "controllers/scale/machine_nodes.h"
#include "controllers/scale/request_controller.h"
#include "kube/typed.h"
#include "model/codec/core.h"
#include "model/codec/machines.h"
#include "model/codec/node.h"
#include "model/resources.h"
#include "model/training_job.h"
#include "queue/market.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace codeflare::controllers::scale {

using model::MachineRequest;
using model::MachineType;

namespace {

// Planning takes a twentieth of the time at most.
constexpr int kRestPerPlan = 20;
constexpr Duration kRestMax = std::chrono::seconds(1);
constexpr Duration kRetryPause = std::chrono::seconds(1);
constexpr Duration kConfigPause = std::chrono::seconds(30);
constexpr Duration kSentFor = std::chrono::seconds(30);
constexpr std::size_t kUidDigits = 12;

}  // namespace

MachinePlanner::MachinePlanner(runtime::Manager& manager, QueueDriver& driver, Providers providers,
                               PlannerOptions options)
    : env_(manager.env()),
      client_(manager.client()),
      events_(manager.events()),
      types_(manager.cache().informer(model::resource_type<MachineType>())),
      requests_(manager.cache().informer(model::resource_type<MachineRequest>())),
      nodes_(manager.cache().informer(model::resource_type<model::Node>())),
      driver_(driver),
      providers_(std::move(providers)),
      options_(std::move(options)) {
  const auto look_again = [this](const runtime::ObjectChange&) { driver_.reconsider(); };
  types_.add_handler(look_again);
  requests_.add_handler([this](const runtime::ObjectChange& change) {
    if (change.now != nullptr) {
      in_flight_.erase(std::string(change.now->name()));
    }
    driver_.reconsider();
  });
  nodes_.add_handler([this](const runtime::ObjectChange& change) {
    const kube::Object& node = change.now != nullptr ? *change.now : *change.old;
    const std::string name(node.name());
    if (change.now == nullptr || !node.labels_json().contains(queue::kRequestLabel)) {
      machines_.erase(name);
      strangers_.erase(name);
    } else {
      machines_.insert(name);
    }
  });
  driver_.on_waiting([this](queue::Queue& queue, WallTime now) { return plan(queue, now); });
  driver_.set_pod_annotations([this](const std::string& uid, const std::string& node) {
    return pod_annotations(uid, node);
  });
}

MachinePlanner::~MachinePlanner() {
  if (timer_) {
    env_.loop.cancel_timer(*timer_);
  }
}

std::vector<MachineRequest> MachinePlanner::requests() const {
  std::vector<MachineRequest> all;
  for (const kube::ObjectRef& object : requests_.store().list()) {
    if (Result<MachineRequest> request = object->as<MachineRequest>()) {
      all.push_back(*std::move(request));
    }
  }
  for (const auto& [name, request] : in_flight_) {
    if (requests_.store().get({"", name}) == nullptr) {
      all.push_back(request);
    }
  }
  std::ranges::sort(all, {}, [](const MachineRequest& each) { return each.metadata.name; });
  return all;
}

queue::MachineMarket MachinePlanner::market(const std::vector<MachineRequest>& requests) const {
  std::vector<MachineType> types;
  for (const kube::ObjectRef& object : types_.store().list()) {
    if (Result<MachineType> type = object->as<MachineType>()) {
      types.push_back(*std::move(type));
    }
  }
  queue::MarketRules rules{.budget = options_.budget,
                           .namespace_budget = options_.namespace_budget};
  // The smaller of the two.
  if (options_.max_scaleout && (!config_max_ || *options_.max_scaleout <= *config_max_)) {
    rules.machines = options_.max_scaleout;
    rules.machines_name = "--max-scaleout " + std::to_string(*options_.max_scaleout);
  } else if (config_max_) {
    rules.machines = config_max_;
    rules.machines_name = "maxScaleoutAllowed " + std::to_string(*config_max_) + " of ConfigMap " +
                          std::string(kInstaScaleConfigMap);
  }
  rules.complete = [this](const MachineType& type) -> std::optional<model::MachineTypeSpec> {
    const auto provider = providers_.find(type.spec.provider);
    return provider == providers_.end() ? std::nullopt
                                        : std::optional(provider->second->complete(type));
  };
  queue::MachineMarket offered = queue::market_of(types, requests, rules);
  add_clusters(offered);
  return offered;
}

void MachinePlanner::add_clusters(queue::MachineMarket& market) const {
  if (!options_.clusters) {
    return;
  }
  const std::vector<queue::ClusterMachines> clusters = options_.clusters();
  for (const queue::ClusterMachines& cluster : clusters) {
    queue::add_cluster(cluster, market);
  }
  for (const auto& [uid, sent] : sent_) {
    const auto there =
        std::ranges::find(clusters, sent.ask.cluster, &queue::ClusterMachines::cluster);
    // The copy has the name of the work.
    const bool asked = there != clusters.end() &&
                       std::ranges::any_of(there->requests, [&](const MachineRequest& request) {
                         return request.spec.work.ns == sent.ask.work.key.ns &&
                                request.spec.work.name == sent.ask.work.key.name;
                       });
    if (asked || env_.clock.now() >= sent.until) {
      continue;
    }
    for (const auto& [type, count] : sent.ask.machines) {
      const auto offer = std::ranges::find(market.offers, type, &queue::MachineOffer::type);
      if (offer != market.offers.end()) {
        offer->in_use += count;
      }
    }
  }
}

// False: the work may not start there.
bool MachinePlanner::send(const queue::MachineAsk& ask, queue::Queue& queue, WallTime now) {
  if (!queue.start_on_machines(ask, now)) {
    return false;
  }
  options_.logger.info("sends work to a cluster that can have machines for it",
                       {{"object", ask.work.key.to_string()},
                        {"cluster", ask.cluster},
                        {"machines", queue::machines_text(ask.machines)}});
  sent_.insert_or_assign(ask.work.uid,
                         Sent{.ask = ask, .until = after(env_.clock.now(), kSentFor)});
  return true;
}

// A long line takes its time: the queue decides more often than this looks at it.
bool MachinePlanner::due() {
  if (!rest_until_ || env_.loop.now() >= *rest_until_) {
    return true;
  }
  if (!timer_) {
    timer_ = env_.loop.start_timer(*rest_until_, [this] {
      timer_.reset();
      driver_.reconsider();
    });
  }
  return false;
}

bool MachinePlanner::knows_limits() const {
  return config_known_ || options_.config_namespaces.empty() || types_.store().size() == 0;
}

bool MachinePlanner::plan(queue::Queue& queue, WallTime now) {
  if (!types_.synced() || !requests_.synced() || !knows_limits() || !due()) {
    return false;
  }
  const std::vector<MachineRequest> all = requests();
  std::set<std::string> arrived;
  for (const MachineRequest& request : all) {
    if (queue::phase_of(request) == queue::kReady) {
      arrived.insert(request.metadata.name);
    }
  }
  const bool more = queue.set_arrived(std::move(arrived));
  name_strangers();
  if (more) {
    // Gangs that can start now do so first.
    return true;
  }
  const Instant begin = env_.clock.now();
  const queue::MachineMarket offered = market(all);
  queue::MachinePlan plan = queue.plan_machines(offered, now);
  std::erase_if(sent_, [&](const auto& each) { return env_.clock.now() >= each.second.until; });
  bool started = false;
  if (!plan.asks.empty()) {
    for (const queue::MachineAsk& each : plan.asks) {
      if (each.cluster.empty()) {
        ask(each, offered, now);
      } else {
        started = send(each, queue, now) || started;
      }
    }
    // Waiting work gets notes about requested machines, not about future requests.
    plan = queue.plan_machines(market(requests()), now);
  }
  const Duration took = env_.clock.now() - begin;
  rest_until_ = after(env_.loop.now(), std::min<Duration>(took * kRestPerPlan, kRestMax));
  return queue.set_machine_notes(std::move(plan.notes)) || started;
}

// Names are made from the UID, so that a crash between two tries asks for nothing twice.
std::string MachinePlanner::free_name(const std::string& uid) const {
  std::string digits;
  for (const char c : uid) {
    if (c != '-' && digits.size() < kUidDigits) {
      digits += c;
    }
  }
  for (std::size_t n = 0;; ++n) {
    std::string name = "scale-" + digits + "-" + std::to_string(n);
    if (!in_flight_.contains(name) && requests_.store().get({"", name}) == nullptr) {
      return name;
    }
  }
}

void MachinePlanner::ask(const queue::MachineAsk& ask, const queue::MachineMarket& market,
                         WallTime now) {
  MachineRequest request;
  request.metadata.name = free_name(ask.work.uid);
  request.metadata.creation_timestamp = now;
  request.metadata.finalizers.push_back(std::string(kFinalizer));
  for (const auto& [type, count] : ask.machines) {
    const auto offer = std::ranges::find(market.offers, type, &queue::MachineOffer::type);
    request.spec.machines.push_back(
        {.type = type, .provider = offer->spec.provider, .count = count});
  }
  request.spec.work = {
      .kind = ask.work.kind == queue::WorkKind::training_job ? "TrainingJob" : "AppWrapper",
      .ns = ask.work.key.ns,
      .name = ask.work.key.name,
      .uid = ask.work.uid};
  request.spec.labels = ask.labels;
  request.spec.pods = ask.pods;
  options_.logger.info("asks for machines", {{"request", request.metadata.name},
                                             {"for", ask.work.key.to_string()},
                                             {"machines", queue::machines_text(ask.machines)}});
  to_write_.push_back(request.metadata.name);
  in_flight_.emplace(request.metadata.name, std::move(request));
  changed_.notify_all();
}

Task<Result<void>> MachinePlanner::create(MachineRequest request) {
  kube::Api<MachineRequest> api(client_);
  const std::string name = request.metadata.name;
  const std::string uid = request.spec.work.uid;
  const Result<MachineRequest> made = co_await api.create(std::move(request));
  if (made || made.error().code != ErrorCode::already_exists) {
    co_return made ? Result<void>() : fail(made.error());
  }
  CO_TRY_ASSIGN(const MachineRequest there, co_await api.get(name));
  // Written by us before a crash, or before an answer that was lost.
  co_return there.spec.work.uid == uid
      ? Result<void>()
      : fail(conflict("MachineRequest " + name + " is of another object"));
}

// A lasting trace: the reason in the status goes when the work starts.
void MachinePlanner::report(const MachineRequest& request) {
  const model::MachineWork& work = request.spec.work;
  std::vector<std::pair<std::string, std::int64_t>> machines;
  for (const model::MachineAmount& amount : request.spec.machines) {
    machines.emplace_back(amount.type, amount.count);
  }
  const queue::WorkId known = driver_.queue().id(work.uid).value_or(queue::WorkId{});
  const model::ResourceType type = work.kind == "TrainingJob"
                                       ? model::resource_type<model::TrainingJob>()
                                       : app_wrapper_type(known.api);
  events_.normal({type.gvk(), {work.ns, work.name}, work.uid, ""}, "ScalingUp",
                 "asked for " + queue::machines_text(machines) + " (MachineRequest " +
                     request.metadata.name + ")");
}

Task<void> MachinePlanner::write() {
  for (;;) {
    while (to_write_.empty()) {
      if (!co_await changed_.wait()) {
        co_return;
      }
    }
    const std::string name = to_write_.front();
    to_write_.pop_front();
    const auto found = in_flight_.find(name);
    if (found == in_flight_.end()) {
      continue;
    }
    const MachineRequest request = found->second;
    MachineRequest body = request;
    const Result<void> made = co_await create(std::move(body));
    if (made) {
      report(request);
      continue;  // the cache will show it
    }
    if (made.error().code == ErrorCode::cancelled) {
      co_return;
    }
    options_.logger.warn("cannot write a MachineRequest",
                         {{"request", name}, {"error", made.error()}});
    if (!co_await sleep_for(kRetryPause)) {
      co_return;
    }
    in_flight_.erase(name);
    driver_.reconsider();
  }
}

// Nothing: there is no limit. An error: the last one holds.
Task<Result<std::optional<std::int64_t>>> MachinePlanner::read_config() {
  for (const std::string& ns : options_.config_namespaces) {
    kube::Api<model::ConfigMap> maps(client_, ns);
    const Result<model::ConfigMap> map = co_await maps.get(std::string(kInstaScaleConfigMap));
    if (!map && map.error().code != ErrorCode::not_found &&
        map.error().code != ErrorCode::permission_denied) {
      co_return fail(map.error());
    }
    if (!map || !map->data.contains("maxScaleoutAllowed")) {
      continue;
    }
    std::int64_t value = 0;
    const std::string& digits = map->data.find("maxScaleoutAllowed")->second;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size() || value < 0) {
      options_.logger.warn("maxScaleoutAllowed is ignored: expected a whole number",
                           {{"configmap", ns + "/" + std::string(kInstaScaleConfigMap)}});
      continue;
    }
    co_return value;
  }
  co_return std::nullopt;
}

Task<void> MachinePlanner::follow_config() {
  for (;;) {
    // Clusters without types have nothing to limit.
    const bool needed = types_.store().size() > 0;
    config_known_ = config_known_ && needed;
    if (needed) {
      const Result<std::optional<std::int64_t>> found = co_await read_config();
      if (found && (!config_known_ || *found != config_max_)) {
        config_known_ = true;
        config_max_ = *found;
        driver_.reconsider();
      } else if (!found && found.error().code != ErrorCode::cancelled) {
        options_.logger.warn("cannot read the ConfigMap of InstaScale", {{"error", found.error()}});
      }
    }
    if (!co_await sleep_for(config_known_ ? kConfigPause : kRetryPause)) {
      co_return;
    }
  }
}

model::StringMap MachinePlanner::pod_annotations(const std::string& uid,
                                                 const std::string& node) const {
  model::StringMap annotations;
  for (const MachineRequest& request : requests()) {
    if (request.spec.work.uid != uid) {
      continue;
    }
    for (const MachineOrder& order : one_of_each_type(orders_of(request, types_.store()))) {
      const auto provider = providers_.find(order.provider);
      if (provider != providers_.end()) {
        annotations.merge(provider->second->pod_annotations(order, node));
      }
    }
  }
  return annotations;
}

void MachinePlanner::name_strangers() {
  for (const std::string& name : machines_) {
    const kube::ObjectRef node = nodes_.store().get({"", name});
    if (node == nullptr || strangers_.contains(name)) {
      continue;
    }
    const std::string request(node->string_at({"metadata", "labels", queue::kRequestLabel}));
    if (!in_flight_.contains(request) && requests_.store().get({"", request}) == nullptr) {
      strangers_.insert(name);
      options_.logger.warn(
          "Node of a machine without its MachineRequest: nobody can account for it; delete the "
          "Node and the machine if they are not needed",
          {{"node", name}, {"request", request}});
    }
  }
}

}  // namespace codeflare::controllers::scale
