#include "cli/verbs/internal/start_notes.h"

#include "cli/views/table.h"
#include "queue/pod_trouble.h"

#include <algorithm>
#include <utility>

namespace codeflare::cli::internal {

namespace {

// Schedulers and the kubelet need a moment, and try again.
constexpr Duration kPatience = std::chrono::seconds(3);
constexpr Duration kBetweenEvents = std::chrono::seconds(5);

bool has_started(const model::Pod& pod) {
  return !pod.status.phase.empty() && pod.status.phase != "Pending";
}

// It was dispatched, and pods are missing or have not started.
bool is_due(const GroupedWrapper& wrapper, const std::vector<model::Pod>& pods) {
  return wrapper.status.plan && wrapper.status.can_run &&
         (pods.empty() || !std::ranges::all_of(pods, has_started));
}

}  // namespace

Task<std::string> StartNotes::next(GroupedWrapper wrapper, FoundPods found) {
  std::string note = co_await lasting(std::move(wrapper), std::move(found));
  co_return note.empty() || !told_.insert(note).second ? std::string() : note;
}

Task<std::string> StartNotes::lasting(GroupedWrapper wrapper, FoundPods found) {
  const std::optional<queue::PodTrouble> trouble = queue::worst_trouble(found.pods);
  if (trouble && trouble->lasting) {
    co_return one_line(trouble->text());
  }
  const bool unschedulable = trouble && trouble->kind == queue::PodTrouble::Kind::unschedulable;
  if (!is_due(wrapper, found.pods) || (trouble && !unschedulable)) {
    since_.reset();
    co_return "";
  }
  const Instant now = session_.env().clock.now();
  since_ = since_.value_or(now);
  if (now - *since_ < kPatience) {
    co_return "";
  }
  if (unschedulable) {
    co_return one_line(trouble->text());
  }
  co_await read_events(std::move(wrapper), std::move(found));
  co_return one_line(warning_);
}

Task<void> StartNotes::read_events(GroupedWrapper wrapper, FoundPods found) {
  const Instant now = session_.env().clock.now();
  if (found.elsewhere != nullptr || (looked_ && now - *looked_ < kBetweenEvents)) {
    co_return;
  }
  looked_ = now;
  std::erase_if(found.pods, has_started);
  warning_ = co_await find_warning(session_, std::move(wrapper), std::move(found.pods));
}

}  // namespace codeflare::cli::internal
