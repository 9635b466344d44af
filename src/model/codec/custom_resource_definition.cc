#include "model/codec/custom_resource_definition.h"

#include "model/codec/describe.h"
#include "model/codec/meta.h"
#include "model/internal/list_life.h"

namespace codeflare::model {

using codec::Field;
using codec::field;
using codec::Presence;
using codec::struct_info;
using codec::StructInfo;
using codec::Tag;

const StructInfo& describe(Tag<CustomResourceDefinitionNames>) {
  static constexpr Field kFields[] = {
      field<&CustomResourceDefinitionNames::plural>("plural", Presence::always),
      field<&CustomResourceDefinitionNames::singular>("singular"),
      field<&CustomResourceDefinitionNames::short_names>("shortNames"),
      field<&CustomResourceDefinitionNames::kind>("kind", Presence::always),
      field<&CustomResourceDefinitionNames::list_kind>("listKind"),
      field<&CustomResourceDefinitionNames::categories>("categories"),
  };
  static constexpr StructInfo kInfo = struct_info<CustomResourceDefinitionNames>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<CustomResourceDefinitionVersion>) {
  static constexpr Field kFields[] = {
      field<&CustomResourceDefinitionVersion::name>("name", Presence::always),
      field<&CustomResourceDefinitionVersion::served>("served", Presence::always),
      field<&CustomResourceDefinitionVersion::storage>("storage", Presence::always),
      field<&CustomResourceDefinitionVersion::deprecated>("deprecated"),
      field<&CustomResourceDefinitionVersion::deprecation_warning>("deprecationWarning"),
      field<&CustomResourceDefinitionVersion::schema>("schema"),
      field<&CustomResourceDefinitionVersion::subresources>("subresources"),
      field<&CustomResourceDefinitionVersion::additional_printer_columns>(
          "additionalPrinterColumns"),
  };
  static constexpr StructInfo kInfo = struct_info<CustomResourceDefinitionVersion>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<CustomResourceDefinitionSpec>) {
  static constexpr Field kFields[] = {
      field<&CustomResourceDefinitionSpec::group>("group", Presence::always),
      field<&CustomResourceDefinitionSpec::names>("names", Presence::always),
      field<&CustomResourceDefinitionSpec::scope>("scope", Presence::always),
      field<&CustomResourceDefinitionSpec::versions>("versions", Presence::always),
  };
  static constexpr StructInfo kInfo = struct_info<CustomResourceDefinitionSpec>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<CustomResourceDefinitionStatus>) {
  static constexpr Field kFields[] = {
      field<&CustomResourceDefinitionStatus::conditions>("conditions"),
      field<&CustomResourceDefinitionStatus::accepted_names>("acceptedNames"),
      field<&CustomResourceDefinitionStatus::stored_versions>("storedVersions"),
  };
  static constexpr StructInfo kInfo = struct_info<CustomResourceDefinitionStatus>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<CustomResourceDefinition>) {
  static constexpr Field kFields[] = {
      field<&CustomResourceDefinition::metadata>("metadata"),
      field<&CustomResourceDefinition::spec>("spec"),
      field<&CustomResourceDefinition::status>("status"),
  };
  static constexpr StructInfo kInfo = struct_info<CustomResourceDefinition>(kFields);
  return kInfo;
}

template struct List<CustomResourceDefinitionVersion>;

}  // namespace codeflare::model
