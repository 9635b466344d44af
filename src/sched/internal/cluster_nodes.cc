#include "base/check.h"
#include "sched/internal/cluster.h"

#include <algorithm>

namespace codeflare::sched {

namespace {

constexpr std::uint64_t kRankGap = std::uint64_t{1} << 24;

// Sums may be asked for absurd clusters; they wrap instead of overflowing.
void accumulate(Amount& sum, Amount amount, int sign) {
  const auto value = static_cast<std::uint64_t>(amount);
  sum = static_cast<Amount>(static_cast<std::uint64_t>(sum) + (sign > 0 ? value : 0 - value));
}

}  // namespace

Cluster::Cluster(const std::vector<std::string>& pack) : resources_(pack) {
  order_.pack_size = resources_.pack_size();
  sync_width();
}

void Cluster::sync_width() {
  order_.resources = resources_.size();
  const std::size_t width = resources_.width();
  if (order_.free.width() >= width) {
    return;
  }
  for (Matrix* matrix : {&order_.free, &allocatable_, &foreign_, &seen_}) {
    matrix->widen(width);
  }
  for (NodeClass& each : classes_) {
    each.index.widen(width);
    each.free_sum.resize(width);
    each.capacity_sum.resize(width);
  }
}

Index Cluster::find(std::string_view name) const {
  const auto entry = by_name_.find(name);
  return entry == by_name_.end() ? kNone : entry->second;
}

Index Cluster::new_node(const std::string& name) {
  Index node = 0;
  if (free_nodes_.empty()) {
    node = static_cast<Index>(nodes_.size());
    nodes_.emplace_back();
    for (Matrix* matrix : {&order_.free, &allocatable_, &foreign_, &seen_}) {
      matrix->grow_to(node + 1);
    }
    order_.rank.resize(node + 1);
    order_.block.resize(node + 1, kNone);
  } else {
    node = free_nodes_.back();
    free_nodes_.pop_back();
  }
  nodes_[node].name = name;
  nodes_[node].alive = true;
  ++alive_;
  by_name_.emplace(name, node);
  assign_rank(node);
  return node;
}

// Ranks follow names, so that ties do not depend on the order in which nodes appeared.
void Cluster::assign_rank(Index node) {
  const auto place = by_name_.find(nodes_[node].name);
  const auto next = std::next(place);
  const std::uint64_t low = place == by_name_.begin() ? 0 : order_.rank[std::prev(place)->second];
  const std::uint64_t high =
      next == by_name_.end() ? low + 2 * kRankGap : order_.rank[next->second];
  if (high - low >= 2) {
    order_.rank[node] = low + (high - low) / 2;
    return;
  }
  // The relative order of the others does not change, so indexes stay sorted.
  std::uint64_t rank = 0;
  for (const auto& [name, index] : by_name_) {
    order_.rank[index] = rank += kRankGap;
  }
}

template <typename Change>
void Cluster::change_free(Index node, Change&& change) {
  Amount* row = order_.free.row(node);
  scratch_.assign(row, row + order_.free.width());
  add_sums(node, -1);
  change();
  add_sums(node, +1);
  NodeClass& home = classes_[nodes_[node].node_class];
  home.index.update(order_, node, scratch_.data());
  mark_dirty(node);
}

void Cluster::add_sums(Index node, int sign) {
  NodeClass& home = classes_[nodes_[node].node_class];
  const Amount* row = order_.free.row(node);
  const Amount* capacity = allocatable_.row(node);
  for (Index r = 0; r < order_.resources; ++r) {
    accumulate(home.free_sum[r], std::max<Amount>(row[r], 0), sign);
    accumulate(home.capacity_sum[r], capacity[r], sign);
  }
}

void Cluster::move(Index node, const Request& request, std::int64_t count) {
  if (request.empty() || count == 0) {
    return;
  }
  Amount* row = order_.free.row(node);
  scratch_.assign(row, row + order_.free.width());
  NodeClass& home = classes_[nodes_[node].node_class];
  for (const Part& part : request) {
    Amount& free = row[part.resource];
    accumulate(home.free_sum[part.resource], std::max<Amount>(free, 0), -1);
    free -= part.amount * count;
    accumulate(home.free_sum[part.resource], std::max<Amount>(free, 0), +1);
  }
  home.index.update(order_, node, scratch_.data());
  mark_dirty(node);
}

void Cluster::set_allocatable(Index node, const Request& amounts) {
  change_free(node, [&] {
    Amount* capacity = allocatable_.row(node);
    Amount* row = order_.free.row(node);
    for (Index r = 0; r < order_.resources; ++r) {
      row[r] -= capacity[r];
    }
    allocatable_.clear_row(node);
    for (const Part& part : amounts) {
      capacity[part.resource] = part.amount;
    }
    for (Index r = 0; r < order_.resources; ++r) {
      row[r] += capacity[r];
    }
  });
}

void Cluster::set_foreign(Index node, const Request& usage) {
  change_free(node, [&] {
    Amount* used = foreign_.row(node);
    Amount* row = order_.free.row(node);
    for (Index r = 0; r < order_.resources; ++r) {
      row[r] += used[r];
    }
    foreign_.clear_row(node);
    for (const Part& part : usage) {
      used[part.resource] = part.amount;
    }
    for (Index r = 0; r < order_.resources; ++r) {
      row[r] -= used[r];
    }
  });
}

void Cluster::mark_dirty(Index node) {
  ++changes_;
  if (nodes_[node].dirty) {
    return;
  }
  nodes_[node].dirty = true;
  dirty_.push_back(node);
}

void Cluster::settle() {
  for (const Index node : dirty_) {
    nodes_[node].dirty = nodes_[node].fresh = false;
    seen_.copy_row(node, order_.free.row(node));
  }
  dirty_.clear();
}

void Cluster::add_resident(Index node, Index gang, std::int64_t pieces) {
  auto& residents = nodes_[node].residents;
  const auto found = std::find_if(residents.begin(), residents.end(),
                                  [&](const Resident& each) { return each.gang == gang; });
  if (found == residents.end()) {
    residents.push_back({gang, pieces});
  } else {
    found->pieces += pieces;
  }
}

void Cluster::drop_resident(Index node, Index gang, std::int64_t pieces) {
  auto& residents = nodes_[node].residents;
  const auto found = std::find_if(residents.begin(), residents.end(),
                                  [&](const Resident& each) { return each.gang == gang; });
  CHECK(found != residents.end(), "a gang leaves a node that it was not on");
  found->pieces -= pieces;
  if (found->pieces == 0) {
    residents.erase(found);
  }
}

Result<Index> Cluster::upsert(const NodeSpec& spec) {
  if (spec.name.empty()) {
    return fail(invalid_argument("a node has no name"));
  }
  const Request amounts = resources_.observed(spec.allocatable);
  sync_width();
  auto [labels, taints] = describe(spec);
  Index node = find(spec.name);
  const bool is_new = node == kNone;
  if (is_new) {
    node = new_node(spec.name);
  }
  if (is_new || labels != nodes_[node].labels || taints != nodes_[node].taints) {
    if (!is_new) {
      leave_class(node);
    }
    count_keys(node, -1);
    nodes_[node].labels = std::move(labels);
    nodes_[node].taints = std::move(taints);
    count_keys(node, +1);
    join_class(node);
    nodes_[node].fresh = true;
    mark_dirty(node);
  }
  set_allocatable(node, amounts);
  if (widen_keys()) {
    reclass_all();
  }
  return node;
}

void Cluster::remove(Index node) {
  Node& gone = nodes_[node];
  CHECK(gone.residents.empty(), "a node is removed while gangs are on it");
  ++changes_;
  leave_class(node);
  count_keys(node, -1);
  by_name_.erase(gone.name);
  --alive_;
  gone.alive = false;
  ++gone.generation;
  gone.name.clear();
  gone.labels.clear();
  gone.taints.clear();
  for (Matrix* matrix : {&order_.free, &allocatable_, &foreign_, &seen_}) {
    matrix->clear_row(node);
  }
  if (gone.dirty) {
    gone.dirty = false;
    dirty_.erase(std::find(dirty_.begin(), dirty_.end(), node));
  }
  free_nodes_.push_back(node);
}

}  // namespace codeflare::sched
