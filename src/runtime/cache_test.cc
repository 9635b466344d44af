#include "runtime/cache.h"

#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "base/env/sim_env.h"
#include "kube/testing/scripted_service.h"

#include <gtest/gtest.h>

namespace codeflare::runtime {
namespace {

using namespace std::chrono_literals;

const ResourceType kPods{"", "v1", "Pod", "pods", true};
const ResourceType kNodes{"", "v1", "Node", "nodes", false};

InformerOptions labelled(std::string selector) {
  InformerOptions options;
  options.watch.label_selector = std::move(selector);
  return options;
}

InformerOptions transformed() {
  InformerOptions options;
  options.transform = [](ObjectRef object) { return object; };
  return options;
}

struct World {
  SimEnv sim;
  Env env = sim.env();
  kube::testing::ScriptedService service{env};
  kube::Client client{env, service};
  Cache cache{env, client};
};

TEST(Cache, all_who_ask_for_a_kind_share_one_informer) {
  World w;
  Informer& pods = w.cache.informer(kPods, labelled("app=web"));
  EXPECT_EQ(&pods, &w.cache.informer(kPods)) << "whatever it holds";
  EXPECT_EQ(&pods, &w.cache.informer(kPods, labelled("app=web")));
  EXPECT_NE(&pods, &w.cache.informer(kNodes));
}

TEST(CacheDeathTest, a_second_view_of_a_kind_is_refused) {
  World w;
  w.cache.informer(kPods, labelled("app=web"));
  EXPECT_DEATH(w.cache.informer(kPods, labelled("app=db")), "another selection");
  InformerOptions elsewhere = labelled("app=web");
  elsewhere.watch.ns = "default";
  EXPECT_DEATH(w.cache.informer(kPods, elsewhere), "another selection");
  w.cache.informer(kNodes);
  InformerOptions names;
  names.watch.metadata_only = true;
  EXPECT_DEATH(w.cache.informer(kNodes, names), "another selection");
}

TEST(CacheDeathTest, a_second_transform_is_refused) {
  World w;
  w.cache.informer(kPods, transformed());
  EXPECT_DEATH(w.cache.informer(kPods, transformed()), "no second transform");
  w.cache.informer(kNodes);
  EXPECT_DEATH(w.cache.informer(kNodes, transformed()), "no second transform");
}

TEST(Cache, says_which_kind_is_not_there_yet_and_why) {
  World w;
  w.cache.informer(kPods);
  w.cache.informer(kNodes);
  EXPECT_EQ(w.cache.why_not_synced(), "nodes: still listing, pods: still listing");
  w.service.set_intercept([](const net::Request& request) {
    return request.target.starts_with("/api/v1/nodes")
               ? std::optional(kube::testing::status_answer(403, "Forbidden", "not for you"))
               : std::nullopt;
  });
  TaskGroup group(w.env.loop);
  group.spawn(w.cache.run());
  ASSERT_TRUE(run(w.env.loop, sleep_for(1s)));
  EXPECT_FALSE(w.cache.synced());
  EXPECT_TRUE(w.cache.why_not_synced().starts_with("nodes: "));
  EXPECT_TRUE(w.cache.why_not_synced().contains("not for you")) << w.cache.why_not_synced();
  EXPECT_FALSE(w.cache.why_not_synced().contains("pods"));
  w.service.set_intercept({});
  ASSERT_TRUE(run(w.env.loop, sleep_for(1min)));
  EXPECT_TRUE(w.cache.synced());
  EXPECT_EQ(w.cache.why_not_synced(), "");
  EXPECT_TRUE(run(w.env.loop, group.close()));
}

}  // namespace
}  // namespace codeflare::runtime
