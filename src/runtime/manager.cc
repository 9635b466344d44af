#include "runtime/manager.h"

#include "base/async/task_group.h"
#include "base/check.h"
#include "base/metrics.h"
#include "net/server.h"
#include "runtime/health_service.h"

#include <algorithm>
#include <charconv>

namespace codeflare::runtime {

namespace {

constexpr Duration kHealthDrain = std::chrono::seconds(1);

struct Address {
  std::string host;
  std::uint16_t port = 0;
};

// "host:port", with brackets around an IPv6 host.
Result<Address> parse_address(const std::string& text) {
  auto colon = text.rfind(':');
  Address address;
  std::string_view port = std::string_view(text).substr(colon == std::string::npos ? 0 : colon + 1);
  auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
  if (colon == std::string::npos || port.empty() || error != std::errc() ||
      end != port.data() + port.size()) {
    return fail(invalid_argument("health address '" + text +
                                 "': expected host:port such as 127.0.0.1:8081"));
  }
  address.host = text.substr(0, colon);
  if (address.host.starts_with('[') && address.host.ends_with(']')) {
    address.host = address.host.substr(1, address.host.size() - 2);
  }
  if (address.host.empty()) {
    address.host = "0.0.0.0";
  }
  return address;
}

}  // namespace

Manager::Manager(Env env, kube::Client& client, ManagerOptions options)
    : env_(env),
      client_(client),
      options_(std::move(options)),
      cache_(env, client, &options_.logger),
      events_(env, client, options_.name) {}

Manager::~Manager() = default;

Task<Result<void>> Manager::run() {
  const TaskContext& context = co_await current_context();
  HealthService health({.why_not_ready = [this] { return why_not_ready(); },
                        .metrics = options_.metrics == nullptr
                                       ? std::function<std::string()>()
                                       : [this] { return options_.metrics->expose(); },
                        .ready_note = options_.ready_note});
  std::optional<net::HttpServer> server;
  if (!options_.health_address.empty()) {
    CO_TRY_ASSIGN(Address address, parse_address(options_.health_address));
    server.emplace(env_, health, net::ServerOptions());
    CO_TRY_ASSIGN(health_port_, server->listen(address.host, address.port));
    options_.logger.info("serving health and metrics", {{"port", *health_port_}});
  }
  // Not under our stop token: controllers that wind down still need caches and events.
  TaskGroup support(*context.loop);
  support.spawn(cache_.run());
  support.spawn(events_.run());
  TaskGroup unled(*context.loop, context.stop);
  if (has_unled()) {
    unled.spawn(run_controllers(false, StopToken()));
  }
  Result<void> result;
  if (options_.leader) {
    options_.leader->logger = options_.logger;
    LeaderElector elector(env_, client_, *options_.leader);
    elector.on_change([this](bool leading) { set_leading(leading); });
    show_leading(false);
    elector_ = &elector;
    result = co_await elector.lead([this](StopToken lost) { return run_controllers(true, lost); });
    elector_ = nullptr;
  } else {
    leading_ = true;
    co_await run_controllers(true, StopToken());
    leading_ = false;
  }
  co_await unled.close();
  co_await support.close();
  if (server) {
    co_await server->drain(kHealthDrain);
  }
  co_return result;
}

Task<void> Manager::run_controllers(bool led, StopToken abort) {
  const TaskContext& context = co_await current_context();
  TaskGroup group(*context.loop, context.stop);
  for (const Entry& entry : controllers_) {
    if (entry.led == led) {
      group.spawn(entry.controller->run(abort));
    }
  }
  for (const Work& work : work_) {
    if (work.led == led) {
      group.spawn(work.run());
    }
  }
  co_await group.join();
}

bool Manager::has_unled() const {
  const auto unled = [](const auto& entry) { return !entry.led; };
  return std::ranges::any_of(controllers_, unled) || std::ranges::any_of(work_, unled);
}

void Manager::add_work(std::function<Task<void>()> work) {
  work_.push_back({std::move(work), led_});
}

void Manager::set_leading(bool leading) {
  leading_ = leading;
  options_.logger.info(leading ? "became leader" : "no longer leader",
                       {{"lease", options_.leader->ns + "/" + options_.leader->name},
                        {"identity", options_.leader->identity}});
  show_leading(leading);
}

// A follower shows 0: one that says nothing looks like one that is gone.
void Manager::show_leading(bool leading) {
  if (options_.metrics != nullptr) {
    options_.metrics
        ->gauges("leader_election_master_status", "1 while this process leads.", {"name"})
        .with({options_.leader->name})
        .set(leading ? 1 : 0);
  }
}

std::string Manager::why_not_ready() const {
  std::string missing = cache_.why_not_synced();
  if (elector_ != nullptr && !elector_->trouble().empty()) {
    missing += (missing.empty() ? "" : ", ") + elector_->trouble();
  }
  return missing;
}

Manager::Builder::Builder(Manager& manager, std::string name) : manager_(manager) {
  options_.name = std::move(name);
  options_.logger = manager.options_.logger.with({{"controller", options_.name}});
  options_.metrics = manager.options_.metrics;
}

Manager::Builder& Manager::Builder::reconciles(const ResourceType& type, Predicate predicate,
                                               InformerOptions options) {
  CHECK(!subject_, "a controller reconciles one kind");
  subject_ = type;
  return watches(type, to_self(), std::move(predicate), std::move(options));
}

Manager::Builder& Manager::Builder::owns(const ResourceType& type, Predicate predicate,
                                         InformerOptions options) {
  CHECK(subject_, "say what the controller reconciles first");
  return watches(type, to_controller(*subject_), std::move(predicate), std::move(options));
}

Manager::Builder& Manager::Builder::watches(const ResourceType& type, MapFunction map,
                                            Predicate predicate, InformerOptions options) {
  watches_.push_back(
      {&manager_.cache_.informer(type, std::move(options)), std::move(map), std::move(predicate)});
  return *this;
}

Manager::Builder& Manager::Builder::follows(const ResourceType& type, InformerOptions options) {
  return watches(type, {}, {}, std::move(options));
}

Manager::Builder& Manager::Builder::workers(int count) {
  options_.workers = count;
  return *this;
}

Manager::Builder& Manager::Builder::retries(WorkQueueOptions options) {
  options_.queue = options;
  return *this;
}

ControllerContext Manager::Builder::context() {
  CHECK(subject_, "say what the controller reconciles");
  Informer& subject = manager_.cache_.informer(*subject_);
  actor_ =
      std::make_unique<ClientActor>(manager_.client_, subject, &manager_.events_, options_.logger);
  for (const Watch& watch : watches_) {
    actor_->follow(*watch.informer);
  }
  return {manager_.env_, manager_.client_, manager_.cache_, *actor_, subject, waker_};
}

void Manager::Builder::finish(std::unique_ptr<Reconciler> reconciler) {
  auto controller = std::make_unique<Controller>(manager_.env_, std::move(options_));
  for (Watch& watch : watches_) {
    controller->watch(*watch.informer, std::move(watch.map), std::move(watch.predicate));
  }
  controller->set_reconciler(std::move(reconciler));
  waker_.attach(controller->queue());
  manager_.controllers_.push_back({std::move(actor_), std::move(controller), manager_.led_});
}

}  // namespace codeflare::runtime
