#pragma once

#include "model/extra.h"
#include "model/list.h"
#include "model/meta.h"
#include "model/resource_list.h"
#include "model/resources.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// QuotaSubtree v1alpha1 (quota.codeflare.dev): nodes of a quota tree and whom they hang from. The
// label `tree` names the tree; several objects make one tree.
namespace codeflare::model {

struct QuotaAmounts {
  bool disabled = false;    // the child has no limits
  ResourceList requests;    // what is not listed is unlimited
  bool hard_limit = false;  // may not borrow; unused quota is still lent
  Extra extra;

  friend bool operator==(const QuotaAmounts&, const QuotaAmounts&) = default;
};

struct QuotaChild {
  std::string name;
  std::string ns;  // when set, only AppWrappers of this namespace may charge the node
  std::string path;
  QuotaAmounts quotas;
  Extra extra;

  friend bool operator==(const QuotaChild&, const QuotaChild&) = default;
};

struct QuotaSubtreeSpec {
  std::string parent;  // empty: the children are roots
  std::string parent_namespace;
  List<QuotaChild> children;
  Extra extra;

  friend bool operator==(const QuotaSubtreeSpec&, const QuotaSubtreeSpec&) = default;
};

struct QuotaChildStatus {
  std::string name;
  std::string ns;
  std::string path;
  ResourceList allocated;  // by it and all below it
  // Why it cannot be charged, or which amount is counted otherwise; empty when all is well.
  std::string problem;
  Extra extra;

  friend bool operator==(const QuotaChildStatus&, const QuotaChildStatus&) = default;
};

struct QuotaSubtreeStatus {
  ResourceList total_allocation;
  List<QuotaChildStatus> children;
  // For people, in tables: "6 CPUs, 4Gi memory". Sums over the children of what they limit.
  std::string used;
  std::string limit;
  std::int64_t observed_generation = 0;
  Extra extra;

  friend bool operator==(const QuotaSubtreeStatus&, const QuotaSubtreeStatus&) = default;
};

struct QuotaSubtree {
  ObjectMeta metadata;
  QuotaSubtreeSpec spec;
  QuotaSubtreeStatus status;
  Extra extra;

  friend bool operator==(const QuotaSubtree&, const QuotaSubtree&) = default;
};

inline constexpr std::string_view kQuotaTreeLabel = "tree";

template <>
struct ResourceTraits<QuotaSubtree> {
  static constexpr std::string_view group = "quota.codeflare.dev";
  static constexpr std::string_view version = "v1alpha1";
  static constexpr std::string_view api_version = "quota.codeflare.dev/v1alpha1";
  static constexpr std::string_view kind = "QuotaSubtree";
  static constexpr std::string_view plural = "quotasubtrees";
  static constexpr bool namespaced = true;
};

}  // namespace codeflare::model
