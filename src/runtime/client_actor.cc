#include "runtime/client_actor.h"

#include "base/async/task_group.h"

#include <algorithm>
#include <utility>

namespace codeflare::runtime {

namespace {

// Enough to share the server's commits, few enough to leave it to others too.
constexpr std::size_t kTogetherMax = 32;

std::string_view to_string(Action::Verb verb) {
  switch (verb) {
    case Action::Verb::create:
      return "create";
    case Action::Verb::update:
      return "update";
    case Action::Verb::patch:
      return "patch";
    case Action::Verb::apply:
      return "apply";
    case Action::Verb::remove:
      return "remove";
  }
  std::unreachable();
}

}  // namespace

ClientActor::ClientActor(kube::Client& client, Informer& subject, EventRecorder* events,
                         Logger logger)
    : client_(client), subject_(subject), events_(events), logger_(std::move(logger)) {
  follow(subject);
}

void ClientActor::follow(Informer& informer) {
  informers_[informer.type()] = &informer;
}

Task<Result<void>> ClientActor::ready(ObjectKey key) {
  auto found = awaited_.find(key);
  if (found == awaited_.end()) {
    co_return Result<void>();
  }
  // Taken out first: the map may change while we wait. Writes that stay invisible are put back.
  std::vector<Awaited> writes = std::move(found->second);
  awaited_.erase(found);
  for (std::size_t i = 0; i < writes.size(); ++i) {
    Result<void> seen = co_await writes[i].informer->fresh(writes[i].key);
    if (!seen) {
      writes.erase(writes.begin(), writes.begin() + static_cast<std::ptrdiff_t>(i));
      awaited_[key] = std::move(writes);
      co_return seen;
    }
  }
  co_return Result<void>();
}

Task<Result<void>> ClientActor::act(ObjectKey key, Plan plan) {
  std::vector<Action> together;
  for (std::size_t i = 0; i < plan.actions.size(); ++i) {
    Action action = std::move(plan.actions[i]);
    if (!action.together) {
      CO_TRY(co_await carry_out(key, std::move(action)));
      continue;
    }
    const Action::Verb verb = action.verb;
    together.push_back(std::move(action));
    if (i + 1 == plan.actions.size() || !plan.actions[i + 1].together ||
        plan.actions[i + 1].verb != verb) {
      CO_TRY(co_await carry_out_together(key, std::exchange(together, {})));
    }
  }
  for (EventNote& note : plan.events) {
    record(key, std::move(note));
  }
  co_return Result<void>();
}

Task<Result<void>> ClientActor::carry_out(ObjectKey key, Action action) {
  logger_.info("write", {{"object", key.to_string()},
                         {"verb", to_string(action.verb)},
                         {"target", action.type.qualified_name() + " " + action.key.to_string()},
                         {"why", action.why}});
  // Seen now: when the answer is there the cache may show the successor of what was removed.
  std::string removed = action.removal.uid;
  if (action.verb == Action::Verb::remove && removed.empty()) {
    removed = cached_uid(action);
  }
  Result<ObjectRef> answer = co_await send(action);
  if (!answer) {
    const bool gone_already =
        action.verb == Action::Verb::remove && answer.error().code == ErrorCode::not_found;
    const bool there_already =
        action.existing_is_fine && answer.error().code == ErrorCode::already_exists;
    if (there_already) {
      co_return Result<void>();
    }
    if (!gone_already) {
      tell_refusal(key, action, answer.error());
      co_return fail(std::move(answer).error());
    }
    answer = ObjectRef();
  }
  remember(key, action, *answer, std::move(removed));
  co_return Result<void>();
}

Task<Result<void>> ClientActor::carry_out_together(ObjectKey key, std::vector<Action> actions) {
  const TaskContext& context = co_await current_context();
  Batch batch{.key = std::move(key), .actions = std::move(actions)};
  TaskGroup group(*context.loop, context.stop);
  for (std::size_t i = 0; i < std::min(kTogetherMax, batch.actions.size()); ++i) {
    group.spawn(work_on(batch));
  }
  co_await group.join();
  // A stop may have kept some from starting.
  if (batch.outcome && batch.next < batch.actions.size()) {
    co_return fail(cancelled());
  }
  co_return batch.outcome;
}

Task<void> ClientActor::work_on(Batch& batch) {
  while (batch.outcome && batch.next < batch.actions.size()) {
    Action action = std::move(batch.actions[batch.next++]);
    Result<void> done = co_await carry_out(batch.key, std::move(action));
    if (!done && batch.outcome) {
      batch.outcome = std::move(done);
    }
  }
}

// People who wait for pods look at their owner's events.
void ClientActor::tell_refusal(const ObjectKey& key, const Action& action, const Error& error) {
  const bool final_word =
      error.code == ErrorCode::permission_denied || error.code == ErrorCode::invalid_argument;
  if (action.verb == Action::Verb::create && final_word) {
    record(
        key,
        {.warning = true, .reason = "FailedCreate", .message = "Error creating: " + error.message});
  }
}

Task<Result<ObjectRef>> ClientActor::send(Action action) {
  switch (action.verb) {
    case Action::Verb::create:
      co_return co_await client_.create(action.type, action.key.ns, std::move(action.body),
                                        action.write);
    case Action::Verb::update:
      co_return co_await client_.update(action.type, action.key, std::move(action.body),
                                        action.write);
    case Action::Verb::patch:
      co_return co_await client_.patch(action.type, action.key, action.patch_kind,
                                       std::move(action.body), action.write);
    case Action::Verb::apply:
      co_return co_await client_.apply(action.type, action.key, std::move(action.body),
                                       action.write);
    case Action::Verb::remove:
      co_return co_await client_.remove(action.type, action.key, action.removal);
  }
  std::unreachable();
}

std::string ClientActor::cached_uid(const Action& action) const {
  const auto found = informers_.find(action.type);
  const ObjectRef cached =
      found == informers_.end() ? nullptr : found->second->store().get(action.key);
  return cached == nullptr ? "" : std::string(cached->uid());
}

void ClientActor::remember(const ObjectKey& key, const Action& action, const ObjectRef& answer,
                           std::string removed) {
  auto found = informers_.find(action.type);
  if (found == informers_.end()) {
    return;
  }
  Informer& informer = *found->second;
  if (answer != nullptr) {
    informer.note_written(*answer);
    awaited_[key].push_back({&informer, answer->key()});
    return;
  }
  // Gone at once: the cache has caught up when it no longer shows the one we removed.
  if (!removed.empty()) {
    informer.note_deleted(action.key, std::move(removed));
    awaited_[key].push_back({&informer, action.key});
  }
}

void ClientActor::record(const ObjectKey& key, EventNote note) {
  ObjectRef object = subject_.store().get(key);
  if (events_ == nullptr || object == nullptr) {
    return;
  }
  EventSubject subject{subject_.type().gvk(), key, std::string(object->uid()),
                       std::string(object->resource_version())};
  events_->record(
      {std::move(subject), note.warning, std::move(note.reason), std::move(note.message)});
}

}  // namespace codeflare::runtime
