#include "apiserver/housekeeping/garbage_collector.h"

#include "apiserver/housekeeping/testing/recorded_api.h"
#include "apiserver/store/testing/store_world.h"

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace codeflare::apiserver {
namespace {

// A collector beside a store, with an API that only listens.
class CollectorWorld {
 public:
  CollectorWorld() {
    add_builtin_resources(registry, [this](std::string_view name) { return world.id(name); }, {});
    collector.emplace(world.env(), group, world.log.logger(world.env().clock), world.store(),
                      registry, api);
  }
  ~CollectorWorld() { world.wait(group.close()); }

  static std::string text(std::string_view name, std::string_view owner) {
    return R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" + std::string(name) +
           R"(","namespace":"ns","uid":"uid-)" + std::string(name) +
           R"(","ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":")" +
           std::string(owner) + R"(","uid":"uid-)" + std::string(owner) + R"("}]}})";
  }
  ObjectPtr create(std::string_view name, std::string_view owner) {
    Result<ObjectPtr> made = world.commit({.op = Write::Op::create,
                                           .collection = world.id("configmaps"),
                                           .ns = "ns",
                                           .name = std::string(name),
                                           .text = text(name, owner)});
    CHECK(made.has_value());
    return *made;
  }

  StoreWorld world;
  Registry registry;
  RecordedApi api;
  TaskGroup group{world.env().loop};
  std::optional<GarbageCollector> collector;
};

Task<void> give_owner(StoreWorld& world, Revision revision) {
  Write write{.op = Write::Op::update,
              .collection = world.id("configmaps"),
              .ns = "ns",
              .name = "child",
              .text = CollectorWorld::text("child", "other"),
              .expected = revision};
  const Result<ObjectPtr> written = co_await world.store().commit(std::move(write));
  EXPECT_TRUE(written.has_value());
}

TEST(GarbageCollector, deletes_what_it_has_judged_and_judges_again_when_that_has_changed) {
  CollectorWorld w;
  w.world.create("configmaps", "ns/other");
  Revision judged = 0;
  // The child gets an owner that is there in the moment in which it is to go.
  w.api.answer = [&](const RecordedApi::Call&) {
    if (judged == 0) {
      judged = w.world.store().get(w.world.id("configmaps"), "ns", "child")->revision();
      w.world.tasks.spawn(give_owner(w.world, judged));
      return RecordedApi::failure(409, "Conflict");
    }
    return RecordedApi::failure(503, "ServiceUnavailable");
  };
  w.create("child", "nobody");
  for (int i = 0; i < 20; ++i) {
    w.world.settle_loop();
  }
  ASSERT_GE(w.api.calls.size(), 2u) << "a conflict is looked at again";
  for (const RecordedApi::Call& call : w.api.calls) {
    EXPECT_EQ(call.method + " " + call.path, "DELETE /api/v1/namespaces/ns/configmaps/child");
    EXPECT_TRUE(call.body.contains(R"("preconditions":{"uid":"uid-child","resourceVersion":")" +
                                   std::to_string(judged) + "\"}"))
        << call.body;
  }
  EXPECT_TRUE(w.collector->idle()) << "it has an owner now";
}

// The collector's deletions, by path.
std::string deleted(const CollectorWorld& w) {
  std::string paths;
  for (const RecordedApi::Call& call : w.api.calls) {
    paths += call.method == "DELETE" ? call.path + "\n" : "";
  }
  return paths;
}

std::string owned(std::string_view name, std::string_view ns, std::string_view reference) {
  return R"({"metadata":{"name":")" + std::string(name) + R"(","uid":"uid-)" + std::string(name) +
         "\"" + (ns.empty() ? "" : R"(,"namespace":")" + std::string(ns) + "\"") +
         R"(,"ownerReferences":[)" + std::string(reference) + "]}}";
}

TEST(GarbageCollector, leaves_what_stands_outside_namespaces_and_names_an_owner_in_one) {
  CollectorWorld w;
  const std::string nobody = R"("name":"nobody","uid":"none"})";
  const std::string roles = "clusterroles.rbac.authorization.k8s.io";
  for (const auto& [name, kind] :
       {std::pair("held", R"({"apiVersion":"v1","kind":"ConfigMap",)"),
        std::pair("lost",
                  R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole",)")}) {
    Write write{.op = Write::Op::create,
                .collection = w.world.id(roles),
                .name = name,
                .text = owned(name, "", kind + nobody)};
    ASSERT_TRUE(w.world.commit(std::move(write)).has_value());
  }
  w.world.settle_loop();
  EXPECT_EQ(deleted(w), "/apis/rbac.authorization.k8s.io/v1/clusterroles/lost\n");
  EXPECT_TRUE(w.collector->idle());
}

Resource fruits(StoreWorld& world) {
  Resource resource{.group = "example.com", .plural = "fruits", .kind = "Fruit"};
  resource.versions.push_back({.version = "v1"});
  resource.custom = true;
  resource.collection = world.id("fruits.example.com");
  return resource;
}

const std::string kFruit = R"({"apiVersion":"example.com/v1","kind":"Fruit","name":"f",)"
                           R"("uid":"uid-f"})";

TEST(GarbageCollector, leaves_what_names_an_owner_of_a_kind_that_is_not_served_until_it_is) {
  CollectorWorld w;
  Write write = w.world.creation("configmaps", "ns/imported");
  write.text = owned("imported", "ns", kFruit);
  ASSERT_TRUE(w.world.commit(std::move(write)).has_value());
  w.world.settle_loop();
  EXPECT_EQ(deleted(w), "");
  w.registry.add(fruits(w.world));
  w.world.create("customresourcedefinitions.apiextensions.k8s.io", "fruits.example.com");
  w.world.settle_loop();
  EXPECT_EQ(deleted(w), "/api/v1/namespaces/ns/configmaps/imported\n");
}

TEST(GarbageCollector, deletes_what_an_owner_left_behind_that_took_its_kind_along) {
  CollectorWorld w;
  w.registry.add(fruits(w.world));
  const ObjectPtr fruit = w.world.create("fruits.example.com", "ns/f");
  Write write = w.world.creation("configmaps", "ns/child");
  write.text = owned("child", "ns", kFruit);
  ASSERT_TRUE(w.world.commit(std::move(write)).has_value());
  w.world.settle_loop();
  EXPECT_EQ(deleted(w), "");
  w.registry.remove("example.com", "fruits");
  ASSERT_TRUE(w.world.commit(w.world.removal(fruit)).has_value());
  w.world.settle_loop();
  EXPECT_EQ(deleted(w), "/api/v1/namespaces/ns/configmaps/child\n");
}

// One that a finalizer of somebody else's holds; `more` are its other finalizers.
ObjectPtr create_going(CollectorWorld& w, const std::string& name, const std::string& more = "") {
  Write write = w.world.creation("configmaps", "ns/" + name);
  write.text = R"({"metadata":{"name":")" + name + R"(","namespace":"ns","uid":"uid-)" + name +
               R"(","deletionTimestamp":"2026-01-01T00:00:00Z","finalizers":["a.b/held")" + more +
               "]}}";
  Result<ObjectPtr> made = w.world.commit(std::move(write));
  CHECK(made.has_value());
  w.world.settle_loop();
  return *made;
}

std::string reference(std::string_view owner, std::string_view more = "") {
  return R"({"apiVersion":"v1","kind":"ConfigMap","name":")" + std::string(owner) +
         R"(","uid":"uid-)" + std::string(owner) + "\"" + std::string(more) + "}";
}

// With `count` references to the owner, each with what `more` gives for its number.
void create_child(CollectorWorld& w, std::string_view name, std::string_view owner, int count,
                  const std::function<std::string(int)>& more) {
  std::string references;
  for (int i = 0; i < count; ++i) {
    references += (i == 0 ? "" : ",") + reference(owner, more(i));
  }
  Write write = w.world.creation("configmaps", "ns/" + std::string(name));
  write.text = owned(name, "ns", references);
  ASSERT_TRUE(w.world.commit(std::move(write)).has_value());
  w.world.settle_loop();
}

// Unequal references, all to the same owner.
std::string distinct(int number) {
  return R"(,"blockOwnerDeletion":)" + std::string(number % 2 == 0 ? "true" : "false") +
         R"(,"other":)" + std::to_string(number);
}

TEST(GarbageCollector, reads_an_owner_that_goes_once_whatever_refers_to_it) {
  CollectorWorld w;
  create_going(w, "owner");
  EXPECT_EQ(w.collector->effort().finalizers_read, 1u);
  create_child(w, "child", "owner", 300, distinct);
  create_child(w, "other", "owner", 300, [](int) { return ""; });
  EXPECT_EQ(w.collector->effort().finalizers_read, 1u);
  TaskGroup group(w.world.env().loop);
  GarbageCollector next(w.world.env(), group, w.world.log.logger(w.world.env().clock),
                        w.world.store(), w.registry, w.api);
  EXPECT_EQ(next.effort().finalizers_read, 1u) << "at a start";
  w.world.wait(group.close());
}

TEST(GarbageCollector, judges_equal_references_once) {
  CollectorWorld w;
  w.world.create("configmaps", "ns/owner");
  create_child(w, "child", "owner", 300, [](int) { return ""; });
  EXPECT_EQ(w.collector->effort().references_judged, 1u);
}

TEST(GarbageCollector, an_owner_is_looked_at_when_its_last_blocking_dependent_has_gone) {
  CollectorWorld w;
  constexpr int kDependents = 60;
  for (int i = 0; i < kDependents; ++i) {
    create_child(w, "child" + std::to_string(i), "owner", 1,
                 [](int) { return R"(,"blockOwnerDeletion":true)"; });
  }
  // Each lost its owner, until the owner comes.
  w.api.calls.clear();
  create_going(w, "owner", R"(,"foregroundDeletion")");
  EXPECT_EQ(w.api.calls.size(), std::size_t{kDependents}) << "each dependent is deleted once";
  for (int i = 0; i < kDependents; ++i) {
    EXPECT_EQ(w.api.calls.size(), std::size_t{kDependents});
    const ObjectPtr child =
        w.world.store().get(w.world.id("configmaps"), "ns", "child" + std::to_string(i));
    ASSERT_TRUE(w.world.commit(w.world.removal(child)).has_value());
    w.world.settle_loop();
  }
  ASSERT_EQ(w.api.calls.size(), kDependents + 1u);
  EXPECT_EQ(w.api.calls.back().method, "PATCH");
  EXPECT_TRUE(w.api.calls.back().body.contains(R"("finalizers":["a.b/held"])"))
      << w.api.calls.back().body;
}

}  // namespace
}  // namespace codeflare::apiserver
