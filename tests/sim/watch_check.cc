#include "tests/sim/watch_check.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace codeflare::sim {

namespace {

std::uint64_t to_revision(const std::string& text) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

Truth::State Truth::state_at(std::uint64_t revision, const Selects& selects) const {
  State state;
  for (const Change& change : changes_) {
    if (change.revision > revision) {
      break;
    }
    if (change.deleted || !selects(*change.after)) {
      state.erase(change.after->key());
    } else {
      state[change.after->key()] = change.after->resource_version();
    }
  }
  return state;
}

std::optional<Truth::Expected> Truth::next_after(std::uint64_t revision, std::uint64_t last,
                                                 const Selects& selects) const {
  for (auto change = std::ranges::upper_bound(changes_, revision, {}, &Change::revision);
       change != changes_.end() && change->revision <= last; ++change) {
    const bool matches = !change->deleted && selects(*change->after);
    const bool matched = change->before != nullptr && selects(*change->before);
    if (matches || matched) {
      return Expected{change->revision, change->after->key(), !matches};
    }
  }
  return std::nullopt;
}

void WatchCheck::observe(const kube::WatcherEvent& event) {
  using Type = kube::WatcherEvent::Type;
  switch (event.type) {
    case Type::init_begin:
      listing_ = true;
      list_.clear();
      return;
    case Type::init_object:
      if (!listing_) {
        violation("an initial object outside of a list");
      }
      if (!list_.emplace(event.object->key(), event.object->resource_version()).second) {
        violation("initial object " + event.object->key().to_string() + " came twice");
      }
      return;
    case Type::init_done:
      return finish_list(to_revision(event.resource_version));
    case Type::applied:
      return change(event, false);
    case Type::deleted:
      return change(event, true);
    case Type::progress: {
      const std::uint64_t revision = to_revision(event.resource_version);
      if (auto missed = truth_.next_after(position_, revision, selects_)) {
        violation("progress to " + event.resource_version + " skips " + missed->key.to_string() +
                  "@" + std::to_string(missed->revision));
      }
      position_ = std::max(position_, revision);
      return;
    }
  }
}

void WatchCheck::finish_list(std::uint64_t revision) {
  ++lists_;
  if (!listing_) {
    violation("a list ended that did not begin");
  }
  if (revision < position_) {
    violation("a list went back from " + std::to_string(position_) + " to " +
              std::to_string(revision));
  }
  if (list_ != truth_.state_at(revision, selects_)) {
    violation("the list at " + std::to_string(revision) + " is not what was there");
  }
  state_ = std::exchange(list_, {});
  listing_ = false;
  synced_ = true;
  position_ = revision;
}

void WatchCheck::change(const kube::WatcherEvent& event, bool deleted) {
  ++events_;
  const model::ObjectKey key = event.object->key();
  const std::uint64_t revision = event.object->revision();
  const std::string what =
      (deleted ? "deletion of " : "change of ") + key.to_string() + "@" + std::to_string(revision);
  if (listing_ || !synced_) {
    violation(what + " before the list ended");
  }
  if (revision <= position_) {
    violation(what + " came again, or late: the position is " + std::to_string(position_));
    return;
  }
  const std::optional<Truth::Expected> expected = truth_.next_after(position_, revision, selects_);
  if (!expected || expected->revision != revision || expected->key != key ||
      expected->deleted != deleted) {
    violation(what + ", but next is " +
              (expected ? expected->key.to_string() + "@" + std::to_string(expected->revision)
                        : std::string("nothing")));
  }
  position_ = revision;
  if (!deleted) {
    state_[key] = event.object->resource_version();
  } else if (state_.erase(key) == 0) {
    violation(what + " that was not there");
  }
}

bool WatchCheck::equals(std::uint64_t revision) const {
  return synced_ && !listing_ && state_ == truth_.state_at(revision, selects_);
}

void WatchCheck::finish(std::uint64_t revision) {
  if (!equals(revision)) {
    violation("long after the faults the map is not the state at " + std::to_string(revision));
  }
}

void WatchCheck::violation(const std::string& what) {
  violations_.push_back(name_ + ": " + what);
}

}  // namespace codeflare::sim
