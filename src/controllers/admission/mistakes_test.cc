#include "controllers/admission/testing/admission_world.h"
#include "controllers/admission/wrapped_findings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

// Mistakes in manifests: each is rejected or warned about when the AppWrapper is created.
namespace codeflare::admission {
namespace {

using testing::AdmissionWorld;
using testing::Reply;

constexpr std::string_view kTeam =
    "/apis/workload.codeflare.dev/v1beta1/namespaces/team/appwrappers";

std::string wrap(const std::string& items) {
  return R"({"apiVersion":"workload.codeflare.dev/v1beta1","kind":"AppWrapper",
      "metadata":{"name":"w"},"spec":{"resources":{"GenericItems":[)" +
         items + "]}}}";
}

std::string item(const std::string& object) {
  return R"({"generictemplate":)" + object + "}";
}

// A Job whose pods have this spec.
std::string job(const std::string& pod_spec, const std::string& job_spec = "") {
  return item(R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j"},"spec":{)" +
              job_spec + R"("template":{"spec":)" + pod_spec + "}}}");
}

// A Job with one container that has these members.
std::string container(const std::string& members, const std::string& more = "") {
  return job(R"({"restartPolicy":"Never",)" + more + R"("containers":[{"name":"c","image":"i",)" +
             members + "}]}");
}

std::string resources(const std::string& text) {
  return container(R"("resources":)" + text);
}

const std::string kContainers = R"("containers":[{"name":"c","image":"i"}])";

struct Mistake {
  std::string what;
  std::string items;
  int status;
  std::string text;  // in the answer
};

std::vector<Mistake> mistakes() {
  const std::string good = R"({"restartPolicy":"Never",)" + kContainers + "}";
  const std::string at = "spec.resources.GenericItems[0].generictemplate";
  const std::string pod = at + ".spec.template.spec";
  return {
      {"no items", "", 422, "spec.resources.GenericItems"},
      {"a kind that is not served",
       item(R"({"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"x"}})"), 422,
       at + ".kind: this server has no kind Thing in example.com/v1"},
      {"a kind that is misspelt",
       item(R"({"apiVersion":"batch/v1","kind":"Jobs","metadata":{"name":"x"}})"), 422,
       "no kind Jobs in batch/v1"},
      {"a version that is not served",
       item(R"({"apiVersion":"batch/v2","kind":"Job","metadata":{"name":"x"}})"), 422,
       "no kind Job in batch/v2"},
      {"no apiVersion", item(R"({"kind":"Job","metadata":{"name":"x"}})"), 422,
       at + ".apiVersion: required"},
      {"no name", item(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{}})"), 422,
       at + ".metadata.name"},
      {"a name with capitals",
       item(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"My_Map"}})"), 422,
       at + ".metadata.name: Invalid value"},
      {"another namespace",
       item(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"b"}})"),
       422, at + ".metadata.namespace: must be the AppWrapper's own"},
      {"a label that is none", item(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a",
               "labels":{"team":"a b"}}})"),
       422, at + ".metadata.labels"},
      {"a key with a blank", item(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},
               "data":{"bad key!":"x"}})"),
       422, at + ".data[bad key!]: Invalid value"},
      {"a kind of the whole cluster",
       item(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"a"}})"), 422,
       "namespaces are cluster-scoped"},
      {"the same object twice", job(good) + "," + job(good), 422,
       "the same object as in spec.resources.GenericItems[0]"},
      {"a Job without restartPolicy", job("{" + kContainers + "}"), 422, pod + ".restartPolicy"},
      {"a restartPolicy in small letters", job(R"({"restartPolicy":"never",)" + kContainers + "}"),
       422, pod + ".restartPolicy"},
      {"no containers", job(R"({"restartPolicy":"Never"})"), 422, pod + ".containers"},
      {"a container without a name",
       job(R"({"restartPolicy":"Never","containers":[{"image":"i"}]})"), 422,
       pod + ".containers[0].name"},
      {"a container without an image",
       job(R"({"restartPolicy":"Never","containers":[{"name":"c"}]})"), 422,
       pod + ".containers[0].image"},
      {"two containers of one name",
       job(R"({"restartPolicy":"Never","containers":[{"name":"c","image":"i"},
               {"name":"c","image":"i"}]})"),
       422, pod + ".containers[1].name: Duplicate value"},
      {"a mount of no volume", container(R"("volumeMounts":[{"name":"data","mountPath":"/d"}])"),
       422, pod + ".containers[0].volumeMounts[0].name: Not found"},
      {"a variable without a name", container(R"("env":[{"value":"1"}])"), 422,
       pod + ".containers[0].env[0].name"},
      {"a port that is none", container(R"("ports":[{"containerPort":70000}])"), 422,
       pod + ".containers[0].ports[0].containerPort"},
      {"cpus", resources(R"({"requests":{"cpus":"1"}})"), 422, "did you mean cpu?"},
      {"gpu", resources(R"({"limits":{"gpu":"1"}})"), 422, "did you mean nvidia.com/gpu?"},
      {"a quantity that is none", resources(R"({"requests":{"memory":"1 Gi"}})"), 422,
       "unable to parse quantity's suffix"},
      {"a request above its limit", resources(R"({"requests":{"cpu":"2"},"limits":{"cpu":"1"}})"),
       422, "must be less than or equal to cpu limit of 1"},
      {"a GPU without a limit", resources(R"({"requests":{"nvidia.com/gpu":"1"}})"), 422,
       "Limit must be set for non overcommitable resources"},
      {"half a GPU", resources(R"({"limits":{"nvidia.com/gpu":"500m"}})"), 422,
       "must be an integer"},
      {"containers that ask for more than their pod",
       container(R"("resources":{"requests":{"cpu":"2"}})",
                 R"("resources":{"requests":{"cpu":"1"}},)"),
       422, "aggregate container requests of 2"},
      {"a number in words", job(good, R"("parallelism":"two",)"), 422,
       at + ".spec.parallelism: expected a whole number"},
      {"a negative number", job(good, R"("parallelism":-1,)"), 422, at + ".spec.parallelism"},
      {"a selector that does not match",
       item(R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{
               "selector":{"matchLabels":{"app":"a"}},"template":{"metadata":{"labels":{"app":"b"}},
               "spec":{)" +
            kContainers + "}}}}"),
       422, at + ".spec.template.metadata.labels"},
      {"a field in small letters",
       item(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{
               "restartpolicy":"Never",)" +
            kContainers + "}}"),
       201, "unknown field \"" + at + ".spec.restartpolicy\"; did you mean restartPolicy?"},
      {"a field of nobody",
       item(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"xyzzy":1,)" +
            kContainers + "}}"),
       201, "unknown field \"" + at + ".spec.xyzzy\""},
  };
}

std::string without_backslashes(std::string text) {
  std::erase(text, '\\');
  return text;
}

TEST(Mistakes, are_found_when_the_app_wrapper_is_created) {
  ASSERT_GE(mistakes().size(), 25u);
  for (const Mistake& mistake : mistakes()) {
    AdmissionWorld world;
    const Reply reply = world.as("admin", "POST", kTeam, wrap(mistake.items));
    EXPECT_EQ(reply.status, mistake.status) << mistake.what << ": " << reply.body;
    const bool told = mistake.status == 201
                          ? std::ranges::any_of(reply.warnings,
                                                [&](const std::string& each) {
                                                  return without_backslashes(each) ==
                                                         "299 - \"" + mistake.text + "\"";
                                                })
                          : reply.body.contains(mistake.text);
    EXPECT_TRUE(told) << mistake.what << ": wanted " << mistake.text << ", got " << reply.body;
  }
}

TEST(Mistakes, labels_that_pods_inherit_at_dispatch_count_for_selectors) {
  AdmissionWorld world;
  const Reply reply = world.as(
      "admin", "POST", kTeam,
      wrap(item(R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d",)"
                R"("labels":{"app":"d"}},"spec":{"selector":{"matchLabels":{"app":"d"}},)"
                R"("template":{"metadata":{"labels":{"app":"other"}},"spec":{"containers":[)"
                R"({"name":"c","image":"x"}]}}}})")));
  EXPECT_EQ(reply.status, 201) << reply.body;
}

TEST(Mistakes, of_every_item_are_told_at_once) {
  AdmissionWorld world;
  const Reply reply = world.as(
      "admin", "POST", kTeam,
      wrap(resources(R"({"requests":{"cpus":"1"}})") + "," +
           item(R"({"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"x"}})")));
  EXPECT_EQ(reply.status, 422);
  EXPECT_TRUE(reply.body.contains("did you mean cpu?")) << reply.body;
  EXPECT_TRUE(reply.body.contains("no kind Thing in example.com/v1")) << reply.body;
}

TEST(Mistakes, all_items_that_the_user_may_not_create_are_named) {
  AdmissionWorld world;
  world.let_ann_submit_config_maps();
  const auto object = [](const std::string& kind) {
    return item(R"({"apiVersion":"v1","kind":")" + kind + R"(","metadata":{"name":"x"}})");
  };
  const Reply reply =
      world.as("ann", "POST", kTeam,
               wrap(object("Secret") + "," + object("ConfigMap") + "," + object("Service")));
  EXPECT_EQ(reply.status, 422) << reply.body;  // the Service has no ports
  EXPECT_TRUE(reply.body.contains("cannot create secrets in namespace")) << reply.body;
  EXPECT_TRUE(reply.body.contains("cannot create services in namespace")) << reply.body;
  EXPECT_FALSE(reply.body.contains("cannot create configmaps")) << reply.body;
  const Reply refused =
      world.as("ann", "POST", kTeam, wrap(object("Secret") + "," + object("ServiceAccount")));
  EXPECT_EQ(refused.status, 403) << refused.body;
  EXPECT_TRUE(refused.body.contains("cannot create secrets")) << refused.body;
  EXPECT_TRUE(refused.body.contains("cannot create serviceaccounts")) << refused.body;
}

TEST(UnknownField, is_read_in_the_words_of_the_server) {
  EXPECT_EQ(unknown_field_in(R"(unknown field "spec.x")"), "spec.x");
  EXPECT_EQ(unknown_field_in("something else"), "");
}

}  // namespace
}  // namespace codeflare::admission
