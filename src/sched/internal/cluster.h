#pragma once

#include "base/result.h"
#include "sched/internal/class_index.h"
#include "sched/internal/constraint.h"
#include "sched/internal/names.h"
#include "sched/internal/resource_table.h"
#include "sched/spec.h"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace codeflare::sched {

// A gang that holds something on a node: in how many pieces.
struct Resident {
  Index gang = 0;
  std::int64_t pieces = 0;
};

struct Node {
  std::string name;
  std::uint32_t generation = 1;
  bool alive = false;
  bool dirty = false;  // its free row changed since the last look
  bool fresh = false;  // new or described anew since then: whatever it has counts as gained
  Index node_class = kNone;
  std::vector<std::pair<Index, Index>> labels;  // interned key and value, sorted by key number
  std::vector<Taint> taints;                    // the ones that exclude, sorted
  std::vector<Resident> residents;
};

// A kind that may use a class, with what it needs of the first resources: who looks for kinds that
// a node can hold reads these in a row.
struct KindNeed {
  static constexpr Index kColumns = 3;
  Index kind = 0;
  std::array<Amount, kColumns> need{};

  bool may_fit(const Amount* free) const {
    return need[0] <= free[0] && need[1] <= free[1] && need[2] <= free[2];
  }
};

// Nodes that no constraint tells apart.
struct NodeClass {
  Labels labels;  // of the mentioned keys only, sorted
  std::vector<Taint> taints;
  std::string signature;
  Index nodes = 0;
  ClassIndex index;
  std::vector<Amount> free_sum;  // what is free on its nodes, overdrawn nodes counted as zero
  std::vector<Amount> capacity_sum;
  std::vector<KindNeed> kinds;  // that may use it
};

// Interned values of the keys that a gang has to stay within, in the order of the keys.
using DomainValues = std::vector<Index>;

// The classes of one domain that a kind may use.
struct KindDomain {
  DomainValues values;
  std::vector<Index> classes;
};

// One pod's requests and constraints.
struct Kind {
  Request request;
  Constraint constraint;
  std::vector<std::string> keys;
  std::string signature;
  bool per_node = false;  // mentions a wide key: classes alone do not decide
  std::vector<Index> classes;
  // The same classes by domain, sorted by values; empty without Constraint::within. A wide key
  // leaves its domains open: then nodes decide.
  std::vector<KindDomain> domains;
  bool open_domains = false;
  Index refs = 0;
};

// Nodes, their classes and the kinds of pods that are matched against them.
class Cluster {
 public:
  explicit Cluster(const std::vector<std::string>& pack);

  // --- nodes ---
  Result<Index> upsert(const NodeSpec& spec);
  void remove(Index node);
  void set_foreign(Index node, const Request& usage);
  // Takes or gives back `count` times the request.
  void take(Index node, const Request& request, std::int64_t count) { move(node, request, count); }
  void give(Index node, const Request& request, std::int64_t count) { move(node, request, -count); }
  void add_resident(Index node, Index gang, std::int64_t pieces);
  void drop_resident(Index node, Index gang, std::int64_t pieces);

  Index find(std::string_view name) const;
  const std::vector<Node>& nodes() const { return nodes_; }
  const Amount* free(Index node) const { return order_.free.row(node); }
  const Amount* seen(Index node) const { return seen_.row(node); }
  const Amount* allocatable(Index node) const { return allocatable_.row(node); }
  const Amount* foreign(Index node) const { return foreign_.row(node); }
  // The amount that would be free without gangs.
  Amount potential(Index node, Index resource) const {
    return allocatable_.row(node)[resource] - foreign_.row(node)[resource];
  }
  Index alive() const { return alive_; }

  // Nodes whose free row changed since `settle`; `seen` is the row at that time.
  const std::vector<Index>& dirty() const { return dirty_; }
  void settle();
  // Grows with every change of what is free where.
  std::uint64_t changes() const { return changes_; }
  // All that changed since then was a trial, and is undone.
  void undone_since(std::uint64_t changes) { changes_ = changes; }

  // --- classes and kinds ---
  Index acquire_kind(const Request& request, const Constraint& constraint);
  void add_ref(Index kind) { ++kinds_[kind].refs; }
  void release_kind(Index kind);
  const Kind& kind(Index kind) const { return kinds_[kind]; }
  const NodeClass& node_class(Index index) const { return classes_[index]; }
  const std::vector<NodeClass>& classes() const { return classes_; }
  const NodeOrder& order() const { return order_; }
  // Decides what classes leave open; call only for nodes of the kind's classes.
  bool allows(const Kind& kind, Index node) const;
  std::string exclusion(const Kind& kind, Index node) const;
  // Of a node that the kind may use.
  DomainValues domain_of(const Kind& kind, Index node) const;
  // Null where the kind may use nothing of the domain.
  static const KindDomain* find_domain(const Kind& kind, const DomainValues& values);
  const std::string& label_text(Index interned) const { return names_.text(interned); }

  ResourceTable& resources() { return resources_; }
  const ResourceTable& resources() const { return resources_; }
  // After resources were interned: rows get columns for them.
  void sync_width();

  std::size_t memory_bytes() const;
  Result<void> check_invariants() const;

 private:
  struct KeyUse {
    bool wide = false;
    std::unordered_map<Index, Index> values;  // of live nodes, with the number of nodes
  };
  static constexpr std::size_t kClassValuesMax = 256;

  void move(Index node, const Request& request, std::int64_t count);
  template <typename Change>
  void change_free(Index node, Change&& change);
  void mark_dirty(Index node);
  void add_sums(Index node, int sign);
  Index new_node(const std::string& name);
  void assign_rank(Index node);
  void set_allocatable(Index node, const Request& amounts);

  using NodeLabels = std::vector<std::pair<Index, Index>>;
  std::pair<NodeLabels, std::vector<Taint>> describe(const NodeSpec& spec);
  void count_keys(Index node, int sign);
  void join_class(Index node);
  void leave_class(Index node);
  void reclass_all();
  void match(Index kind, Index node_class);
  void enter_domain(Kind& kind, Index node_class);
  void rematch(Index kind);
  bool mention(const std::vector<std::string>& keys);
  bool widen_keys();
  Labels labels_for(Index node, const std::vector<std::string>& keys) const;
  Labels class_labels(Index node) const;
  Index class_for(Index node);
  void drop_class(Index index);

  ResourceTable resources_;
  Names names_;
  NodeOrder order_;
  Matrix allocatable_;
  Matrix foreign_;
  Matrix seen_;
  std::vector<Node> nodes_;
  std::vector<Index> free_nodes_;
  std::map<std::string, Index, std::less<>> by_name_;
  Index alive_ = 0;
  std::vector<Index> dirty_;
  std::uint64_t changes_ = 0;
  std::vector<Amount> scratch_;

  std::vector<NodeClass> classes_;
  std::vector<Index> free_classes_;
  std::unordered_map<std::string, Index> class_by_signature_;
  std::map<std::string, KeyUse> keys_;  // mentioned ones
  std::vector<std::string> wide_keys_;  // sorted
  std::vector<Kind> kinds_;
  std::vector<Index> free_kinds_;
  std::unordered_map<std::string, Index> kind_by_signature_;
};

}  // namespace codeflare::sched
