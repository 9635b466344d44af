#include "model/codec/quota_subtree.h"

#include "model/codec/describe.h"
#include "model/codec/meta.h"
#include "model/internal/list_life.h"

namespace codeflare::model {

using codec::Field;
using codec::field;
using codec::struct_info;
using codec::StructInfo;
using codec::Tag;

const StructInfo& describe(Tag<QuotaAmounts>) {
  static constexpr Field kFields[] = {
      field<&QuotaAmounts::disabled>("disabled"),
      field<&QuotaAmounts::requests>("requests"),
      field<&QuotaAmounts::hard_limit>("hardLimit"),
  };
  static constexpr StructInfo kInfo = struct_info<QuotaAmounts>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<QuotaChild>) {
  static constexpr Field kFields[] = {
      field<&QuotaChild::name>("name"),
      field<&QuotaChild::ns>("namespace"),
      field<&QuotaChild::path>("path"),
      field<&QuotaChild::quotas>("quotas"),
  };
  static constexpr StructInfo kInfo = struct_info<QuotaChild>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<QuotaSubtreeSpec>) {
  static constexpr Field kFields[] = {
      field<&QuotaSubtreeSpec::parent>("parent"),
      field<&QuotaSubtreeSpec::parent_namespace>("parentNamespace"),
      field<&QuotaSubtreeSpec::children>("children"),
  };
  static constexpr StructInfo kInfo = struct_info<QuotaSubtreeSpec>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<QuotaChildStatus>) {
  static constexpr Field kFields[] = {
      field<&QuotaChildStatus::name>("name"),
      field<&QuotaChildStatus::ns>("namespace"),
      field<&QuotaChildStatus::path>("path"),
      field<&QuotaChildStatus::allocated>("allocated"),
      field<&QuotaChildStatus::problem>("problem"),
  };
  static constexpr StructInfo kInfo = struct_info<QuotaChildStatus>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<QuotaSubtreeStatus>) {
  static constexpr Field kFields[] = {
      field<&QuotaSubtreeStatus::total_allocation>("totalAllocation"),
      field<&QuotaSubtreeStatus::children>("children"),
      field<&QuotaSubtreeStatus::used>("used"),
      field<&QuotaSubtreeStatus::limit>("limit"),
      field<&QuotaSubtreeStatus::observed_generation>("observedGeneration"),
  };
  static constexpr StructInfo kInfo = struct_info<QuotaSubtreeStatus>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<QuotaSubtree>) {
  static constexpr Field kFields[] = {
      field<&QuotaSubtree::metadata>("metadata"),
      field<&QuotaSubtree::spec>("spec"),
      field<&QuotaSubtree::status>("status"),
  };
  static constexpr StructInfo kInfo = struct_info<QuotaSubtree>(kFields);
  return kInfo;
}

template struct List<QuotaChild>;
template struct List<QuotaChildStatus>;

}  // namespace codeflare::model
