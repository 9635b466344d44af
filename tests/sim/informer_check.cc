#include "tests/sim/informer_check.h"

#include <limits>
#include <optional>
#include <utility>

namespace codeflare::sim {

namespace {

std::string at(const kube::Object& object) {
  return object.key().to_string() + "@" + std::string(object.resource_version());
}

}  // namespace

void InformerCheck::observe(const runtime::ObjectChange& change,
                            const runtime::Informer& informer) {
  ++changes_;
  if (change.old == nullptr && change.now == nullptr) {
    return violation("a change of nothing");
  }
  const model::ObjectKey key = (change.now ? change.now : change.old)->key();
  const kube::ObjectRef last = std::exchange(told_[key], change.now);
  if ((change.old == nullptr) != (last == nullptr)) {
    violation(key.to_string() +
              (last == nullptr ? " changes and was never told of" : " is new for the second time"));
  }
  if (informer.store().get(key) != change.now) {
    violation(key.to_string() + " is another in the store when its change is told");
  }
  if (change.now == nullptr) {
    told_.erase(key);
    if (last != nullptr && informer.synced()) {
      check_gone(*last, *change.old);
    }
    return;
  }
  check_present(*change.now);
  if (last != nullptr && change.old != nullptr && last != change.old) {
    violation(at(*change.now) + " follows " + at(*change.old) + ", but told before was " +
              at(*last));
  }
  if (last != nullptr && change.now->revision() <= last->revision()) {
    violation(at(*change.now) + " came again, or late: told before was " + at(*last));
  }
}

// The version was written like that, and belongs to what is watched.
void InformerCheck::check_present(const kube::Object& now) {
  const std::uint64_t revision = now.revision();
  const std::optional<Truth::Expected> written =
      truth_.next_after(revision - 1, revision, selects_);
  if (!written || written->key != now.key() || written->deleted) {
    violation(at(now) + " was never there");
  }
}

// It went, or what is watched no longer covers it, after the last event.
void InformerCheck::check_gone(const kube::Object& last, const kube::Object& told) {
  if (told.uid() != last.uid()) {
    violation("another " + at(told) + " is gone than was told of");
  }
  constexpr std::uint64_t kEnd = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t revision = last.revision();
  while (const std::optional<Truth::Expected> next = truth_.next_after(revision, kEnd, selects_)) {
    if (next->key == last.key() && next->deleted) {
      return;
    }
    revision = next->revision;
  }
  violation(at(last) + " is told to be gone and is there");
}

bool InformerCheck::equals(std::uint64_t revision) const {
  Truth::State state;
  for (const auto& [key, object] : told_) {
    state[key] = object->resource_version();
  }
  return state == truth_.state_at(revision, selects_);
}

void InformerCheck::finish(std::uint64_t revision) {
  if (!equals(revision)) {
    violation("long after the faults what was told is not the state at " +
              std::to_string(revision));
  }
}

void InformerCheck::violation(const std::string& what) {
  violations_.push_back(name_ + ": " + what);
}

}  // namespace codeflare::sim
