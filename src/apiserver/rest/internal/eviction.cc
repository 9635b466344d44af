#include "apiserver/rest/internal/bindings.h"
#include "apiserver/rest/internal/delete.h"
#include "apiserver/rest/internal/errors.h"
#include "apiserver/rest/internal/metadata.h"
#include "apiserver/rest/internal/write.h"
#include "json/member_index.h"
#include "json/parse.h"
#include "model/status.h"

namespace codeflare::apiserver::internal {
namespace {

bool expression_matches(const json::Value& expression, const json::Value* labels) {
  const std::string_view op = expression.string_or_empty("operator");
  const json::Value* value =
      labels == nullptr ? nullptr : labels->find(expression.string_or_empty("key"));
  bool listed = false;
  if (const json::Value* values = expression.find("values")) {
    for (const json::Value& each : values->items()) {
      listed = listed || (value != nullptr && json::equal(each, *value));
    }
  }
  return op == "Exists"         ? value != nullptr
         : op == "DoesNotExist" ? value == nullptr
         : op == "In"           ? listed
                                : !listed;
}

// A LabelSelector as policy/v1 reads it: an absent one selects nothing, an empty one everything.
bool selects(const json::Value* selector, const json::Value* labels) {
  if (selector == nullptr || !selector->is_object()) {
    return false;
  }
  if (const json::Value* wanted = selector->find("matchLabels")) {
    json::MemberIndex by_key(labels == nullptr ? std::span<const json::Member>()
                                               : labels->members());
    for (const json::Member& label : wanted->members()) {
      const json::Value* value = by_key.find(label.key);
      if (value == nullptr || !json::equal(*value, label.value)) {
        return false;
      }
    }
  }
  if (const json::Value* expressions = selector->find("matchExpressions")) {
    for (const json::Value& expression : expressions->items()) {
      if (!expression_matches(expression, labels)) {
        return false;
      }
    }
  }
  return true;
}

std::int64_t integer_at(const json::Value& object, std::string_view key) {
  const json::Value* value = object.get({"status", key});
  return value == nullptr ? 0 : value->to_int64().value_or(0);
}

Error would_violate(std::string cause) {
  model::Status status;
  status.status = "Failure";
  status.code = 429;
  status.reason = "TooManyRequests";
  status.message = "Cannot evict pod as it would violate the pod's disruption budget.";
  model::StatusDetails& details = status.details.emplace();
  details.retry_after_seconds = 10;
  details.causes.push_back({.reason = "DisruptionBudget", .message = std::move(cause)});
  return model::to_error(std::move(status));
}

Error budget_exceeded(const json::Value& budget) {
  return would_violate("The disruption budget " + std::string(meta_text(budget, "name")) +
                       " needs " + std::to_string(integer_at(budget, "desiredHealthy")) +
                       " healthy pods and has " +
                       std::to_string(integer_at(budget, "currentHealthy")) + " currently");
}

Error still_processed(std::string_view budget) {
  return would_violate("The disruption budget " + std::string(budget) +
                       " is still being processed by the server.");
}

// One disruption less, and the pod noted as the one that took it.
Result<json::Value> spend(json::Arena& arena, const json::Value& live, std::string_view pod,
                          WallTime now) {
  const json::Value* generation = live.get({"metadata", "generation"});
  // Its numbers are those of an older spec.
  if (generation != nullptr &&
      integer_at(live, "observedGeneration") < generation->to_int64().value_or(0)) {
    return fail(still_processed(meta_text(live, "name")));
  }
  const std::int64_t allowed = integer_at(live, "disruptionsAllowed");
  if (allowed <= 0) {
    return fail(budget_exceeded(live));
  }
  json::Value budget = live.clone(arena);
  json::Value& status = *budget.find("status");
  status.set_static(arena, "disruptionsAllowed", json::Value::integer(arena, allowed - 1));
  json::Value* disrupted = status.find("disruptedPods");
  if (disrupted == nullptr || !disrupted->is_object()) {
    disrupted = &status.set_static(arena, "disruptedPods", json::Value::object());
  }
  disrupted->set(arena, pod, json::Value::string(arena, to_rfc3339(now)));
  return budget;
}

// The pod with a note why it goes, for its controller and whoever counts failures.
Result<json::Value> mark(json::Arena& arena, const Resource& resource, const json::Value& live,
                         const DeleteOptions& options, WallTime now) {
  const std::string_view name = meta_text(live, "name");
  if (options.uid && *options.uid != meta_text(live, "uid")) {
    return fail(conflict_error(resource, name,
                               "the UID in the precondition (" + *options.uid +
                                   ") does not match the UID in record (" +
                                   std::string(meta_text(live, "uid")) +
                                   "). The object might have been deleted and then recreated"));
  }
  if (options.resource_version && *options.resource_version != meta_text(live, "resourceVersion")) {
    return fail(conflict_error(resource, name,
                               "the ResourceVersion in the precondition (" +
                                   *options.resource_version +
                                   ") does not match the ResourceVersion in record (" +
                                   std::string(meta_text(live, "resourceVersion")) +
                                   "). The object might have been modified"));
  }
  json::Value condition = json::Value::object();
  condition.set_static(arena, "type", json::Value::string_view_of("DisruptionTarget"));
  condition.set_static(arena, "status", json::Value::string_view_of("True"));
  condition.set_static(arena, "lastProbeTime", json::Value());
  condition.set_static(arena, "lastTransitionTime", json::Value::string(arena, to_rfc3339(now)));
  condition.set_static(arena, "reason", json::Value::string_view_of("EvictionByEvictionAPI"));
  condition.set_static(arena, "message", json::Value::string_view_of("Eviction API: evicting"));
  json::Value pod = live.clone(arena);
  set_pod_condition(arena, pod, condition);
  return pod;
}

bool is_ready(const json::Value& pod) {
  if (const json::Value* conditions = pod.get({"status", "conditions"})) {
    for (const json::Value& condition : conditions->items()) {
      if (condition.string_or_empty("type") == "Ready") {
        return condition.string_or_empty("status") == "True";
      }
    }
  }
  return false;
}

// A pod that is not ready may go without costing anything: always where the budget says so, else
// as long as enough others are.
bool goes_for_free(const json::Value& budget, const json::Value& pod) {
  if (is_ready(pod)) {
    return false;
  }
  const json::Value* spec = budget.find("spec");
  if (spec != nullptr && spec->string_or_empty("unhealthyPodEvictionPolicy") == "AlwaysAllow") {
    return true;
  }
  const std::int64_t desired = integer_at(budget, "desiredHealthy");
  return desired > 0 && integer_at(budget, "currentHealthy") >= desired;
}

class Eviction final : public VirtualResource {
 public:
  explicit Eviction(Server& server) : server_(server) {}

  Task<Result<json::Value>> create(VirtualResource::Call& outer) override {
    CO_TRY_ASSIGN(internal::Call call, inner_call(server_, outer, "", "pods"));
    if (meta_text(outer.body, "name") != call.info.name) {
      co_return fail(bad_request("name in URL does not match name in Eviction object"));
    }
    DeleteOptions options;
    if (const json::Value* given = outer.body.find("deleteOptions")) {
      CO_TRY_ASSIGN(options, DeleteOptions::from_object(*given));
    }
    options.dry_run = options.dry_run || outer.dry_run;
    ObjectPtr pod = server_.store().get(call.resource->collection, call.info.ns, call.info.name);
    if (pod == nullptr) {
      co_return fail(not_found_error(*call.resource, call.info.name));
    }
    CO_TRY_ASSIGN(Cover cover, cover_of(*pod));
    if (!cover.budget.empty() && !cover.free && !options.dry_run) {
      CO_TRY(co_await take_from(outer, cover.budget, std::string(pod->name())));
    }
    // Should it have become ready meanwhile, it counts.
    const bool only_this = cover.free && !options.resource_version;
    if (only_this) {
      options.resource_version = std::to_string(pod->revision());
    }
    Result<void> gone = co_await remove_pod(call, std::move(options));
    if (!gone && only_this && gone.error().code == ErrorCode::conflict) {
      co_return fail(still_processed(cover.budget));
    }
    CO_TRY(std::move(gone));
    co_return success_status(outer.arena);
  }

 private:
  // The one budget that covers a pod, if any.
  struct Cover {
    std::string budget{};
    bool free = false;  // nothing is taken from it
  };

  Task<Result<void>> remove_pod(internal::Call& call, DeleteOptions options) {
    if (!options.dry_run) {
      CO_TRY(co_await mark_pod(call, options));
    }
    CO_TRY(co_await delete_object(call, call.info.ns, call.info.name, std::move(options)));
    co_return {};
  }

  // Writers are not recorded for it: it is a part of the deletion.
  Task<Result<void>> mark_pod(internal::Call& call, DeleteOptions& options) {
    const WallTime now = server_.env().clock.wall();
    UpdateRequest update{.ns = call.info.ns,
                         .name = call.info.name,
                         .subresource = "status",
                         .transform = [&](json::Arena& arena, const json::Value& live) {
                           return mark(arena, *call.resource, live, options, now);
                         }};
    WriteOptions write_options;
    write_options.managed_fields_done = true;
    CO_TRY(co_await update_object(call, std::move(update), std::move(write_options)));
    if (options.resource_version) {
      const ObjectPtr pod =
          server_.store().get(call.resource->collection, call.info.ns, call.info.name);
      if (pod != nullptr) {
        options.resource_version = std::to_string(pod->revision());
      }
    }
    co_return {};
  }

  // No budget when nothing has to be asked.
  Result<Cover> cover_of(const Object& object) {
    TRY_ASSIGN(json::Document pod, json::parse_in_place(object.json()));
    const json::Value* phase = pod.root.get({"status", "phase"});
    const std::string_view text = phase != nullptr && phase->is_string() ? phase->as_string() : "";
    // A pod that does not run cannot be disrupted.
    if (text == "Succeeded" || text == "Failed" || text == "Pending" || object.is_being_deleted()) {
      return Cover();
    }
    ResourcePtr budgets = server_.parts.registry.find("policy", "poddisruptionbudgets");
    if (budgets == nullptr) {
      return Cover();
    }
    const json::Value* labels = pod.root.get({"metadata", "labels"});
    std::vector<Cover> found;
    Store::Range range{.ns = std::string(object.ns())};
    TRY(server_.store().visit(budgets->collection, range, [&](const ObjectPtr& candidate) {
      Result<json::Document> budget = json::parse_in_place(candidate->json());
      if (budget && selects(budget->root.get({"spec", "selector"}), labels)) {
        found.push_back({.budget = std::string(candidate->name()),
                         .free = goes_for_free(budget->root, pod.root)});
      }
      return true;
    }));
    if (found.size() > 1) {
      return fail(internal_error(
          "This pod has more than one PodDisruptionBudget, which the eviction subresource does "
          "not support."));
    }
    return found.empty() ? Cover() : std::move(found.front());
  }

  Task<Result<void>> take_from(const VirtualResource::Call& outer, std::string budget,
                               std::string pod) {
    CO_TRY_ASSIGN(internal::Call call,
                  inner_call(server_, outer, "policy", "poddisruptionbudgets"));
    const WallTime now = server_.env().clock.wall();
    UpdateRequest update{.ns = call.info.ns,
                         .name = std::move(budget),
                         .subresource = "status",
                         .transform = [&](json::Arena& arena, const json::Value& live) {
                           return spend(arena, live, pod, now);
                         }};
    WriteOptions options{.field_manager = "eviction"};
    CO_TRY(co_await update_object(call, std::move(update), std::move(options)));
    co_return {};
  }

  Server& server_;
};

}  // namespace

std::unique_ptr<VirtualResource> make_eviction(Server& server) {
  return std::make_unique<Eviction>(server);
}

}  // namespace codeflare::apiserver::internal
