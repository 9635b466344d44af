#include "controllers/run/run_actor.h"

#include "controllers/crds/ensure_crds.h"
#include "controllers/run/run_controller.h"
#include "controllers/testing/embedded_cluster.h"
#include "model/codec/platform.h"
#include "model/resources.h"

#include <gtest/gtest.h>

namespace codeflare::controllers::runs {
namespace {

const model::ResourceType kRuns = model::resource_type<model::Run>();

// Remembers the first actions of plans; creations fail.
class Recorder final : public runtime::Actor {
 public:
  Task<Result<void>> ready(runtime::ObjectKey /*key*/) override { co_return Result<void>(); }
  Task<Result<void>> act(runtime::ObjectKey /*key*/, runtime::Plan plan) override {
    actions.push_back(plan.actions.front());
    if (actions.back().verb == runtime::Action::Verb::create) {
      co_return fail(error);
    }
    co_return Result<void>();
  }

  Error error = permission_denied("no work today");
  std::vector<runtime::Action> actions{};
};

struct World {
  controllers::testing::EmbeddedCluster cluster;
  Recorder recorder;
  std::optional<RunActor> actor;

  World() {
    EXPECT_TRUE(*codeflare::run(cluster.env.loop, ensure_crds(cluster.client, {})));
    add_run_controller(cluster.manager, nullptr);
    actor.emplace(recorder, cluster.client, cluster.manager.cache().informer(kRuns).store());
    cluster.start();
    cluster.create<model::Run>(
        R"({"apiVersion":"codeflare.dev/v1alpha1","kind":"Run","metadata":{"name":"r"},)"
        R"("spec":{"application":{"name":"app"}}})");
    cluster.settle();
  }
  Result<void> create() {
    runtime::Plan plan;
    plan.actions.push_back({.verb = runtime::Action::Verb::create});
    return *codeflare::run(cluster.env.loop, actor->act({"default", "r"}, std::move(plan)));
  }
};

TEST(RunActor, an_app_wrapper_that_is_rejected_shows_in_the_status) {
  World w;
  EXPECT_EQ(w.create().error().code, ErrorCode::permission_denied) << "is tried again";
  ASSERT_EQ(w.recorder.actions.size(), 2u);
  const runtime::Action& status = w.recorder.actions[1];
  EXPECT_EQ(status.write.subresource, "status");
  EXPECT_TRUE(status.body.contains(R"("reason":"Rejected")")) << status.body;
  EXPECT_TRUE(status.body.contains("the AppWrapper cannot be created: no work today"));
}

TEST(RunActor, a_server_that_does_not_answer_is_not_in_the_status) {
  World w;
  w.recorder.error = unavailable("no answer");
  EXPECT_FALSE(w.create());
  EXPECT_EQ(w.recorder.actions.size(), 1u);
}

}  // namespace
}  // namespace codeflare::controllers::runs
