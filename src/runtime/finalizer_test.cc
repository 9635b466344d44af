#include "runtime/finalizer.h"

#include "base/env/sim_env.h"
#include "kube/testing/scripted_service.h"

#include <gtest/gtest.h>

#include <string>

namespace codeflare::runtime {
namespace {

using kube::ObjectRef;

const ResourceType kThings{"example.com", "v1", "Thing", "things", true};
const Finalizer kGuard(kThings, "example.com/guard");

std::string thing(const std::string& finalizers) {
  return R"({"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"a",)"
         R"("namespace":"default","finalizers":)" +
         finalizers + "}}";
}

struct World {
  SimEnv sim;
  Env env = sim.env();
  kube::testing::ScriptedService service{env};
  kube::Client client{env, service};

  ObjectRef put(const std::string& finalizers) { return service.put(kThings, thing(finalizers)); }
  ObjectRef now() { return service.find(kThings, {"default", "a"}); }
  Result<ObjectRef> carry_out(const Action& action) {
    return *run(env.loop, client.patch(action.type, action.key, action.patch_kind, action.body));
  }
  std::string finalizers() {
    const json::Document document = *now()->parse();
    std::string text;
    for (const json::Value& name : document.root.get({"metadata", "finalizers"})->items()) {
      text += (text.empty() ? "" : " ") + std::string(name.as_string());
    }
    return text;
  }
};

TEST(Finalizer, is_added_once_and_removed_without_touching_those_of_others) {
  World w;
  const ObjectRef before = w.put(R"(["example.com/other"])");
  EXPECT_FALSE(kGuard.on(*before));
  ASSERT_TRUE(w.carry_out(kGuard.add(*before, "it is needed")));
  EXPECT_TRUE(kGuard.on(*w.now()));
  EXPECT_EQ(w.finalizers(), "example.com/other example.com/guard");
  ASSERT_TRUE(w.carry_out(kGuard.add(*w.now(), "it is needed")));
  EXPECT_EQ(w.finalizers(), "example.com/other example.com/guard");
  ASSERT_TRUE(w.carry_out(kGuard.remove(*w.now(), "all is undone")));
  EXPECT_FALSE(kGuard.on(*w.now()));
  EXPECT_EQ(w.finalizers(), "example.com/other");
}

TEST(Finalizer, an_object_without_a_list_gets_one) {
  World w;
  const ObjectRef before = w.put("null");
  EXPECT_FALSE(kGuard.on(*before));
  ASSERT_TRUE(w.carry_out(kGuard.add(*before, "it is needed")));
  EXPECT_EQ(w.finalizers(), "example.com/guard");
}

TEST(Finalizer, what_another_wrote_meanwhile_is_not_lost) {
  World w;
  const ObjectRef seen = w.put(R"(["example.com/guard"])");
  w.put(R"(["example.com/guard","example.com/late"])");
  for (const Action& action : {kGuard.add(*seen, ""), kGuard.remove(*seen, "")}) {
    const Result<ObjectRef> written = w.carry_out(action);
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code, ErrorCode::conflict);
  }
  EXPECT_EQ(w.finalizers(), "example.com/guard example.com/late");
}

TEST(Finalizer, the_next_object_of_the_same_name_is_left_alone) {
  World w;
  const ObjectRef seen = w.put(R"(["example.com/guard"])");
  w.service.erase(kThings, seen->key());
  w.put(R"(["example.com/guard"])");
  for (const Action& action :
       {kGuard.remove(*seen, ""), kGuard.remove_from_any_version(seen->key(), seen->uid(), "")}) {
    const Result<ObjectRef> written = w.carry_out(action);
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code, ErrorCode::conflict);
  }
  EXPECT_EQ(w.finalizers(), "example.com/guard");
}

TEST(Finalizer, removed_from_any_version_it_names_itself_alone) {
  const Action action = kGuard.remove_from_any_version({"default", "a"}, "u-1", "counted");
  EXPECT_EQ(action.patch_kind, kube::PatchKind::strategic_merge);
  EXPECT_EQ(action.body, R"({"metadata":{"uid":"u-1",)"
                         R"("$deleteFromPrimitiveList/finalizers":["example.com/guard"]}})");
}

TEST(Finalizer, taking_the_last_one_off_lets_a_deleted_object_go) {
  World w;
  w.put(R"(["example.com/guard"])");
  ASSERT_TRUE(*run(w.env.loop, w.client.remove(kThings, {"default", "a"})));
  ASSERT_NE(w.now(), nullptr);
  ASSERT_TRUE(w.now()->deleting());
  ASSERT_TRUE(w.carry_out(kGuard.remove(*w.now(), "all is undone")));
  EXPECT_EQ(w.now(), nullptr);
}

}  // namespace
}  // namespace codeflare::runtime
