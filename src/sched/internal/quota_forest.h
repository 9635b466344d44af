#pragma once

#include "base/result.h"
#include "sched/internal/resource_table.h"
#include "sched/spec.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace codeflare::sched {

// One node of a quota tree with what is charged to it.
struct QuotaState {
  std::string name;
  std::string tree;
  std::string ns;
  Index parent = kNone;
  Index depth = 0;
  bool hard = false;
  Request limits;
  Request used;     // by all gangs below that hold something, and by others
  Request foreign;  // by others alone
  Request members;  // of these, what stays within the limits: see quota_ranks.h
  std::vector<Index> borrowers;
  // Lanes asleep until `need` of `resource` is free here; void when the lane's nap has passed.
  struct Waiter {
    Index lane = 0;
    std::uint32_t nap = 0;
    Index resource = 0;
    Amount need = 0;
  };
  std::vector<Waiter> waiters;
  bool relieved = false;

  bool is_root() const { return parent == kNone; }
  // May not be exceeded; other nodes borrow from their parent.
  bool binding() const { return hard || is_root(); }
};

// The quota request of a gang.
struct QuotaClaim {
  std::vector<Designation> designations;
  std::string ns;
  bool loose = false;  // it charges nothing
};

// Where a claim leads: one node per tree, or what is wrong with it.
struct QuotaPath {
  std::vector<Index> leaves;
  std::string problem;  // empty if all is well
  std::string tree;     // of the problem
  std::string node;
  bool loose = false;
};

struct QuotaShortage {
  Index node = 0;
  Index resource = 0;
  Amount limit = 0;
  Amount used = 0;
  Amount requested = 0;
};

// Several quota trees. A gang charges one node of each, and all nodes above it.
class QuotaForest {
 public:
  // Both forget all charges and every waiter: the caller charges again what runs.
  std::vector<std::string> set_tree(const std::string& tree, const std::vector<QuotaNode>& nodes,
                                    const std::string& only_ns, ResourceTable& resources);
  void remove_tree(const std::string& tree);
  Result<void> set_foreign(const std::string& tree, const std::string& node, const Request& usage);

  QuotaPath resolve(const QuotaClaim& claim) const;
  // Where something that runs is charged after an edit: a vanished node's charge goes to the root.
  std::vector<Index> resolve_running(const QuotaClaim& claim) const;

  // The first node, leaf to root, that must not be exceeded and would be.
  std::optional<QuotaShortage> shortage(const std::vector<Index>& leaves,
                                        const Request& charge) const;
  // All of them, with each resource that is short.
  std::vector<QuotaShortage> shortages(const std::vector<Index>& leaves,
                                       const Request& charge) const;
  void charge(const std::vector<Index>& leaves, const Request& amounts, int sign);
  // For trials that are undone: nobody learns that there was room for a moment.
  void charge_quietly(const std::vector<Index>& leaves, const Request& amounts, int sign);

  bool empty() const { return trees_.empty(); }
  Index find(const std::string& tree, const std::string& node) const;
  // Nodes of the tree that work of the namespace may charge, by name.
  std::vector<std::string> open_to(const std::string& tree, const std::string& ns) const;
  QuotaState& operator[](Index node) { return nodes_[node]; }
  const QuotaState& operator[](Index node) const { return nodes_[node]; }
  Index size() const { return static_cast<Index>(nodes_.size()); }
  // Calls visit(node) for every node charged, leaf to root, tree by tree.
  template <typename Visit>
  void each_on_path(const std::vector<Index>& leaves, Visit&& visit) const {
    for (const Index leaf : leaves) {
      for (Index node = leaf; node != kNone; node = nodes_[node].parent) {
        visit(node);
      }
    }
  }

  // Nodes whose use fell since the last call.
  std::vector<Index> take_relieved();

 private:
  struct Tree {
    std::vector<QuotaNode> spec;
    std::string only_ns;  // empty: it concerns everybody
    std::map<std::string, Request> foreign;
    std::map<std::string, Index> nodes;  // the usable ones
    std::vector<Index> roots;
  };
  using Trees = std::map<std::string, Tree>;
  using Named = Trees::value_type;

  // The trees that the claim may charge, by name.
  std::vector<const Named*> concerning(const QuotaClaim& claim) const;
  void leave_namespace(const std::string& name, const Tree& tree);
  // Makes the nodes of a tree, behind those that are there.
  void plant(const std::string& name, Tree& tree, std::vector<std::string>* problems);
  void forget_charges();
  void rebuild(const std::string& changed, std::vector<std::string>* problems);
  void relieve(Index node);
  // Calls visit(shortage), leaf to root, until it returns true.
  template <typename Visit>
  void each_shortage(const std::vector<Index>& leaves, const Request& charge, Visit&& visit) const;

  Trees trees_;
  std::map<std::string, std::set<std::string>> by_ns_;  // names by only_ns
  std::vector<QuotaState> nodes_;
  std::map<std::string, std::map<std::string, Request>> limits_;
  std::vector<Index> relieved_;
};

}  // namespace codeflare::sched
