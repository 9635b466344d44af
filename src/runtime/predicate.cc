#include "runtime/predicate.h"

#include <utility>

namespace codeflare::runtime {

namespace {

// New and vanished objects always count; `differ` compares the two sides of an update.
template <typename Differ>
Predicate on_update(Differ differ) {
  return [differ](const ObjectChange& change) {
    return change.old == nullptr || change.now == nullptr || differ(*change.old, *change.now);
  };
}

}  // namespace

Predicate generation_changed() {
  return on_update([](const kube::Object& old, const kube::Object& now) {
    return old.generation() != now.generation() || old.deleting() != now.deleting() ||
           old.uid() != now.uid();
  });
}

Predicate labels_changed() {
  return on_update([](const kube::Object& old, const kube::Object& now) {
    return old.labels_json() != now.labels_json();
  });
}

Predicate any_of(Predicate a, Predicate b) {
  return [a = std::move(a), b = std::move(b)](const ObjectChange& change) {
    return a(change) || b(change);
  };
}

}  // namespace codeflare::runtime
