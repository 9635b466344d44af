#include "cli/gather/manifest.h"

#include "json/parse.h"

#include <gtest/gtest.h>

namespace codeflare::cli {
namespace {

std::vector<std::string> errors_of(std::string_view text) {
  std::vector<std::string> out;
  for (const Error& error : parse_manifests(text, "f.yaml").errors) {
    out.push_back(error.message);
  }
  return out;
}

TEST(Manifests, documents_keep_their_number_and_say_where_they_are) {
  const Manifests read = parse_manifests(
      "# nothing\n"
      "---\n"
      "apiVersion: v1\n"
      "kind: ConfigMap\n"
      "metadata: {name: a}\n"
      "---\n"
      "apiVersion: batch/v1\n"
      "kind: Job\n"
      "metadata: {generateName: b-, namespace: team}\n",
      "f.yaml");
  ASSERT_TRUE(read.errors.empty());
  ASSERT_EQ(read.objects.size(), 2u);
  EXPECT_EQ(read.objects[0].where(), "f.yaml: document 1, ConfigMap a");
  EXPECT_EQ(read.objects[1].where(), "f.yaml: document 2, Job");
  EXPECT_EQ(read.objects[1].ns, "team");
  const Result<json::Document> body = json::parse(read.objects[0].body);
  ASSERT_TRUE(body.has_value());
  EXPECT_EQ(body->root.get({"metadata", "name"})->as_string(), "a");
}

TEST(Manifests, json_may_be_indented_with_tabs) {
  EXPECT_EQ(parse_manifests("{\n\t\"apiVersion\": \"v1\", \"kind\": \"Pod\",\n\t\"metadata\": "
                            "{\"name\": \"x\"}}",
                            "f.json")
                .objects.size(),
            1u);
}

TEST(Manifests, lists_are_taken_apart) {
  const Manifests read = parse_manifests(
      "apiVersion: v1\n"
      "kind: List\n"
      "items:\n"
      "- {apiVersion: v1, kind: Pod, metadata: {name: a}}\n"
      "- {apiVersion: v1, kind: Pod, metadata: {name: b, namespace: team}}\n",
      "f.yaml");
  ASSERT_EQ(read.objects.size(), 2u);
  EXPECT_EQ(read.objects[1].where(), "f.yaml: document 1, Pod team/b");
}

TEST(Manifests, one_bad_document_does_not_hide_the_others) {
  const Manifests read =
      parse_manifests("kind: Pod\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: a}\n", "f.yaml");
  EXPECT_EQ(read.objects.size(), 1u);
  ASSERT_EQ(read.errors.size(), 1u);
  EXPECT_EQ(read.errors[0].message,
            "f.yaml: document 1: apiVersion is missing: every object needs apiVersion and kind");
}

TEST(Manifests, errors_name_file_and_document) {
  using Errors = std::vector<std::string>;
  EXPECT_EQ(errors_of("- a\n"), (Errors{"f.yaml: document 1: expected an object, got array"}));
  EXPECT_EQ(errors_of("apiVersion: v1\nkind: Pod\n"),
            (Errors{"f.yaml: document 1: Pod: metadata.name is missing"}));
  // YAML 1.1 reads n as false.
  EXPECT_EQ(errors_of("apiVersion: v1\nkind: Pod\nmetadata: {name: n}\n"),
            (Errors{"f.yaml: document 1: Pod: metadata.name: expected text, got boolean"}));
  EXPECT_EQ(errors_of("# empty\n"), (Errors{"f.yaml: no objects found"}));
  ASSERT_EQ(errors_of("a: [\n").size(), 1u);
  EXPECT_TRUE(errors_of("a: [\n")[0].starts_with("f.yaml: "));
}

}  // namespace
}  // namespace codeflare::cli
