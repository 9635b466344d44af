#pragma once

#include "apiserver/openapi/internal/group_version.h"
#include "apiserver/schema/schema.h"

#include <map>
#include <string>
#include <string_view>

namespace codeflare::apiserver::openapi {

// Nodes as gnostic's Definitions message: what kubectl up to 1.28 explains, validates and patches
// by.
class GnosticSchemas {
 public:
  void want(const schema::Node& node);
  void want_custom(const Resource& resource, const ServedVersion& version);
  // The message; nothing is wanted any more.
  std::string take();

 private:
  void add_named(std::string_view name, const std::string& schema);
  std::string reference(std::string_view name, const schema::Node& node);
  std::string schema_of(const schema::Node& node, bool named);
  void append_object(std::string& out, const schema::Node& node);
  static void append_strategy(std::string& out, const schema::Node& node);

  bool custom_ = false;
  std::map<std::string_view, const schema::Node*> wanted_;
  std::map<std::string_view, const schema::Node*> written_;
  std::string definitions_;
};

}  // namespace codeflare::apiserver::openapi
