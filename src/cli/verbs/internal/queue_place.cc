#include "cli/verbs/internal/queue_place.h"

#include "base/human_duration.h"
#include "cli/gather/explain.h"
#include "cli/gather/queue_state.h"
#include "cli/views/queue_view.h"
#include "queue/marks.h"

#include <algorithm>
#include <map>
#include <utility>

namespace codeflare::cli::internal {

std::string QueuePlace::to_string(WallTime now) const {
  if (position == 0) {
    return {};
  }
  std::string text = "position " + std::to_string(position);
  if (expected) {
    text += ", expected to start " +
            (*expected <= now ? std::string("now") : "in " + human_duration(*expected - now));
  }
  return text;
}

Task<QueuePlace> queue_place(Session& session, model::ObjectKey wrapper, bool with_start) {
  const Result<QueueState> state =
      co_await look_at_queue(session, std::string(queue::kControllerNamespace));
  if (!state) {
    co_return QueuePlace();
  }
  const QueueView view = queue_of(state->wrappers, state->note.settings, state->note.paused,
                                  session.now(), state->trees, state->jobs);
  const auto entry = std::ranges::find_if(view.entries, [&](const QueueView::Entry& each) {
    return !each.training && each.view.ns == wrapper.ns && each.view.name == wrapper.name;
  });
  if (entry == view.entries.end()) {
    co_return QueuePlace();
  }
  QueuePlace place{.position = entry->position};
  if (with_start && place.position > 0 && !view.paused) {
    queue::Settings settings = state->note.settings;
    const std::map<std::string, WallTime> starts =
        co_await expected_starts(session, std::move(settings));
    if (const auto found = starts.find(entry->view.uid); found != starts.end()) {
      place.expected = found->second;
    }
  }
  co_return place;
}

}  // namespace codeflare::cli::internal
