#include "json/parse.h"
#include "json/pointer.h"
#include "json/write.h"
#include "queue/demand.h"
#include "queue/marks.h"
#include "queue/testing/wrappers.h"

#include <gtest/gtest.h>

#include <string>

namespace codeflare::queue {
namespace {

using testing::pod_template;
using testing::wrapper;
using testing::wrapping;

// The item as it will be created.
class Made {
 public:
  explicit Made(const model::AppWrapper& wrapper, const InstrumentOptions& options = {},
                std::size_t item = 0) {
    const Result<Demand> demand = demand_of(wrapper);
    CHECK(demand.has_value());
    Result<std::string> text = instrumented_item(wrapper, *demand, item, options);
    CHECK(text.has_value());
    Result<json::Document> document = json::parse(*text);
    CHECK(document.has_value());
    document_ = *std::move(document);
  }
  std::string at(std::string_view pointer) const {
    const json::Value* value = json::find(document_.root, *json::Pointer::parse(pointer));
    return value == nullptr ? "absent" : json::to_text(*value);
  }
  // A label below the pointer.
  std::string label(std::string_view pointer, std::string_view key) const {
    const json::Value* labels = json::find(
        document_.root, *json::Pointer::parse(std::string(pointer) + "/metadata/labels"));
    const json::Value* value = labels == nullptr ? nullptr : labels->find(key);
    return value == nullptr ? "absent" : std::string(value->as_string());
  }

 private:
  json::Document document_;
};

const std::string kJob = R"({"apiVersion":"batch/v1","kind":"Job",
  "metadata":{"name":"j","labels":{"team":"x"}},"spec":{"template":)" +
                         pod_template(R"({"cpu":"1"})") + "}}";

TEST(Instrument, the_object_belongs_to_its_app_wrapper) {
  const Made made(wrapping(kJob));
  EXPECT_EQ(made.at("/metadata/namespace"), "\"ml\"");
  EXPECT_EQ(made.label("", kAppWrapperLabel), "aw");
  EXPECT_EQ(made.label("", kUidLabel), "u-1");
  EXPECT_EQ(made.label("", kMcadLabel), "aw");
  EXPECT_EQ(made.label("", kMcadResourceLabel), "j");
  EXPECT_EQ(made.label("", kPodSetLabel), "absent");
  EXPECT_EQ(made.at("/metadata/ownerReferences"),
            R"([{"apiVersion":"workload.codeflare.dev/v1beta1","kind":"AppWrapper","name":"aw",)"
            R"("uid":"u-1","controller":true}])");
  const Made legacy(wrapping(kJob), {.api = model::WrapperApi::mcad_v1beta1});
  EXPECT_EQ(legacy.at("/metadata/ownerReferences/0/apiVersion"), "\"mcad.ibm.com/v1beta1\"");
}

TEST(Instrument, its_pods_are_known_by_their_labels) {
  const Made made(wrapping(kJob));
  EXPECT_EQ(made.label("/spec/template", kUidLabel), "u-1");
  EXPECT_EQ(made.label("/spec/template", kPodSetLabel), "0");
  EXPECT_EQ(made.label("/spec/template", kMcadLabel), "aw");
  EXPECT_EQ(made.label("/spec/template", "team"), "x");
}

TEST(Instrument, a_pod_is_its_own_template) {
  const Made made(wrapping(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},
    "spec":{"containers":[{"name":"c"}]}})"));
  EXPECT_EQ(made.label("", kUidLabel), "u-1");
  EXPECT_EQ(made.label("", kPodSetLabel), "0");
}

TEST(Instrument, labels_of_the_object_win_except_where_its_selector_needs_the_templates) {
  const Made made(wrapping(R"({"apiVersion":"apps/v1","kind":"Deployment",
    "metadata":{"name":"d","labels":{"app":"object","tier":"object"}},
    "spec":{"selector":{"matchLabels":{"app":"pods"}},
      "template":{"metadata":{"labels":{"app":"pods","tier":"pods","own":"1"}},
                  "spec":{"containers":[{"name":"c"}]}}}})"));
  EXPECT_EQ(made.label("/spec/template", "app"), "pods");
  EXPECT_EQ(made.label("/spec/template", "tier"), "object");
  EXPECT_EQ(made.label("/spec/template", "own"), "1");
  EXPECT_EQ(made.label("", "app"), "object");
}

// As in MCAD's own tests: the template alone would not be found.
TEST(Instrument, labels_of_the_object_win_where_its_selector_needs_them) {
  const Made made(wrapping(R"({"apiVersion":"apps/v1","kind":"Deployment",
    "metadata":{"name":"d","labels":{"app":"object"}},
    "spec":{"selector":{"matchLabels":{"app":"object"}},
      "template":{"metadata":{"labels":{"app":"pods"}},"spec":{"containers":[{"name":"c"}]}}}})"));
  EXPECT_EQ(made.label("/spec/template", "app"), "object");
}

TEST(Instrument, nobody_can_pose_as_part_of_another_app_wrapper) {
  const Made made(wrapping(R"({"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"t",
    "labels":{"workload.codeflare.dev/appwrapper-uid":"other"}},
    "spec":{"deep":[{"pods":{"metadata":{"labels":{"workload.codeflare.dev/appwrapper-uid":"other",
      "workload.codeflare.dev/pod-set":"7"}},"spec":{"containers":[]}}}]}})"));
  EXPECT_EQ(made.label("", kUidLabel), "u-1");
  EXPECT_EQ(made.label("/spec/deep/0/pods", kUidLabel), "u-1");
  EXPECT_EQ(made.label("/spec/deep/0/pods", kPodSetLabel), "absent");
}

TEST(Instrument, every_template_of_a_ray_cluster_gets_its_own_pod_set) {
  const std::string object =
      R"({"apiVersion":"ray.io/v1","kind":"RayCluster",
    "metadata":{"name":"r"},"spec":{"headGroupSpec":{"template":)" +
      pod_template("{}") + R"(},"workerGroupSpecs":[{"groupName":"a","replicas":1,"template":)" +
      pod_template("{}") + R"(},{"groupName":"b","template":)" + pod_template("{}") + "}]}}";
  const Made made(
      wrapper(R"({"generictemplate":)" + kJob + R"(},{"generictemplate":)" + object + "}"), {}, 1);
  EXPECT_EQ(made.label("/spec/headGroupSpec/template", kPodSetLabel), "1");
  EXPECT_EQ(made.label("/spec/workerGroupSpecs/0/template", kPodSetLabel), "2");
  EXPECT_EQ(made.label("/spec/workerGroupSpecs/1/template", kPodSetLabel), "3");
}

TEST(Instrument, the_submitter_of_a_ray_job_gets_a_template_to_carry_labels) {
  const Made made(wrapping(R"({"apiVersion":"ray.io/v1","kind":"RayJob","metadata":{"name":"j"},
    "spec":{"rayClusterSpec":{"headGroupSpec":{"template":)" +
                           pod_template(R"({"cpu":"1"})") + "}}}}"));
  EXPECT_EQ(made.label("/spec/submitterPodTemplate", kUidLabel), "u-1");
  EXPECT_EQ(made.label("/spec/submitterPodTemplate", kPodSetLabel), "1");
  EXPECT_EQ(made.at("/spec/submitterPodTemplate/spec/containers/0/image"), "\"i\"");
  EXPECT_EQ(made.at("/spec/submitterPodTemplate/spec/restartPolicy"), "\"Never\"");
  EXPECT_EQ(made.at("/spec/submitterPodTemplate/spec/containers/0/resources/requests/cpu"),
            "\"500m\"");
}

TEST(Instrument, node_selector_and_scheduler_reach_the_pods) {
  const model::AppWrapper selecting =
      wrapping(kJob, R"("schedulingSpec":{"nodeSelector":{"pool":"ml"}},)");
  EXPECT_EQ(Made(selecting).at("/spec/template/spec/nodeSelector"), R"({"pool":"ml"})");
  EXPECT_EQ(Made(selecting).at("/spec/template/spec/schedulerName"), "absent");
  EXPECT_EQ(
      Made(selecting, {.scheduler_name = "codeflare"}).at("/spec/template/spec/schedulerName"),
      "\"codeflare\"");
  const model::AppWrapper named = wrapping(R"({"apiVersion":"v1","kind":"Pod",
    "metadata":{"name":"p"},"spec":{"schedulerName":"mine","containers":[{"name":"c"}]}})");
  EXPECT_EQ(Made(named, {.scheduler_name = "codeflare"}).at("/spec/schedulerName"), "\"mine\"");
}

TEST(Instrument, annotations_reach_the_pods_of_their_pod_set_alone) {
  const model::AppWrapper two = wrapper(R"({"generictemplate":)" + kJob +
                                        R"(},{"generictemplate":{"apiVersion":"v1","kind":"Pod",
    "metadata":{"name":"p","annotations":{"a":"b"}},"spec":{"containers":[{"name":"c"}]}}})");
  const InstrumentOptions options{.pod_annotations = {{1, {{"uses", "r"}}}}};
  EXPECT_EQ(Made(two, options, 0).at("/spec/template/metadata/annotations"), "absent");
  EXPECT_EQ(Made(two, options, 1).at("/metadata/annotations"), R"({"a":"b","uses":"r"})");
}

TEST(Instrument, a_copy_of_a_live_object_can_be_created_again) {
  const Made made(wrapping(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{
    "generateName":"c-","uid":"1","resourceVersion":"5","generation":2,"managedFields":[],
    "creationTimestamp":null,"ownerReferences":[{"uid":"o"}],"annotations":{"a":"b"}}})"));
  for (const std::string_view gone : {"uid", "resourceVersion", "generation", "managedFields",
                                      "creationTimestamp", "generateName"}) {
    EXPECT_EQ(made.at("/metadata/" + std::string(gone)), "absent");
  }
  EXPECT_TRUE(made.at("/metadata/name").starts_with("\"c-"));
  EXPECT_EQ(made.at("/metadata/annotations/a"), "\"b\"");
  EXPECT_EQ(made.at("/metadata/ownerReferences/0/uid"), "\"o\"");
  EXPECT_EQ(made.at("/metadata/ownerReferences/1/name"), "\"aw\"");
}

TEST(Instrument, a_long_name_is_cut_for_its_label) {
  const std::string name = std::string(62, 'n') + "." + std::string(30, 'n');
  const Made made(
      wrapping(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" + name + R"("}})"));
  EXPECT_EQ(made.at("/metadata/name"), "\"" + name + "\"");
  EXPECT_EQ(made.label("", kMcadResourceLabel), std::string(62, 'n'));
}

TEST(Instrument, an_item_that_is_not_there_is_an_error) {
  EXPECT_FALSE(instrumented_item(wrapper(""), Demand{}, 0, {}).has_value());
}

}  // namespace
}  // namespace codeflare::queue
