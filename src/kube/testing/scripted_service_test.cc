#include "kube/testing/scripted_service.h"

#include "base/env/sim_env.h"
#include "json/parse.h"
#include "kube/client.h"

#include <gtest/gtest.h>

namespace codeflare::kube::testing {
namespace {

const ResourceType kPods{"", "v1", "Pod", "pods", true};

class ScriptedServiceTest : public ::testing::Test {
 protected:
  template <typename T>
  T run(Task<T> task) {
    std::optional<T> value = codeflare::run(sim_.env().loop, std::move(task));
    CHECK(value.has_value());
    return *std::move(value);
  }
  std::string pod(const std::string& name, const std::string& meta = "",
                  const std::string& rest = "") {
    return R"({"metadata":{"name":")" + name + "\"" + meta + "}" + rest + "}";
  }

  SimEnv sim_;
  ScriptedService service_{sim_.env()};
  Client client_{sim_.env(), service_};
};

TEST_F(ScriptedServiceTest, creates_reads_updates_and_deletes) {
  const ObjectRef made = *run(client_.create(kPods, "a", pod("x", "", R"(,"spec":{"n":1})")));
  EXPECT_EQ(made->key(), (ObjectKey{"a", "x"}));
  EXPECT_EQ(made->resource_version(), "101");
  EXPECT_EQ(made->generation(), 1);
  EXPECT_FALSE(made->uid().empty());
  EXPECT_EQ(run(client_.create(kPods, "a", pod("x"))).error().code, ErrorCode::already_exists);

  const ObjectRef changed = *run(client_.update(
      kPods, {"a", "x"}, pod("x", R"(,"resourceVersion":"101")", R"(,"spec":{"n":2})")));
  EXPECT_EQ(changed->resource_version(), "102");
  EXPECT_EQ(changed->generation(), 2);
  EXPECT_EQ(changed->uid(), made->uid());
  EXPECT_EQ(
      run(client_.update(kPods, {"a", "x"}, pod("x", R"(,"resourceVersion":"101")"))).error().code,
      ErrorCode::conflict);
  EXPECT_EQ(run(client_.update(kPods, {"a", "x"}, changed->text())).value()->resource_version(),
            "102")
      << "nothing changed, nothing written";

  EXPECT_EQ(run(client_.remove(kPods, {"a", "x"}, {.uid = "other"})).error().code,
            ErrorCode::conflict);
  EXPECT_EQ(run(client_.remove(kPods, {"a", "x"})).value(), nullptr);
  EXPECT_EQ(run(client_.get(kPods, {"a", "x"})).error().code, ErrorCode::not_found);
}

TEST_F(ScriptedServiceTest, patches_in_four_ways) {
  run(client_.create(kPods, "a", pod("x", "", R"(,"spec":{"n":1,"m":1})"))).value();
  auto spec_after = [&](PatchKind kind, std::string patch) {
    const ObjectRef object = *run(client_.patch(kPods, {"a", "x"}, kind, std::move(patch)));
    const json::Document tree = *object->parse();
    return tree.root.get({"spec", "n"})->to_int64().value();
  };
  EXPECT_EQ(spec_after(PatchKind::merge, R"({"spec":{"n":2}})"), 2);
  EXPECT_EQ(spec_after(PatchKind::json, R"([{"op":"replace","path":"/spec/n","value":3}])"), 3);
  EXPECT_EQ(spec_after(PatchKind::strategic_merge, R"({"spec":{"n":4}})"), 4);
  EXPECT_EQ(spec_after(PatchKind::apply, R"({"spec":{"n":5}})"), 5);
  EXPECT_EQ(run(client_.apply(kPods, {"a", "new"}, pod("new"))).value()->name(), "new");
  EXPECT_EQ(run(client_.patch(kPods, {"a", "x"}, PatchKind::json,
                              R"([{"op":"test","path":"/spec/n","value":9}])"))
                .error()
                .code,
            ErrorCode::invalid_argument);
}

TEST_F(ScriptedServiceTest, status_and_the_rest_are_written_apart) {
  run(client_.create(kPods, "a", pod("x", "", R"(,"spec":{"n":1},"status":{"s":1})"))).value();
  auto member = [&](const char* object, const char* name) -> std::optional<std::int64_t> {
    const json::Document tree = *service_.find(kPods, {"a", "x"})->parse();
    const json::Value* value = tree.root.get({object, name});
    return value == nullptr ? std::nullopt : value->to_int64();
  };
  EXPECT_EQ(member("status", "s"), std::nullopt);
  run(client_.update(kPods, {"a", "x"}, pod("x", "", R"(,"spec":{"n":7},"status":{"s":2})"),
                     {.subresource = "status"}))
      .value();
  EXPECT_EQ(member("status", "s"), 2);
  EXPECT_EQ(member("spec", "n"), 1);
  EXPECT_EQ(service_.find(kPods, {"a", "x"})->generation(), 1);
  run(client_.update(kPods, {"a", "x"}, pod("x", "", R"(,"spec":{"n":8},"status":{"s":9})")))
      .value();
  EXPECT_EQ(member("status", "s"), 2);
  EXPECT_EQ(member("spec", "n"), 8);
}

TEST_F(ScriptedServiceTest, finalizers_hold_an_object_until_the_last_is_gone) {
  run(client_.create(kPods, "a", pod("x", R"(,"finalizers":["f"])"))).value();
  const ObjectRef stays = *run(client_.remove(kPods, {"a", "x"}));
  ASSERT_NE(stays, nullptr);
  EXPECT_TRUE(stays->deleting());
  run(client_.patch(kPods, {"a", "x"}, PatchKind::merge, R"({"metadata":{"finalizers":null}})"))
      .value();
  EXPECT_EQ(service_.find(kPods, {"a", "x"}), nullptr);
}

TEST_F(ScriptedServiceTest, pages_show_one_moment_until_it_is_compacted) {
  for (const char* name : {"a", "b", "c"}) {
    run(client_.create(kPods, "ns", pod(name))).value();
  }
  const ObjectList first = *run(client_.list(kPods, {.limit = 2}));
  EXPECT_EQ(first.items.size(), 2u);
  service_.erase(kPods, {"ns", "c"});
  ListOptions next{.limit = 2, .continue_token = first.continue_token};
  const ObjectList second = *run(client_.list(kPods, next));
  ASSERT_EQ(second.items.size(), 1u);
  EXPECT_EQ(second.items[0]->name(), "c");
  EXPECT_EQ(second.resource_version, first.resource_version);
  service_.compact();
  EXPECT_EQ(run(client_.list(kPods, next)).error().code, ErrorCode::expired);
}

TEST_F(ScriptedServiceTest, selectors_choose) {
  run(client_.create(kPods, "a", pod("x", R"(,"labels":{"k":"1"})", R"(,"spec":{"nodeName":"n"})")))
      .value();
  run(client_.create(kPods, "b", pod("y", R"(,"labels":{"k":"2"})"))).value();
  auto count = [&](ListOptions options) { return run(client_.list(kPods, options))->items.size(); };
  EXPECT_EQ(count({}), 2u);
  EXPECT_EQ(count({.ns = "a"}), 1u);
  EXPECT_EQ(count({.label_selector = "k in (2,3)"}), 1u);
  EXPECT_EQ(count({.field_selector = "spec.nodeName=n"}), 1u);
  EXPECT_EQ(count({.field_selector = "metadata.name!=x"}), 1u);
  EXPECT_EQ(run(client_.list(kPods, {.label_selector = "=="})).error().code,
            ErrorCode::invalid_argument);
  EXPECT_TRUE(run(client_.remove_collection(kPods, {.ns = "a"})));
  EXPECT_EQ(count({}), 1u);
}

}  // namespace
}  // namespace codeflare::kube::testing
