#include "controllers/scale/request_controller.h"

#include "controllers/pods_type.h"
#include "controllers/scale/machine_nodes.h"
#include "controllers/status_patch.h"
#include "model/codec/machines.h"
#include "model/codec/node.h"
#include "model/codec/pod.h"
#include "model/resources.h"
#include "queue/machines.h"

#include <algorithm>
#include <utility>

namespace codeflare::controllers::scale {

using model::MachineRequest;
using runtime::Action;
using runtime::Next;
using runtime::Plan;

namespace {

const model::ResourceType kNodes = model::resource_type<model::Node>();

bool is_final(const Error& error) {
  return error.code == ErrorCode::failed_precondition ||
         error.code == ErrorCode::resource_exhausted || error.code == ErrorCode::invalid_argument;
}

Action node_patch(const std::string& node, std::string body, std::string why) {
  return {.verb = Action::Verb::patch,
          .type = kNodes,
          .key = {"", node},
          .body = std::move(body),
          .why = std::move(why)};
}

std::string annotated(bool cordon) {
  return R"({"metadata":{"annotations":{")" + std::string(kLeavingAnnotation) + R"(":)" +
         (cordon ? R"("true")" : "null") + R"(}},"spec":{"unschedulable":)" +
         (cordon ? "true" : "null") + "}}";
}

// The Node with these labels (empty: without) and taints, as it was read: rejected when somebody
// has written the Node since.
std::string relabelled(const model::Node& node, const model::StringMap& labels,
                       const std::vector<model::Taint>& taints) {
  std::string body;
  json::Writer w(body);
  w.begin_object().key("metadata").begin_object();
  w.member("resourceVersion", node.metadata.resource_version);
  w.key("labels").begin_object();
  for (const auto& [key, value] : labels) {
    w.key(key);
    if (value.empty()) {
      w.null();
    } else {
      w.string(value);
    }
  }
  w.end_object().end_object();
  w.key("spec").begin_object().key("taints").begin_array();
  json::Arena arena;
  for (const model::Taint& taint : taints) {
    w.value(model::to_json(arena, taint));
  }
  w.end_array().end_object().end_object();
  return body;
}

std::vector<model::Taint> other_taints(const model::Node& node) {
  std::vector<model::Taint> taints;
  for (const model::Taint& taint : node.spec.taints) {
    if (taint.key != queue::kPendingTaint) {
      taints.push_back(taint);
    }
  }
  return taints;
}

std::string untainted(const model::Node& node) {
  return relabelled(node, {}, other_taints(node));
}

// Nobody but the work of its request gets a place there until all machines are ready.
std::string adopted(const model::Node& node, const MachineOrder& order) {
  std::vector<model::Taint> taints = other_taints(node);
  for (const model::Taint& taint : order.taints) {
    if (std::ranges::none_of(taints, [&](const model::Taint& each) {
          return each.key == taint.key && each.effect == taint.effect;
        })) {
      taints.push_back(taint);
    }
  }
  return relabelled(node, order.labels, taints);
}

std::string released(const model::Node& node) {
  const model::StringMap ours{{std::string(queue::kRequestLabel), ""},
                              {std::string(queue::kMachineTypeLabel), ""}};
  return relabelled(node, ours, other_taints(node));
}

}  // namespace

std::vector<MachineOrder> orders_of(const MachineRequest& request, const runtime::Store& types) {
  std::vector<MachineOrder> orders;
  for (const model::MachineAmount& amount : request.spec.machines) {
    const kube::ObjectRef object = types.get({"", amount.type});
    const Result<model::MachineType> type =
        object == nullptr ? Result<model::MachineType>() : object->as<model::MachineType>();
    for (std::int64_t i = 0; i < amount.count; ++i) {
      MachineOrder order{.name = request.metadata.name + "-" + std::to_string(orders.size()),
                         .request = request.metadata.name,
                         .type = amount.type,
                         .provider = amount.provider,
                         .asked = request.metadata.creation_timestamp.value_or(WallTime{})};
      if (type) {
        order.spec = type->spec;
      }
      order.work = request.spec.work;
      order.arrived = queue::phase_of(request) == kReady;
      for (const model::MachinePods& pods : request.spec.pods) {
        if (pods.type == amount.type) {
          order.pods.push_back(pods);
        }
      }
      const auto& states = request.status.machines;
      const auto state = std::ranges::find(states, order.name, &model::MachineState::name);
      if (state != states.end()) {
        order.node = state->node;
      }
      order.labels = order.spec.labels;
      for (const auto& [key, value] : request.spec.labels) {
        order.labels.insert_or_assign(key, value);
      }
      order.labels.insert_or_assign(std::string(queue::kRequestLabel), request.metadata.name);
      order.labels.insert_or_assign(std::string(queue::kMachineTypeLabel), amount.type);
      order.taints = order.spec.taints;
      order.taints.push_back({.key = std::string(queue::kPendingTaint),
                              .value = request.metadata.name,
                              .effect = "NoSchedule"});
      orders.push_back(std::move(order));
    }
  }
  return orders;
}

RequestController::RequestController(const runtime::ControllerContext& context, QueueDriver& driver,
                                     Providers providers, Patience patience, Logger logger)
    : env_(context.env),
      actor_(context.actor),
      requests_(context.subject.store()),
      types_(context.cache.informer(model::resource_type<model::MachineType>()).store()),
      nodes_(context.cache.informer(kNodes).store()),
      pods_(context.cache.informer(kPods).store()),
      driver_(driver),
      providers_(std::move(providers)),
      patience_(patience),
      logger_(std::move(logger)),
      finalizer_(model::resource_type<MachineRequest>(), std::string(kFinalizer)) {}

Result<model::Node> RequestController::node(const std::string& name) const {
  const kube::ObjectRef object = nodes_.get({"", name});
  return object == nullptr ? fail(not_found("Node " + name + " is gone"))
                           : object->as<model::Node>();
}

SeenMachine RequestController::seen_of(const MachineOrder& order, const MachineView& view) {
  SeenMachine seen{.name = order.name,
                   .type = order.type,
                   .there = view.there,
                   .ready = view.ready,
                   .problem = view.problem,
                   .note = view.note,
                   .node = view.node,
                   .used = false};
  if (const Result<model::Node> found = node(view.node); found && !view.node.empty()) {
    const auto label = found->metadata.labels.find(std::string(queue::kRequestLabel));
    seen.adopted = label != found->metadata.labels.end() && label->second == order.request;
    seen.cordoned = found->spec.unschedulable;
    seen.ours = found->metadata.annotations.contains(std::string(kLeavingAnnotation));
    seen.pending = std::ranges::any_of(found->spec.taints, [](const model::Taint& taint) {
      return taint.key == queue::kPendingTaint;
    });
    seen.used = is_node_used(driver_, pods_, view.node);
  }
  if (seen.used) {
    idle_.erase(order.name);
  } else {
    seen.idle_since = idle_.try_emplace(order.name, env_.clock.wall()).first->second;
  }
  return seen;
}

// Providers look at all of their machines at once.
void RequestController::look(Observed& observed) {
  std::map<std::string, std::vector<std::size_t>> by_provider;
  for (std::size_t i = 0; i < observed.orders.size(); ++i) {
    by_provider[observed.orders[i].provider].push_back(i);
  }
  observed.seen.machines.resize(observed.orders.size());
  for (const auto& [name, positions] : by_provider) {
    const auto provider = providers_.find(name);
    std::vector<MachineOrder> orders;
    for (const std::size_t i : positions) {
      orders.push_back(observed.orders[i]);
    }
    std::vector<MachineView> views(orders.size());
    if (provider != providers_.end()) {
      views = provider->second->look(orders);
    }
    for (std::size_t k = 0; k < orders.size(); ++k) {
      SeenMachine seen = seen_of(orders[k], views[k]);
      if (provider == providers_.end()) {
        seen.problem = "MachineType " + orders[k].type + " has provider " + name +
                       ", which this controller does not have";
      } else {
        seen.leaves_node = provider->second->leaves_nodes();
      }
      if (seen.problem.empty() && orders[k].spec.provider.empty()) {
        seen.problem = "MachineType " + orders[k].type + " no longer exists";
      }
      observed.seen.machines[positions[k]] = std::move(seen);
    }
  }
}

std::optional<RequestController::Observed> RequestController::observe(
    const runtime::ObjectKey& key) {
  Observed observed{.seen = {}, .orders = {}, .object = requests_.get(key)};
  if (observed.object == nullptr) {
    unwanted_.erase(key.name);
    return std::nullopt;
  }
  Result<MachineRequest> request = observed.object->as<MachineRequest>();
  if (!request) {
    logger_.warn("cannot read a MachineRequest",
                 {{"request", key.name}, {"error", request.error()}});
    return std::nullopt;
  }
  observed.seen.request = *std::move(request);
  observed.orders = orders_of(observed.seen.request, types_);
  if (!driver_.active() || driver_.queue().awaits_request(key.name)) {
    unwanted_.erase(key.name);
  } else {
    observed.seen.unwanted_since = unwanted_.try_emplace(key.name, env_.clock.wall()).first->second;
  }
  look(observed);
  return observed;
}

// All of a provider's machines at once.
Task<Result<void>> RequestController::ask(std::vector<MachineOrder> orders) {
  std::map<std::string, std::vector<MachineOrder>> by_provider;
  for (MachineOrder& order : orders) {
    by_provider[order.provider].push_back(std::move(order));
  }
  for (auto& [name, set] : by_provider) {
    CO_TRY(co_await providers_.at(name)->ask(std::move(set)));
  }
  co_return Result<void>();
}

Task<Result<void>> RequestController::hand_over(std::vector<MachineOrder> orders) {
  std::map<std::string, std::vector<MachineOrder>> by_provider;
  for (MachineOrder& order : orders) {
    by_provider[order.provider].push_back(std::move(order));
  }
  for (auto& [name, set] : by_provider) {
    CO_TRY(co_await providers_.at(name)->hand_over(std::move(set)));
  }
  co_return Result<void>();
}

Task<std::vector<std::string>> RequestController::give_back(const Observed& observed,
                                                            RequestDecision& decision) {
  std::vector<std::string> free;
  for (const std::size_t i : decision.give_back) {
    const MachineOrder& order = observed.orders[i];
    const auto provider = providers_.find(order.provider);
    if (provider == providers_.end()) {
      continue;
    }
    const Result<bool> gone = co_await provider->second->give_back(order);
    if (!gone) {
      logger_.warn("cannot give a machine back",
                   {{"machine", order.name}, {"error", gone.error()}});
    } else if (*gone) {
      logger_.info("machine given back", {{"machine", order.name}, {"type", order.type}});
      idle_.erase(order.name);
      mark_gone(decision, i);
      if (provider->second->leaves_nodes() && !order.node.empty()) {
        free.push_back(order.node);
      }
    }
  }
  co_return free;
}

void RequestController::add_node_patches(const Observed& observed, const RequestDecision& decision,
                                         Plan& plan) const {
  for (const std::size_t i : decision.adopt) {
    const std::string& name = observed.seen.machines[i].node;
    if (const Result<model::Node> found = node(name)) {
      plan.actions.push_back(
          node_patch(name, adopted(*found, observed.orders[i]), "a machine has come"));
    }
  }
  for (const std::size_t i : decision.untaint) {
    const std::string& name = observed.seen.machines[i].node;
    if (const Result<model::Node> found = node(name)) {
      plan.actions.push_back(node_patch(name, untainted(*found), "all machines are ready"));
    }
  }
  for (const std::size_t i : decision.cordon) {
    plan.actions.push_back(
        node_patch(observed.seen.machines[i].node, annotated(true), "the machine goes back"));
  }
  for (const std::size_t i : decision.uncordon) {
    plan.actions.push_back(node_patch(observed.seen.machines[i].node, annotated(false),
                                      "work uses the machine again"));
  }
}

Plan RequestController::plan(const Observed& observed, const RequestDecision& decision) const {
  const MachineRequest& request = observed.seen.request;
  Plan plan;
  if (!(decision.status == request.status)) {
    plan.actions.push_back({.verb = Action::Verb::patch,
                            .type = model::resource_type<MachineRequest>(),
                            .key = request.metadata.key(),
                            .body = status_patch(request, decision.status),
                            .why = decision.status.phase + " " + decision.status.ready,
                            .write = {.subresource = "status"}});
  }
  add_node_patches(observed, decision, plan);
  if (decision.remove) {
    plan.actions.push_back({.verb = Action::Verb::remove,
                            .type = model::resource_type<MachineRequest>(),
                            .key = request.metadata.key(),
                            .why = "the machines are gone, or nobody waits for them"});
  }
  if (decision.drop_finalizer && finalizer_.on(*observed.object)) {
    plan.actions.push_back(finalizer_.remove(*observed.object, "all machines are gone"));
  }
  return plan;
}

Task<Result<Next>> RequestController::reconcile(runtime::ObjectKey key) {
  CO_TRY(co_await actor_.ready(key));
  const std::optional<Observed> observed = observe(key);
  if (!observed) {
    co_return Next::await_change();
  }
  RequestDecision decision = decide(observed->seen, env_.clock.wall(), patience_);
  if (decision.ask) {
    const Result<void> asked = co_await ask(observed->orders);
    if (!asked && is_final(asked.error())) {
      mark_failed(decision, asked.error().message, env_.clock.wall(), patience_);
    } else if (!asked) {
      logger_.warn("cannot ask for machines", {{"request", key.name}, {"error", asked.error()}});
      decision.status.message = asked.error().message;
    }
  }
  if (decision.hand_over) {
    // Repeated until it is done: the status says Ready only then.
    CO_TRY(co_await hand_over(observed->orders));
  }
  const std::vector<std::string> left = co_await give_back(*observed, decision);
  const Duration again = decision.again.value_or(Duration::zero());
  Plan next = plan(*observed, decision);
  for (const std::string& name : left) {
    if (const Result<model::Node> found = node(name)) {
      next.actions.insert(next.actions.begin(),
                          node_patch(name, released(*found), "an autoscaler removes the Node"));
    }
  }
  const bool wrote = !next.actions.empty();
  CO_TRY(co_await actor_.act(key, std::move(next)));
  if (decision.again && !(wrote && decision.remove)) {
    co_return Next::after(again);
  }
  co_return Next::await_change();
}

}  // namespace codeflare::controllers::scale
