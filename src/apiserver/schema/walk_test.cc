#include "apiserver/schema/walk.h"

#include "apiserver/schema/checks.h"
#include "json/parse.h"
#include "json/write.h"

#include <gtest/gtest.h>

#include <array>

namespace codeflare::apiserver::schema {
namespace {

const Node kString{.shape = Shape::string};
const Node kBoolean{.shape = Shape::boolean};
const Node kInt32{.shape = Shape::integer, .bits = 32};
const Node kQuantity{.shape = Shape::quantity};
const Node kTime{.shape = Shape::time};
const Node kAny{.shape = Shape::any};
const Node kPolicy{.shape = Shape::string, .default_json = "\"Always\""};
const Node kLabels{.shape = Shape::map, .items = &kString};
const std::array<Field, 2> kMetaFields = {
    {{.name = "labels", .node = &kLabels}, {.name = "name", .node = &kString}}};
const Node kMeta{.shape = Shape::structure,
                 .type_name = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta",
                 .fields = kMetaFields};
const std::array<Field, 4> kContainerFields = {
    {{.name = "cpu", .node = &kQuantity},
     {.name = "name", .node = &kString, .required = true},
     {.name = "port", .node = &kInt32},
     {.name = "pull", .node = &kPolicy}}};
const Node kContainer{.shape = Shape::structure,
                      .type_name = "io.k8s.api.core.v1.Container",
                      .fields = kContainerFields};
const std::array<std::string_view, 1> kNameKey = {"name"};
const Node kContainers{
    .shape = Shape::list, .list_type = ListType::map, .items = &kContainer, .map_keys = kNameKey};
const std::array<Field, 4> kSpecFields = {{{.name = "containers", .node = &kContainers},
                                           {.name = "hostNetwork", .node = &kBoolean},
                                           {.name = "raw", .node = &kAny},
                                           {.name = "start", .node = &kTime}}};
const Node kSpec{
    .shape = Shape::structure, .type_name = "io.k8s.api.core.v1.PodSpec", .fields = kSpecFields};
const std::array<Field, 2> kPodFields = {
    {{.name = "metadata", .node = &kMeta}, {.name = "spec", .node = &kSpec}}};
const Node kPod{
    .shape = Shape::structure, .type_name = "io.k8s.api.core.v1.Pod", .fields = kPodFields};

json::Document read(std::string_view text) {
  auto document = json::parse(text);
  EXPECT_TRUE(document) << text;
  return std::move(*document);
}

std::string pruned(std::string_view text, std::vector<std::string>* unknown) {
  json::Document document = read(text);
  prune(kPod, document.root, unknown);
  return json::to_text(document.root);
}

std::string defaulted(std::string_view text) {
  json::Document document = read(text);
  apply_defaults(kPod, document.arena, document.root);
  return json::to_text(document.root);
}

std::string shape_error(std::string_view text) {
  json::Document document = read(text);
  auto result = check_shapes(kPod, document.root);
  return result ? "" : result.error().message;
}

TEST(Prune, removes_what_the_schema_does_not_know_and_names_it) {
  std::vector<std::string> unknown;
  EXPECT_EQ(
      pruned(
          R"({"kind":"Pod","zz":1,"metadata":{"labels":{"a":"b"},"x":1},"spec":{"containers":[{"name":"c","foo":1}],"raw":{"any":[1]},"bar":{}}})",
          &unknown),
      R"({"kind":"Pod","metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c"}],"raw":{"any":[1]}}})");
  EXPECT_EQ(unknown,
            (std::vector<std::string>{"metadata.x", "spec.bar", "spec.containers[0].foo", "zz"}));
}

TEST(Prune, keeps_unknown_fields_where_told_but_prunes_the_known_ones_below) {
  const std::array<Field, 1> fields = {{{.name = "spec", .node = &kSpec}}};
  const Node open{.shape = Shape::structure, .preserve_unknown = true, .fields = fields};
  json::Document document = read(R"({"x":{"y":1},"spec":{"z":1,"hostNetwork":true}})");
  prune(open, document.root, nullptr);
  EXPECT_EQ(json::to_text(document.root), R"({"x":{"y":1},"spec":{"hostNetwork":true}})");
}

TEST(Prune, looks_into_objects_of_an_open_shape_with_items) {
  const Node open{.shape = Shape::any, .items = &kContainer};
  json::Document document = read(R"([{"name":"a","x":1},true])");
  prune(open, document.root, nullptr);
  EXPECT_EQ(json::to_text(document.root), R"([{"name":"a"},true])");
}

TEST(Defaults, fill_absent_and_null_fields_but_make_no_parents) {
  EXPECT_EQ(
      defaulted(
          R"({"spec":{"containers":[{"name":"a"},{"name":"b","pull":null},{"name":"c","pull":"Never"}]}})"),
      R"({"spec":{"containers":[{"name":"a","pull":"Always"},{"name":"b","pull":"Always"},{"name":"c","pull":"Never"}]}})");
  EXPECT_EQ(defaulted("{}"), "{}");
}

TEST(Defaults, drop_nulls_that_the_schema_does_not_allow) {
  EXPECT_EQ(defaulted(R"({"metadata":{"name":null,"labels":{"a":null}},"spec":{"raw":null}})"),
            R"({"metadata":{"labels":{}},"spec":{"raw":null}})");
}

TEST(CheckShapes, words_a_mismatch_as_failed_decoding) {
  EXPECT_EQ(
      shape_error(R"({"spec":{"hostNetwork":"yes"}})"),
      "json: cannot unmarshal string into Go struct field PodSpec.spec.hostNetwork of type bool");
  EXPECT_EQ(shape_error(R"({"spec":{"containers":[{"port":1.5}]}})"),
            "json: cannot unmarshal number 1.5 into Go struct field Container.spec.containers.port "
            "of type int32");
  EXPECT_EQ(shape_error(R"({"spec":{"containers":{}}})"),
            "json: cannot unmarshal object into Go struct field PodSpec.spec.containers of type "
            "[]v1.Container");
  EXPECT_EQ(shape_error(R"({"metadata":{"labels":{"a":1}}})"),
            "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type "
            "string");
  EXPECT_EQ(shape_error(R"({"spec":[]})"),
            "json: cannot unmarshal array into Go struct field Pod.spec of type v1.PodSpec");
  EXPECT_EQ(shape_error("7"), "json: cannot unmarshal number into Go value of type v1.Pod");
  EXPECT_EQ(shape_error(R"({"spec":{"start":"soon"}})"),
            R"(parsing time "soon" as "2006-01-02T15:04:05Z07:00": cannot parse "soon" as "2006")");
  EXPECT_NE(shape_error(R"({"spec":{"containers":[{"cpu":"1x"}]}})").find("quantit"),
            std::string::npos);
  EXPECT_EQ(
      shape_error(
          R"({"spec":{"hostNetwork":null,"containers":[{"cpu":1,"port":80}],"start":"2026-01-02T03:04:05Z"}})"),
      "");
}

TEST(Prune, reports_the_first_hundred_unknown_fields_and_no_long_paths) {
  std::string text = "{\"" + std::string(100'000, 'x') + "\":1";
  for (int i = 0; i < 100'000; ++i) {
    text += ",\"u" + std::to_string(i) + "\":1";
  }
  json::Document document = read(text + "}");
  std::vector<std::string> unknown;
  prune(kPod, document.root, &unknown);
  EXPECT_EQ(document.root.size(), 0u);
  EXPECT_EQ(unknown.size(), 100u);
  for (const std::string& path : unknown) {
    EXPECT_LT(path.size(), 4096u);
  }
}

}  // namespace
}  // namespace codeflare::apiserver::schema
