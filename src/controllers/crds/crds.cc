#include "controllers/crds/crds.h"

#include "base/check.h"
#include "json/write.h"
#include "json/yaml.h"
#include "model/codec/custom_resource_definition.h"

namespace codeflare::controllers {
namespace {

constexpr std::string_view kDefinitionKind = "CustomResourceDefinition";

Result<EmbeddedCrd> to_crd(const json::Value& value) {
  TRY_ASSIGN(const model::CustomResourceDefinition definition,
             model::from_json<model::CustomResourceDefinition>(value));
  EmbeddedCrd crd{.name = definition.metadata.name, .versions = {}, .json = json::to_text(value)};
  for (const model::CustomResourceDefinitionVersion& version : definition.spec.versions) {
    crd.versions.push_back(version.name);
  }
  return crd;
}

}  // namespace

Result<std::vector<EmbeddedCrd>> embedded_crds() {
  std::vector<EmbeddedCrd> crds;
  for (const std::string_view text : crd_texts()) {
    TRY_ASSIGN(const std::vector<json::Document> documents, json::parse_yaml(text));
    for (const json::Document& document : documents) {
      if (document.root.string_or_empty("kind") == kDefinitionKind) {
        TRY_ASSIGN(EmbeddedCrd crd, to_crd(document.root));
        crds.push_back(std::move(crd));
      }
    }
  }
  return crds;
}

Result<std::vector<EmbeddedObject>> embedded_policy() {
  std::vector<EmbeddedObject> objects;
  for (const std::string_view text : crd_texts()) {
    TRY_ASSIGN(const std::vector<json::Document> documents, json::parse_yaml(text));
    for (const json::Document& document : documents) {
      const std::string_view kind = document.root.string_or_empty("kind");
      if (kind == kDefinitionKind) {
        continue;
      }
      const bool binding = kind.ends_with("Binding");
      const json::Value* metadata = document.root.find("metadata");
      CHECK(metadata != nullptr);
      objects.push_back(
          {.type = {"admissionregistration.k8s.io", "v1", std::string(kind),
                    binding ? "validatingadmissionpolicybindings" : "validatingadmissionpolicies",
                    false},
           .name = std::string(metadata->string_or_empty("name")),
           .json = json::to_text(document.root)});
    }
  }
  return objects;
}

}  // namespace codeflare::controllers
