#pragma once

#include "sched/core.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

// The policy of the core written again in the simplest way: no index, no memory between decisions,
// everything looked at every time. Slow, and meant to be read.
namespace codeflare::sched::naive {

using Amounts = std::map<std::string, Amount>;

struct Node {
  NodeSpec spec;
  Amounts foreign;
};

// Which node each pod goes to, pod set by pod set.
using Places = std::vector<std::pair<std::uint32_t, std::string>>;

struct Gang {
  GangSpec spec;
  GangState state = GangState::waiting;
  Time started{};
  Places places;
};

struct Decisions {
  std::map<std::string, std::multiset<std::pair<std::uint32_t, std::string>>> admitted;
};

class Scheduler {
 public:
  explicit Scheduler(Options options) : options_(std::move(options)) {}

  void upsert_node(const NodeSpec& spec) { nodes_[spec.name].spec = spec; }
  void remove_node(const std::string& name);
  void set_foreign(const std::string& name, const Resources& usage);
  void set_quota_tree(const std::string& tree, std::vector<QuotaNode> nodes) {
    trees_[tree] = std::move(nodes);
  }
  void submit(const GangSpec& spec) { gangs_[spec.name].spec = spec; }
  void remove(const std::string& name) { gangs_.erase(name); }
  void requeue(const std::string& name);

  Decisions step(Time now);
  // Books only: somebody else decided that it starts.
  void start(const std::string& name, Places places, Time now);
  bool quota_allows(const std::string& name) const { return quota_allows(gangs_.at(name)); }
  // Whether this waiting gang could start on what is free now.
  bool could_start(const std::string& name) const;

  const std::map<std::string, Gang>& gangs() const { return gangs_; }
  // No node holds more than it has, counting what runs.
  std::string overfull_node() const;

 private:
  Amounts free_on(const std::string& node) const;
  Amounts used_below(const std::string& tree, const std::string& node) const;
  bool quota_allows(const Gang& gang) const;
  std::optional<Places> find_places(const Gang& gang) const;
  bool search(const std::vector<std::pair<std::uint32_t, const PodSet*>>& pods, std::size_t next,
              std::map<std::string, Amounts>& free, Places& places) const;
  std::optional<Places> search_among(
      const std::vector<std::pair<std::uint32_t, const PodSet*>>& pods,
      const std::vector<std::string>& nodes) const;
  static std::optional<std::vector<std::string>> domain_of(const Within& within,
                                                           const NodeSpec& node);
  std::vector<std::string> nodes_of_domain(const Within& within,
                                           const std::vector<std::string>& domain) const;
  std::vector<std::vector<std::string>> domains(const Within& within, const PodSet& first) const;
  std::vector<std::string> line(Time now) const;

  Options options_;
  std::map<std::string, Node> nodes_;
  std::map<std::string, std::vector<QuotaNode>> trees_;
  std::map<std::string, Gang> gangs_;
};

}  // namespace codeflare::sched::naive
