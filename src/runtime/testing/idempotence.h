#pragma once

#include "base/async/task.h"
#include "runtime/reconciler.h"

#include <gtest/gtest.h>

#include <string>

namespace codeflare::runtime::testing {

// The law that every controller is held to: reconcile a key, and a second look at the same state
// finds nothing left to write. Names the first action that it would repeat. A key under which
// nothing is observed proves nothing and fails; that the reconcile itself makes the object go is
// fine.
//   EXPECT_TRUE(is_idempotent(env, reconciler, {"default", "a"}));
template <typename Observed, typename Desired>
::testing::AssertionResult is_idempotent(Env env, StoryReconciler<Observed, Desired>& reconciler,
                                         const ObjectKey& key) {
  auto look = run(env.loop, reconciler.decide(key));
  if (!look || !*look) {
    return ::testing::AssertionFailure()
           << "the first look failed: " << (look ? look->error().to_string() : "deadlock");
  }
  if (!**look) {
    return ::testing::AssertionFailure() << "nothing is observed under " << key.to_string();
  }
  auto first = run(env.loop, reconciler.reconcile(key));
  if (!first || !*first) {
    return ::testing::AssertionFailure()
           << "the reconcile itself failed: " << (first ? first->error().to_string() : "deadlock");
  }
  auto second = run(env.loop, reconciler.decide(key));
  if (!second || !*second) {
    return ::testing::AssertionFailure()
           << "the second look failed: " << (second ? second->error().to_string() : "deadlock");
  }
  if (!**second || (**second)->actions.empty()) {
    return ::testing::AssertionSuccess();
  }
  const Action& action = (**second)->actions.front();
  return ::testing::AssertionFailure()
         << "a second look would write again: " << action.type.qualified_name() << " "
         << action.key.to_string() << " because " << action.why;
}

}  // namespace codeflare::runtime::testing
