#include "apiserver/openapi/documents.h"

#include "apiserver/crd/definition.h"
#include "apiserver/crd/names.h"
#include "apiserver/openapi/handler.h"
#include "apiserver/schema/builtin.h"
#include "base/env/sim_env.h"
#include "json/parse.h"
#include "json/write.h"
#include "net/gzip.h"

#include <gtest/gtest.h>

#include <set>

namespace codeflare::apiserver {
namespace {

constexpr std::string_view kDefinition =
    R"({"metadata":{"name":"widgets.example.com"},"spec":{"group":"example.com","scope":"Namespaced",
  "names":{"plural":"widgets","singular":"widget","kind":"Widget","listKind":"WidgetList"},
  "versions":[{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},"schema":{"openAPIV3Schema":{"type":"object","required":["spec"],"properties":{"spec":{"type":"object","properties":{
    "size":{"type":"integer","format":"int32","minimum":1,"default":3},"color":{"type":"string","enum":["red","blue"]},"port":{"x-kubernetes-int-or-string":true},
    "names":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}}}},"status":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}}]}})";

struct World {
  explicit World(std::string_view text = kDefinition) {
    CollectionId next = 0;
    add_builtin_resources(registry, [&](std::string_view) { return ++next; }, {});
    auto definition = json::parse(text);
    settle_status(definition->arena, definition->root, {}, WallTime());
    FieldErrors errors;
    CompiledVersions schemas = validate_definition(definition->root, nullptr,
                                                   {.object_meta = schema::object_meta()}, errors);
    EXPECT_TRUE(errors.empty());
    registry.add(*make_resource(definition->root, schemas, 1'000));
  }
  json::Document v3(std::string_view path) {
    std::optional<std::string> text = OpenApiDocuments(registry).v3(path);
    EXPECT_TRUE(text.has_value()) << path;
    auto document = json::parse(*text);
    EXPECT_TRUE(document.has_value()) << path;
    return *std::move(document);
  }
  Registry registry;
};

// Every "$ref" below a value.
void collect_references(const json::Value& value, std::set<std::string>& references) {
  for (const json::Member& member : value.members()) {
    if (member.key == "$ref" && member.value.is_string()) {
      references.emplace(member.value.as_string());
    }
    collect_references(member.value, references);
  }
  for (const json::Value& item : value.items()) {
    collect_references(item, references);
  }
}

TEST(OpenApi, every_document_is_complete_in_itself) {
  World world;
  auto index = json::parse(OpenApiDocuments(world.registry).v3_index());
  ASSERT_TRUE(index.has_value());
  EXPECT_NE(index->root.get({"paths", "api/v1"}), nullptr);
  EXPECT_NE(index->root.get({"paths", "apis/example.com/v1"}), nullptr);
  EXPECT_GT(index->root.find("paths")->size(), 20u);
  for (const json::Member& entry : index->root.find("paths")->members()) {
    json::Document document = world.v3(entry.key);
    std::set<std::string> references;
    collect_references(document.root, references);
    for (const std::string& reference : references) {
      constexpr std::string_view kPrefix = "#/components/schemas/";
      ASSERT_TRUE(reference.starts_with(kPrefix)) << reference;
      EXPECT_NE(document.root.get(
                    {"components", "schemas", std::string_view(reference).substr(kPrefix.size())}),
                nullptr)
          << entry.key << " " << reference;
    }
  }
}

TEST(OpenApi, kubectl_finds_what_it_asks_for) {
  World world;
  json::Document batch = world.v3("apis/batch/v1");
  const json::Value* item =
      batch.root.get({"paths", "/apis/batch/v1/namespaces/{namespace}/jobs/{name}"});
  ASSERT_NE(item, nullptr);
  // apply --validate: the PATCH operation of the kind has fieldValidation; it may be strategic.
  const json::Value* patch = item->find("patch");
  EXPECT_EQ(json::to_text(*patch->find("x-kubernetes-group-version-kind")),
            R"({"group":"batch","kind":"Job","version":"v1"})");
  EXPECT_NE(
      json::to_text(*patch->find("parameters")).find(R"({"in":"query","name":"fieldValidation")"),
      std::string::npos);
  EXPECT_NE(patch->get({"requestBody", "content", "application/strategic-merge-patch+json"}),
            nullptr);
  // explain: a GET of the list carries the kind, and the kind's schema says that it is it.
  EXPECT_NE(batch.root.get({"paths", "/apis/batch/v1/namespaces/{namespace}/jobs", "get",
                            "x-kubernetes-group-version-kind"}),
            nullptr);
  const json::Value* job = batch.root.get({"components", "schemas", "io.k8s.api.batch.v1.Job"});
  ASSERT_NE(job, nullptr);
  EXPECT_EQ(json::to_text(*job->find("x-kubernetes-group-version-kind")),
            R"([{"group":"batch","kind":"Job","version":"v1"}])");
  EXPECT_EQ(json::to_text(*job->get({"properties", "spec"})),
            R"({"allOf":[{"$ref":"#/components/schemas/io.k8s.api.batch.v1.JobSpec"}]})");
  const json::Value* ports = batch.root.get(
      {"components", "schemas", "io.k8s.api.core.v1.Container", "properties", "ports"});
  EXPECT_EQ(
      json::to_text(*ports),
      R"({"type":"array","items":{"allOf":[{"$ref":"#/components/schemas/io.k8s.api.core.v1.ContainerPort"}]},"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["containerPort","protocol"],"x-kubernetes-patch-merge-key":"containerPort","x-kubernetes-patch-strategy":"merge"})");
  EXPECT_EQ(
      world.v3("api/v1")
          .root
          .get({"paths", "/api/v1/namespaces/{name}", "patch", "x-kubernetes-group-version-kind"})
          ->string_or_empty("kind"),
      "Namespace");
}

TEST(OpenApi, a_custom_resource_is_published_with_its_checks) {
  World world;
  json::Document document = world.v3("apis/example.com/v1");
  const json::Value* widget = document.root.get({"components", "schemas", "com.example.v1.Widget"});
  ASSERT_NE(widget, nullptr);
  EXPECT_EQ(
      json::to_text(*widget->get({"properties", "spec", "properties"})),
      R"({"color":{"type":"string","enum":["red","blue"]},"names":{"type":"array","items":{"type":"string"},"x-kubernetes-list-type":"set"},"port":{"x-kubernetes-int-or-string":true},"size":{"type":"integer","format":"int32","minimum":1,"default":3}})");
  EXPECT_EQ(json::to_text(*widget->find("required")), R"(["spec"])");
  EXPECT_EQ(json::to_text(*widget->find("x-kubernetes-group-version-kind")),
            R"([{"group":"example.com","kind":"Widget","version":"v1"}])");
  EXPECT_EQ(
      json::to_text(*widget->get({"properties", "metadata"})),
      R"({"allOf":[{"$ref":"#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}]})");
  const json::Value* patch = document.root.get(
      {"paths", "/apis/example.com/v1/namespaces/{namespace}/widgets/{name}", "patch"});
  ASSERT_NE(patch, nullptr);
  EXPECT_EQ(patch->get({"requestBody", "content", "application/strategic-merge-patch+json"}),
            nullptr);
  EXPECT_NE(document.root.get(
                {"paths", "/apis/example.com/v1/namespaces/{namespace}/widgets/{name}/status"}),
            nullptr);
}

TEST(OpenApi, a_custom_resource_is_explained_in_its_authors_words) {
  World world;
  std::string words(kDefinition);
  const auto describe = [&](std::string_view before, std::string_view text) {
    const std::size_t at = words.find(before);
    ASSERT_NE(at, std::string::npos) << before;
    words.insert(at + before.size(), R"("description":")" + std::string(text) + R"(",)");
  };
  describe(R"("openAPIV3Schema":{)", "a thing");
  describe(R"("size":{)", "how large");
  describe(R"("items":{)", "one of them");
  OpenApiDocuments documents(world.registry, [&](const std::string& name) {
    EXPECT_EQ(name, "widgets.example.com");
    return *json::parse(words);
  });
  const json::Document document = *json::parse(*documents.v3("apis/example.com/v1"));
  const json::Value* widget = document.root.get({"components", "schemas", "com.example.v1.Widget"});
  ASSERT_NE(widget, nullptr);
  EXPECT_EQ(widget->string_or_empty("description"), "a thing");
  const json::Value* spec = widget->get({"properties", "spec", "properties"});
  EXPECT_EQ(spec->find("size")->string_or_empty("description"), "how large");
  EXPECT_EQ(spec->get({"names", "items"})->string_or_empty("description"), "one of them");
  EXPECT_EQ(spec->find("color")->string_or_empty("description"), "");
}

TEST(OpenApi, the_hash_changes_with_the_document_only) {
  World world;
  OpenApiDocuments documents(world.registry);
  std::string batch = documents.v3_hash("apis/batch/v1");
  EXPECT_FALSE(batch.empty());
  world.registry.remove("example.com", "widgets");
  EXPECT_EQ(documents.v3_hash("apis/batch/v1"), batch);
  EXPECT_EQ(documents.v3_hash("apis/example.com/v1"), "");
  EXPECT_EQ(documents.v3("apis/example.com/v1"), std::nullopt);
}

TEST(OpenApi, version_two_is_there_in_both_forms) {
  World world;
  OpenApiDocuments documents(world.registry);
  std::string pb = documents.v2_protobuf();
  EXPECT_TRUE(
      pb.starts_with(std::string_view("\x0a\x03"
                                      "2.0",
                                      5)));
  EXPECT_NE(pb.find("/apis/example.com/v1/namespaces/{namespace}/widgets/{name}"),
            std::string::npos);
  EXPECT_NE(pb.find("group: \"example.com\"\nkind: Widget\nversion: v1\n"), std::string::npos);
  EXPECT_NE(pb.find("#/definitions/io.k8s.api.core.v1.PodSpec"), std::string::npos);
  EXPECT_NE(pb.find("com.example.v1.Widget"), std::string::npos);
  EXPECT_LT(pb.size(), 1'000'000u);
  auto json = json::parse(documents.v2_json());
  ASSERT_TRUE(json.has_value());
  EXPECT_NE(json->root.get({"definitions", "io.k8s.api.core.v1.PodSpec"}), nullptr);
  EXPECT_NE(json->root.get({"definitions", "com.example.v1.Widget"}), nullptr);
}

TEST(OpenApi, the_handler_answers_by_etag_hash_and_encoding) {
  World world;
  SimEnv sim;
  OpenApiHandler handler = make_openapi_handler(world.registry);
  auto get = [&](const std::string& target, net::Headers headers) {
    net::Request request;
    request.target = target;
    request.headers = std::move(headers);
    RequestInfo info = RequestInfo::parse("GET", target).value();
    return *run(sim.env().loop, handler(info, request));
  };
  auto body = [&](net::Response response) {
    return *run(sim.env().loop, net::read_all(std::move(response.body), 10u << 20));
  };
  const std::string hash = OpenApiDocuments(world.registry).v3_hash("apis/batch/v1");
  const std::string path = "/openapi/v3/apis/batch/v1";

  auto plain = get(path + "?hash=" + hash, {});
  ASSERT_TRUE(plain.has_value());
  EXPECT_EQ(plain->headers.get("Cache-Control"), "public, immutable");
  std::string etag(*plain->headers.get("ETag"));
  std::string text = body(*std::move(plain)).value();
  EXPECT_EQ(text, OpenApiDocuments(world.registry).v3("apis/batch/v1"));
  EXPECT_EQ(get(path, {{"If-None-Match", etag}})->status, 304);
  auto moved = get(path + "?hash=old", {});
  EXPECT_EQ(moved->status, 301);
  EXPECT_EQ(moved->headers.get("Location"), path + "?hash=" + hash);
  auto zipped = get(path, {{"Accept-Encoding", "gzip"}});
  EXPECT_EQ(zipped->headers.get("Content-Encoding"), "gzip");
  EXPECT_EQ(*run(sim.env().loop, net::read_all(net::gunzip(std::move(zipped->body)), 10u << 20)),
            text);
  EXPECT_EQ(get("/openapi/v3/apis/none/v1", {}).error().code, ErrorCode::not_found);

  auto gnostic = get("/openapi/v2",
                     {{"Accept", "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"}});
  EXPECT_EQ(gnostic->headers.get("Content-Type"),
            "application/com.github.proto-openapi.spec.v2.v1.0+protobuf");
  EXPECT_EQ(get("/openapi/v2", {{"Accept", "application/json"}})->headers.get("Content-Type"),
            "application/json");
}

TEST(OpenApi, an_object_may_have_many_properties) {
  constexpr int kMany = 60'000;
  std::string properties;
  for (int i = 0; i < kMany; ++i) {
    properties +=
        (i == 0 ? "\"p" : ",\"p") + std::to_string(i) + R"(":{"type":"string","description":"d"})";
  }
  const std::string definition =
      R"({"metadata":{"name":"widgets.example.com"},"spec":{"group":"example.com","scope":)"
      R"("Namespaced","names":{"plural":"widgets","singular":"widget","kind":"Widget","listKind":)"
      R"("WidgetList"},"versions":[{"name":"v1","served":true,"storage":true,"schema":)"
      R"({"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{)" +
      properties + "}}}}}}]}}";
  World world(definition);
  OpenApiDocuments documents(world.registry,
                             [&](const std::string&) { return *json::parse(definition); });
  auto document = json::parse(*documents.v3("apis/example.com/v1"));
  ASSERT_TRUE(document.has_value());
  const json::Value* spec = document->root.get(
      {"components", "schemas", "com.example.v1.Widget", "properties", "spec", "properties"});
  ASSERT_NE(spec, nullptr);
  EXPECT_EQ(spec->size(), static_cast<std::size_t>(kMany));
  EXPECT_EQ(spec->find("p59999")->string_or_empty("description"), "d");
}

}  // namespace
}  // namespace codeflare::apiserver
