#pragma once

#include "apiserver/openapi/documents.h"
#include "apiserver/openapi/internal/group_version.h"
#include "apiserver/schema/schema.h"
#include "json/write.h"

#include <map>
#include <string>
#include <string_view>

namespace codeflare::apiserver::openapi {

// Writes nodes as JSON schemas. Structures with a name are referred to and written once, under it.
class SchemaWriter {
 public:
  // `prefix` of references: "#/components/schemas/" or "#/definitions/".
  SchemaWriter(json::Writer& writer, std::string_view prefix, const FindDefinition& find)
      : writer_(writer), prefix_(prefix), find_definition_(find) {}

  // Will be written by write_all().
  void want(const schema::Node& node);
  // A custom resource and its list, whose schemas have no name in the graph.
  void want_custom(const Resource& resource, const ServedVersion& version);
  // Members of the object that holds all schemas: what was wanted and all it refers to.
  void write_all();

 private:
  void write_named(std::string_view name, const schema::Node& node);
  void write_custom(const Resource& resource, const ServedVersion& version);
  void write_gvk(std::initializer_list<Gvk> kinds);
  void write_body(const schema::Node& node);
  void write_node(const schema::Node& node);
  void write_reference(std::string_view name, bool wrapped);
  void write_list(const schema::Node& node);
  void write_object(const schema::Node& node);
  void write_checks(const schema::Node& node);
  void write_common(const schema::Node& node);
  void write_description();

  json::Writer& writer_;
  std::string_view prefix_;
  const FindDefinition& find_definition_;
  // Goes from the words about one node to those about a part of it, for as long as it lives.
  class Step {
   public:
    Step(SchemaWriter& writer, const json::Value* words);
    ~Step() { writer_.words_ = before_; }
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;

   private:
    SchemaWriter& writer_;
    const json::Value* before_;
  };
  const json::Value* words_under(std::string_view keyword) const;
  const json::Value* words_ = nullptr;  // the author's schema of the node that is being written
  bool custom_ = false;  // inside a custom resource: nothing has a name there but its metadata
  std::map<std::string_view, const schema::Node*> wanted_;  // not written yet
  std::map<std::string_view, const schema::Node*> written_;
  std::vector<std::pair<const Resource*, const ServedVersion*>> customs_;
};

}  // namespace codeflare::apiserver::openapi
