#include "cli/gather/causes.h"

#include "cli/gather/events.h"
#include "cli/gather/work.h"
#include "kube/object.h"
#include "model/codec/pod.h"
#include "model/resources.h"
#include "queue/marks.h"
#include "queue/pod_trouble.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

namespace codeflare::cli {

namespace {

using Pods = std::vector<model::Pod>;

bool is_dispatched_here(const GroupedWrapper& wrapper) {
  const model::AppWrapperStatus& status = wrapper.status;
  return status.plan && status.can_run && !model::is_terminal(status) &&
         !wrapper.metadata.deleting() && !view_of(wrapper).is_elsewhere();
}

// As the status counts, which may be some seconds old.
std::int64_t missing_pods(const model::AppWrapperStatus& status) {
  std::int64_t planned = 0;
  for (const model::PlannedPlace& place : status.plan->places) {
    planned += place.count;
  }
  return planned - status.running - status.succeeded - status.failed;
}

std::optional<Cause> cause_in(std::span<const model::Pod> pods) {
  const std::optional<queue::PodTrouble> trouble = queue::worst_trouble(pods);
  return trouble ? std::optional(Cause{.reason = trouble->reason, .text = trouble->text()})
                 : std::nullopt;
}

bool has_not_started(const model::Pod& pod) {
  return pod.status.phase.empty() || pod.status.phase == "Pending";
}

// The pods of AppWrappers that have not started, by the UID of the AppWrapper.
Task<Result<std::map<std::string, Pods>>> pending_pods(Session& session, std::string ns) {
  kube::ListOptions options{.ns = std::move(ns),
                            .label_selector = std::string(queue::kUidLabel),
                            .field_selector = "status.phase=Pending"};
  CO_TRY_ASSIGN(
      const kube::ObjectList list,
      co_await session.client().list_all(model::resource_type<model::Pod>(), std::move(options)));
  std::map<std::string, Pods> found;
  for (const kube::ObjectRef& object : list.items) {
    if (Result<model::Pod> pod = object->as<model::Pod>()) {
      std::string uid(model::find_or_empty(pod->metadata.labels, queue::kUidLabel));
      found[std::move(uid)].push_back(*std::move(pod));
    }
  }
  co_return found;
}

}  // namespace

Task<std::optional<Cause>> cause_of(Session& session, GroupedWrapper wrapper) {
  if (!is_dispatched_here(wrapper)) {
    co_return std::nullopt;
  }
  GroupedWrapper of = wrapper;
  Result<Pods> pods = co_await list_pods(session, std::move(of));
  if (!pods) {
    co_return std::nullopt;
  }
  if (std::optional<Cause> cause = cause_in(*pods)) {
    co_return cause;
  }
  const bool well = !pods->empty() && std::ranges::none_of(*pods, has_not_started);
  if (well && missing_pods(wrapper.status) <= 0) {
    co_return std::nullopt;
  }
  std::erase_if(*pods, [](const model::Pod& pod) { return !has_not_started(pod); });
  std::string ns = wrapper.metadata.ns;
  const auto events = co_await list_warnings(session.client(), std::move(ns));
  co_return newest_warning(events, wrapper, *pods);
}

Task<std::map<std::string, Cause>> gather_causes(Session& session, std::string ns,
                                                 std::vector<GroupedWrapper> wrappers) {
  std::map<std::string, Cause> causes;
  std::erase_if(wrappers, [](const GroupedWrapper& each) {
    return !is_dispatched_here(each) || missing_pods(each.status) <= 0;
  });
  if (wrappers.empty()) {
    co_return causes;
  }
  std::string in = ns;
  Result<std::map<std::string, Pods>> pods = co_await pending_pods(session, std::move(in));
  if (!pods) {
    co_return causes;
  }
  for (const GroupedWrapper& each : wrappers) {
    if (std::optional<Cause> cause = cause_in((*pods)[each.metadata.uid])) {
      causes.emplace(each.metadata.uid, *std::move(cause));
    }
  }
  if (causes.size() == wrappers.size()) {
    co_return causes;
  }
  const auto events = co_await list_warnings(session.client(), std::move(ns));
  for (const GroupedWrapper& each : wrappers) {
    if (causes.contains(each.metadata.uid)) {
      continue;
    }
    if (std::optional<Cause> cause = newest_warning(events, each, (*pods)[each.metadata.uid])) {
      causes.emplace(each.metadata.uid, *std::move(cause));
    }
  }
  co_return causes;
}

}  // namespace codeflare::cli
