#include "model/status.h"
#include "tests/kubernetes/client/cluster.h"

#include <set>

namespace codeflare::kube {
namespace {

class CrudTest : public ClusterTest {};

TEST_F(CrudTest, an_object_lives_from_create_to_delete) {
  Result<ObjectRef> made = create("a", "1");
  ASSERT_TRUE(made) << made.error().to_string();
  EXPECT_EQ((*made)->ns(), ns_);
  EXPECT_EQ(value_of("a"), "1");
  Result<ObjectRef> updated = run(client().update(kConfigMaps, key("a"), config_map("a", "2")));
  ASSERT_TRUE(updated) << updated.error().to_string();
  EXPECT_GT((*updated)->revision(), (*made)->revision());
  EXPECT_EQ((*updated)->uid(), (*made)->uid());
  EXPECT_EQ(value_of("a"), "2");
  Result<ObjectList> list = run(client().list(kConfigMaps, {.ns = ns_}));
  ASSERT_TRUE(list) << list.error().to_string();
  ASSERT_EQ(list->items.size(), 1u);
  EXPECT_EQ(list->items[0]->name(), "a");
  Result<ObjectRef> removed = run(client().remove(kConfigMaps, key("a")));
  ASSERT_TRUE(removed) << removed.error().to_string();
  EXPECT_EQ(*removed, nullptr);
  EXPECT_EQ(value_of("a"), "not_found");
}

TEST_F(CrudTest, refusals_say_what_the_caller_may_do_and_keep_the_status) {
  Result<ObjectRef> missing = run(client().get(kConfigMaps, key("a")));
  EXPECT_EQ(outcome(missing), "not_found");
  const model::Status* status = model::status_of(missing.error());
  ASSERT_NE(status, nullptr);
  EXPECT_EQ(status->reason, "NotFound");
  EXPECT_EQ(status->code, 404);
  EXPECT_EQ(outcome(run(client().update(kConfigMaps, key("a"), config_map("a", "1")))),
            "not_found");
  EXPECT_EQ(outcome(run(client().remove(kConfigMaps, key("a")))), "not_found");
  EXPECT_EQ(outcome(create("a", "1")), "ok");
  EXPECT_EQ(outcome(create("a", "1")), "already_exists");
  EXPECT_EQ(outcome(create("Not A Name", "1")), "invalid_argument");
}

TEST_F(CrudTest, an_update_of_a_stale_version_is_a_conflict) {
  Result<ObjectRef> first = create("a", "1");
  ASSERT_TRUE(first) << first.error().to_string();
  const std::string rv = R"("resourceVersion":")" + std::string((*first)->resource_version()) + '"';
  EXPECT_EQ(outcome(run(client().update(kConfigMaps, key("a"), config_map("a", "2", rv)))), "ok");
  EXPECT_EQ(outcome(run(client().update(kConfigMaps, key("a"), config_map("a", "3", rv)))),
            "conflict");
  EXPECT_EQ(value_of("a"), "2");
}

TEST_F(CrudTest, preconditions_protect_an_object_from_deletion) {
  Result<ObjectRef> made = create("a", "1");
  ASSERT_TRUE(made) << made.error().to_string();
  EXPECT_EQ(outcome(run(client().remove(kConfigMaps, key("a"), {.uid = "another"}))), "conflict");
  EXPECT_EQ(outcome(run(client().remove(kConfigMaps, key("a"), {.resource_version = "1"}))),
            "conflict");
  EXPECT_EQ(value_of("a"), "1");
  const DeleteOptions right{.uid = std::string((*made)->uid()),
                            .resource_version = std::string((*made)->resource_version())};
  EXPECT_EQ(outcome(run(client().remove(kConfigMaps, key("a"), right))), "ok");
  EXPECT_EQ(value_of("a"), "not_found");
}

TEST_F(CrudTest, an_object_with_a_finalizer_stays_until_it_is_taken_away) {
  ASSERT_TRUE(create("a", "1", R"("finalizers":["codeflare.dev/test"])"));
  Result<ObjectRef> removed = run(client().remove(kConfigMaps, key("a")));
  ASSERT_TRUE(removed) << removed.error().to_string();
  ASSERT_NE(*removed, nullptr);
  EXPECT_TRUE((*removed)->deleting());
  EXPECT_EQ(outcome(run(client().patch(kConfigMaps, key("a"), PatchKind::merge,
                                       R"({"metadata":{"finalizers":null}})"))),
            "ok");
  EXPECT_EQ(value_of("a"), "not_found");
}

TEST_F(CrudTest, a_collection_is_deleted_by_label) {
  ASSERT_TRUE(create("a", "1", R"("labels":{"app":"x"})"));
  ASSERT_TRUE(create("b", "1", R"("labels":{"app":"x"})"));
  ASSERT_TRUE(create("c", "1", R"("labels":{"app":"y"})"));
  Result<void> removed =
      run(client().remove_collection(kConfigMaps, {.ns = ns_, .label_selector = "app=x"}));
  ASSERT_TRUE(removed) << removed.error().to_string();
  Result<ObjectList> list = run(client().list(kConfigMaps, {.ns = ns_}));
  ASSERT_TRUE(list) << list.error().to_string();
  ASSERT_EQ(list->items.size(), 1u);
  EXPECT_EQ(list->items[0]->name(), "c");
}

TEST_F(CrudTest, a_dry_run_changes_nothing) {
  Result<ObjectRef> made =
      run(client().create(kConfigMaps, ns_, config_map("a", "1"), {.dry_run = true}));
  ASSERT_TRUE(made) << made.error().to_string();
  EXPECT_EQ((*made)->string_at({"data", "value"}), "1");
  EXPECT_EQ(value_of("a"), "not_found");
  ASSERT_TRUE(create("a", "1"));
  EXPECT_EQ(outcome(run(client().remove(kConfigMaps, key("a"), {.dry_run = true}))), "ok");
  EXPECT_EQ(value_of("a"), "1");
}

TEST_F(CrudTest, the_server_makes_a_name_from_a_prefix) {
  const std::string body =
      R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"gen-"}})";
  std::set<std::string> names;
  for (int i = 0; i < 3; ++i) {
    Result<ObjectRef> made = run(client().create(kConfigMaps, ns_, body));
    ASSERT_TRUE(made) << made.error().to_string();
    EXPECT_TRUE((*made)->name().starts_with("gen-"));
    names.emplace((*made)->name());
  }
  EXPECT_EQ(names.size(), 3u);
}

TEST_F(CrudTest, metadata_alone_is_listed_without_the_data) {
  ASSERT_TRUE(create("a", "a-text-to-look-for"));
  Result<ObjectList> list = run(client().list(kConfigMaps, {.ns = ns_, .metadata_only = true}));
  ASSERT_TRUE(list) << list.error().to_string();
  ASSERT_EQ(list->items.size(), 1u);
  EXPECT_EQ(list->items[0]->name(), "a");
  EXPECT_FALSE(list->items[0]->text().contains("a-text-to-look-for"));
}

TEST_F(CrudTest, logs_are_empty_before_a_node_has_the_pod_and_refused_when_unclear) {
  Result<ObjectRef> pod =
      run(client().create(kPods, ns_, R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"web"},
                      "spec":{"containers":[{"name":"one","image":"none"},
                                            {"name":"two","image":"none"}]}})"));
  ASSERT_TRUE(pod) << pod.error().to_string();
  Result<net::Body> log = run(client().logs(key("web"), {.container = "one", .follow = true}));
  ASSERT_TRUE(log) << log.error().to_string();
  EXPECT_EQ(run(net::read_all(*std::move(log), 1000)).value_or("lost"), "");
  Result<net::Body> unclear = run(client().logs(key("web"), {}));
  ASSERT_EQ(outcome(unclear), "invalid_argument");
  EXPECT_TRUE(unclear.error().message.contains("[one two]")) << unclear.error().message;
  EXPECT_EQ(outcome(run(client().logs(key("none"), {}))), "not_found");
}

}  // namespace
}  // namespace codeflare::kube
