#include "controllers/crds/crds.h"

#include "json/write.h"
#include "json/yaml.h"
#include "model/codec/custom_resource_definition.h"

namespace codeflare::controllers {
namespace {

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
      TRY_ASSIGN(EmbeddedCrd crd, to_crd(document.root));
      crds.push_back(std::move(crd));
    }
  }
  return crds;
}

}  // namespace codeflare::controllers
