// crd_check FILE...: compiles every CustomResourceDefinition in the files as the server would, then
// takes every object of the kinds they define (also those inside lists) through pruning, defaults
// and validation. One line for each; exit 1 when anything is rejected or an object loses a field.

#include "apiserver/cel/rule_compiler.h"
#include "apiserver/crd/definition.h"
#include "apiserver/crd/definition_strategy.h"
#include "apiserver/crd/names.h"
#include "apiserver/schema/builtin.h"
#include "apiserver/schema/walk.h"
#include "json/write.h"
#include "json/yaml.h"

#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

namespace codeflare::apiserver {
namespace {

class NoOthers final : public DefinitionWorld {
 public:
  ClaimedNames claimed(std::string_view, std::string_view) const override { return {}; }
  void reserve(const json::Value&) override {}
  void validate(const json::Value&, const json::Value*, std::vector<std::string>*,
                FieldErrors&) override {}
  bool has_instances(const json::Value&) const override { return false; }
};

class Checker {
 public:
  bool add_definition(json::Document document) {
    json::Value& definition = document.root;
    std::vector<std::string> warnings;
    WriteContext context{document.arena, WallTime(), "", &warnings};
    // As the server decodes it: what its own type does not know is dropped.
    const schema::Node* node =
        schema::find_builtin("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
    auto shapes = schema::check_shapes(*node, definition);
    schema::prune(*node, definition, nullptr);
    auto strategy = make_definition_strategy(std::make_shared<NoOthers>());
    strategy->set_defaults(context, definition);
    strategy->prepare_create(context, definition);
    FieldErrors errors;
    CelRuleCompiler rules;
    CompiledVersions schemas = validate_definition(
        definition, nullptr,
        {.object_meta = schema::object_meta(), .rules = &rules, .warnings = &warnings}, errors);
    auto resource = make_resource(definition, schemas, 1);
    const std::string name(definition.find("metadata")->string_or_empty("name"));
    if (!shapes || !errors.empty() || resource == nullptr) {
      std::printf("REFUSED %s %s\n", name.c_str(),
                  !shapes ? shapes.error().message.c_str()
                          : errors.to_error("", "CustomResourceDefinition", name).message.c_str());
      return false;
    }
    std::size_t nodes = 0;
    for (const auto& schema : schemas) {
      nodes += schema == nullptr ? 0 : schema->node_count();
    }
    std::printf("defined %s %zu versions %zu nodes\n", name.c_str(), resource->versions.size(),
                nodes);
    resources_[resource->group + "/" + resource->kind] = resource;
    return true;
  }

  // True for objects of other kinds.
  bool check_object(json::Document& document, const std::string& file) {
    json::Value& object = document.root;
    std::string_view api_version = object.string_or_empty("apiVersion");
    std::size_t slash = api_version.find('/');
    if (slash == std::string_view::npos) {
      return true;
    }
    auto at = resources_.find(std::string(api_version.substr(0, slash)) + "/" +
                              std::string(object.string_or_empty("kind")));
    const ServedVersion* version =
        at == resources_.end() ? nullptr : at->second->find_version(api_version.substr(slash + 1));
    if (version == nullptr || version->schema == nullptr) {
      return true;
    }
    std::vector<std::string> unknown;
    schema::prune(*version->schema, object, &unknown);
    schema::apply_defaults(*version->schema, document.arena, object);
    FieldErrors errors;
    schema::validate(*version->schema, object, nullptr, errors);
    // A stored object is stored the same way again.
    json::Document again = json::compact(object);
    schema::prune(*version->schema, again.root, &unknown);
    schema::apply_defaults(*version->schema, again.arena, again.root);
    bool stable = json::equal(again.root, object);
    std::string complaint =
        errors.empty() ? "" : errors.to_error("", at->second->kind, "x").message;
    for (const std::string& path : unknown) {
      complaint += " unknown " + path;
    }
    complaint += stable ? "" : " differs when it is read again";
    std::printf("%s %s %s%s\n", complaint.empty() ? "accepted" : "REFUSED", at->first.c_str(),
                file.c_str(), complaint.empty() ? "" : (": " + complaint).c_str());
    return complaint.empty();
  }

 private:
  std::map<std::string, std::shared_ptr<const Resource>> resources_;
};

std::string read_file(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

int check_files(int count, char** paths) {
  Checker checker;
  bool good = true;
  std::vector<std::pair<std::string, json::Document>> objects;
  for (int i = 1; i < count; ++i) {
    std::vector<std::string> duplicates;
    auto documents = json::parse_yaml(read_file(paths[i]), {.duplicate_keys = &duplicates});
    if (!documents) {
      continue;  // templates and the like
    }
    for (json::Document& document : *documents) {
      if (document.root.string_or_empty("kind") == "CustomResourceDefinition") {
        good = checker.add_definition(std::move(document)) && good;
      } else {
        objects.emplace_back(paths[i], std::move(document));
      }
    }
  }
  for (auto& [file, document] : objects) {
    good = checker.check_object(document, file) && good;
  }
  return good ? 0 : 1;
}

}  // namespace
}  // namespace codeflare::apiserver

int main(int count, char** paths) {
  return codeflare::apiserver::check_files(count, paths);
}
