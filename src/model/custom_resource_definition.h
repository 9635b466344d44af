#pragma once

#include "model/condition.h"
#include "model/extra.h"
#include "model/list.h"
#include "model/meta.h"

#include <optional>
#include <string>
#include <vector>

namespace codeflare::model {

struct CustomResourceDefinitionNames {
  std::string plural;
  std::string singular;
  List<std::string> short_names;
  std::string kind;
  std::string list_kind;
  List<std::string> categories;
  Extra extra;

  friend bool operator==(const CustomResourceDefinitionNames&,
                         const CustomResourceDefinitionNames&) = default;
};

struct CustomResourceDefinitionVersion {
  std::string name;
  bool served = false;
  bool storage = false;
  bool deprecated = false;
  std::optional<std::string> deprecation_warning;
  RawJson schema;
  RawJson subresources;
  RawJson additional_printer_columns;
  Extra extra;

  friend bool operator==(const CustomResourceDefinitionVersion&,
                         const CustomResourceDefinitionVersion&) = default;
};

struct CustomResourceDefinitionSpec {
  std::string group;
  CustomResourceDefinitionNames names;
  std::string scope;  // "Namespaced" or "Cluster"
  List<CustomResourceDefinitionVersion> versions;
  Extra extra;

  friend bool operator==(const CustomResourceDefinitionSpec&,
                         const CustomResourceDefinitionSpec&) = default;
};

struct CustomResourceDefinitionStatus {
  List<Condition> conditions;
  CustomResourceDefinitionNames accepted_names;
  List<std::string> stored_versions;
  Extra extra;

  friend bool operator==(const CustomResourceDefinitionStatus&,
                         const CustomResourceDefinitionStatus&) = default;
};

struct CustomResourceDefinition {
  ObjectMeta metadata;
  CustomResourceDefinitionSpec spec;
  CustomResourceDefinitionStatus status;
  Extra extra;

  friend bool operator==(const CustomResourceDefinition&,
                         const CustomResourceDefinition&) = default;
};

}  // namespace codeflare::model
