#include "controllers/appwrapper/testing/queue_world.h"
#include "controllers/submitter/submitter.h"
#include "json/write.h"
#include "queue/marks.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

// In whose name wrapped objects are created.
namespace codeflare::controllers::testing {
namespace {

using std::chrono::seconds;

// Signs with a word instead of a key.
class Word final : public RecordSeal {
 public:
  std::string sign(std::string_view text) const override { return "word" + std::string(text); }
  bool verify(std::string_view text, std::string_view signature) const override {
    return signature == sign(text);
  }
};

std::string map_item(std::string_view name) {
  return R"({"generictemplate":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" +
         std::string(name) + R"("}}})";
}

// An AppWrapper with these annotations, as a server without rules takes it from anybody.
void submit(QueueWorld& world, const std::string& name, const std::string& record,
            const std::string& seal = "") {
  std::string body;
  json::Writer w(body);
  w.begin_object().member("apiVersion", "workload.codeflare.dev/v1beta1");
  w.member("kind", "AppWrapper").key("metadata").begin_object().member("name", name);
  w.key("annotations").begin_object().member(queue::kUserAnnotation, record);
  w.member_if_set(kSealAnnotation, seal).end_object().end_object();
  w.key("spec").raw(R"({"resources":{"GenericItems":[)" + map_item(name) + "]}}").end_object();
  world.create(kAppWrappers, std::move(body));
}

std::string seal_for(const std::string& name, const std::string& record) {
  model::AppWrapper wrapper;
  wrapper.metadata.ns = "default";
  wrapper.metadata.name = name;
  model::GenericItem item;
  item.generic_template.text =
      R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" + name + R"("}})";
  wrapper.spec.resources.generic_items.push_back(std::move(item));
  return seal_of(wrapper, record, Word());
}

void let_ann(QueueWorld& world, const std::string& verb, const std::string& resource) {
  const model::ResourceType roles{"rbac.authorization.k8s.io", "v1", "Role", "roles", true};
  const model::ResourceType bindings{"rbac.authorization.k8s.io", "v1", "RoleBinding",
                                     "rolebindings", true};
  world.create(roles, R"({"metadata":{"name":"r"},"rules":[{"verbs":[")" + verb +
                          R"("],"apiGroups":[""],"resources":[")" + resource + R"("]}]})");
  world.create(bindings, R"({"metadata":{"name":"b"},"roleRef":{"apiGroup":
      "rbac.authorization.k8s.io","kind":"Role","name":"r"},"subjects":[{"kind":"User",
      "name":"ann","apiGroup":"rbac.authorization.k8s.io"}]})");
  world.settle();
}

const std::string kAnn = record_of({.username = "ann", .groups = {"dev"}});

QueueControllersOptions believing(SubmitterTrust trust) {
  QueueControllersOptions options;
  options.submitters = std::move(trust);
  return options;
}

TEST(Submitter, items_are_created_with_their_rights_as_they_are_then) {
  QueueWorld world(believing({.built_in = true}));
  std::string for_whom;
  world.wire.intercept = [&](const net::Request& request) -> std::optional<net::Response> {
    if (request.method == "POST" && request.target.contains("/configmaps")) {
      for_whom += std::string(request.headers.get("Impersonate-User").value_or("nobody")) + "/" +
                  std::string(request.headers.get("Impersonate-Group").value_or("")) + " ";
    }
    return std::nullopt;
  };
  world.start();
  submit(world, "early", kAnn);
  world.settle();
  EXPECT_EQ(world.status("early").state, "Failed");
  const std::string why = world.message("early", "Failed");
  EXPECT_TRUE(why.contains(R"(User "ann" cannot create resource "configmaps")")) << why;
  EXPECT_TRUE(why.contains("(spec.resources.GenericItems[0])")) << why;
  let_ann(world, "create", "configmaps");
  submit(world, "later", kAnn);
  world.settle();
  EXPECT_EQ(world.status("later").state, "Running");
  EXPECT_NE(world.get(kConfigMaps, "later"), nullptr);
  EXPECT_EQ(for_whom, "ann/dev ann/dev ");
}

TEST(Submitter, a_record_of_ones_own_making_starts_nothing) {
  QueueWorld world(believing({.seal = std::make_shared<Word>()}));
  world.start();
  let_ann(world, "create", "configmaps");
  const std::string root = record_of({.username = "root", .groups = {"system:masters"}});
  submit(world, "bare", root);
  submit(world, "invented", root, "c2VhbA==");
  submit(world, "copied", kAnn, seal_for("another", kAnn));
  submit(world, "sealed", kAnn, seal_for("sealed", kAnn));
  world.settle(seconds(5));
  for (const char* name : {"bare", "invented", "copied"}) {
    EXPECT_EQ(world.status(name).state, "Pending") << name;
    EXPECT_TRUE(world.message(name, "Queued").contains("not written by the admission webhook"))
        << name;
    EXPECT_EQ(world.get(kConfigMaps, name), nullptr) << name;
  }
  EXPECT_EQ(world.status("sealed").state, "Running");
}

TEST(Submitter, another_record_that_comes_while_it_waits_is_not_believed_either) {
  QueueWorld world(believing({.seal = std::make_shared<Word>()}));
  let_ann(world, "create", "configmaps");
  world.create(kConfigMaps, R"({"metadata":{"name":"codeflare-queue"},"data":{"paused":"true"}})");
  world.start();
  submit(world, "a", kAnn, seal_for("a", kAnn));
  world.settle();
  EXPECT_EQ(world.get(kConfigMaps, "a"), nullptr);
  const std::string root = record_of({.username = "root", .groups = {"system:masters"}});
  std::string body;
  json::Writer(body)
      .begin_object()
      .key("metadata")
      .begin_object()
      .key("annotations")
      .begin_object()
      .member(queue::kUserAnnotation, root)
      .end_object()
      .end_object()
      .end_object();
  world.patch(kAppWrappers, "a", std::move(body));
  world.patch(kConfigMaps, "codeflare-queue", R"({"data":{"paused":"false"}})");
  world.settle(seconds(5));
  EXPECT_EQ(world.get(kConfigMaps, "a"), nullptr);
  EXPECT_EQ(world.status("a").state, "Failed");
  EXPECT_TRUE(world.message("a", "Failed").contains("was not made by this cluster's admission"))
      << world.message("a", "Failed");
}

}  // namespace
}  // namespace codeflare::controllers::testing
