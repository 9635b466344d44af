#include "sched/internal/shape_table.h"

#include <algorithm>

namespace codeflare::sched {

namespace {

Result<void> check_total(const ResourceTable& resources, const Request& one, std::int64_t count,
                         const Request& sum) {
  for (const Part& part : one) {
    Amount product = 0;
    if (__builtin_mul_overflow(part.amount, count, &product) ||
        product > kGangAmountMax - amount_of(sum, part.resource)) {
      return fail(invalid_argument("resource " + resources.name(part.resource) + ": " +
                                   std::to_string(count) + " pods of " +
                                   std::to_string(part.amount) + " each are too much"));
    }
  }
  return {};
}

std::string signature_of(const Shape& shape) {
  Signature signature;
  for (const ShapeSet& set : shape.sets) {
    signature.add(set.kind).add(static_cast<std::uint64_t>(set.count)).add(set.apart);
    signature.add(set.charge.size());
    for (const Part& part : set.charge) {
      signature.add(part.resource).add(static_cast<std::uint64_t>(part.amount));
    }
  }
  signature.add(shape.within.keys.size());
  for (const std::string& key : shape.within.keys) {
    signature.add(key);
  }
  for (const auto& tier : shape.within.prefer) {
    signature.add(tier.size());
    for (const std::string& value : tier) {
      signature.add(value);
    }
  }
  return signature.text();
}

// Larger in packing order first, then the more constrained: they have the fewest places to go.
bool harder(const Cluster& cluster, const Group& a, const Group& b) {
  const Kind& x = cluster.kind(a.kind);
  const Kind& y = cluster.kind(b.kind);
  for (Index r = 0; r < cluster.resources().pack_size(); ++r) {
    const Amount p = amount_of(x.request, r);
    const Amount q = amount_of(y.request, r);
    if (p != q) {
      return p > q;
    }
  }
  if (x.keys.size() != y.keys.size()) {
    return x.keys.size() > y.keys.size();
  }
  return a.sets.front().first < b.sets.front().first;
}

void group(const Cluster& cluster, Shape& shape) {
  for (std::uint32_t i = 0; i < shape.sets.size(); ++i) {
    const ShapeSet& set = shape.sets[i];
    if (set.count == 0) {
      continue;
    }
    auto same = std::find_if(shape.groups.begin(), shape.groups.end(), [&](const Group& each) {
      return each.kind == set.kind && set.apart == 0;
    });
    if (same == shape.groups.end()) {
      shape.groups.push_back({.kind = set.kind, .sets = {}, .apart = set.apart});
      same = shape.groups.end() - 1;
    }
    same->count += set.count;
    same->sets.emplace_back(i, set.count);
  }
  std::sort(shape.groups.begin(), shape.groups.end(),
            [&](const Group& a, const Group& b) { return harder(cluster, a, b); });
}

Result<void> read(Cluster& cluster, const PodSet& pod_set, Shape& shape) {
  if (pod_set.count < 0 || pod_set.count > kAmountMax) {
    return fail(invalid_argument("a pod set of " + std::to_string(pod_set.count) + " pods"));
  }
  TRY_ASSIGN(const Request request, cluster.resources().request(pod_set.requests));
  Request charge = request;
  if (pod_set.charge) {
    TRY_ASSIGN(charge, cluster.resources().request(*pod_set.charge));
  }
  TRY(check_total(cluster.resources(), request, pod_set.count, shape.total));
  TRY(check_total(cluster.resources(), charge, pod_set.count, shape.charge));
  cluster.sync_width();
  add(shape.total, request, pod_set.count);
  add(shape.charge, charge, pod_set.count);
  shape.pods += pod_set.count;
  shape.sets.push_back({cluster.acquire_kind(request, canonical(pod_set, shape.within)),
                        pod_set.count, std::move(charge), pod_set.apart});
  return {};
}

}  // namespace

Result<Index> ShapeTable::acquire(Cluster& cluster, const std::vector<PodSet>& pod_sets,
                                  const Within& within) {
  Shape shape;
  shape.within = within;
  const auto forget_kinds = [&] {
    for (const ShapeSet& set : shape.sets) {
      cluster.release_kind(set.kind);
    }
  };
  for (std::size_t i = 0; i < pod_sets.size(); ++i) {
    if (auto done = read(cluster, pod_sets[i], shape); !done) {
      forget_kinds();
      return fail(std::move(done).error().with_context("pod set " + std::to_string(i)));
    }
  }
  return intern(cluster, std::move(shape));
}

Result<Index> ShapeTable::acquire_with(Cluster& cluster, Index like, std::uint32_t pod_set,
                                       std::int64_t count) {
  Shape shape;
  shape.sets = shapes_[like].sets;
  shape.within = shapes_[like].within;
  shape.sets[pod_set].count = count;
  for (const ShapeSet& set : shape.sets) {
    const Request& request = cluster.kind(set.kind).request;
    TRY(check_total(cluster.resources(), request, set.count, shape.total));
    TRY(check_total(cluster.resources(), set.charge, set.count, shape.charge));
    add(shape.total, request, set.count);
    add(shape.charge, set.charge, set.count);
    shape.pods += set.count;
  }
  for (const ShapeSet& set : shape.sets) {
    cluster.add_ref(set.kind);
  }
  return intern(cluster, std::move(shape));
}

Index ShapeTable::intern(Cluster& cluster, Shape shape) {
  shape.signature = signature_of(shape);
  if (const auto known = by_signature_.find(shape.signature); known != by_signature_.end()) {
    for (const ShapeSet& set : shape.sets) {
      cluster.release_kind(set.kind);
    }
    ++shapes_[known->second].refs;
    return known->second;
  }
  group(cluster, shape);
  shape.refs = 1;
  Index index = 0;
  if (free_.empty()) {
    index = size();
    shapes_.emplace_back();
  } else {
    index = free_.back();
    free_.pop_back();
    shape.nap = shapes_[index].nap + 1;
  }
  by_signature_.emplace(shape.signature, index);
  shapes_[index] = std::move(shape);
  return index;
}

void ShapeTable::release(Cluster& cluster, Index shape) {
  Shape& left = shapes_[shape];
  if (--left.refs > 0) {
    return;
  }
  for (const ShapeSet& set : left.sets) {
    cluster.release_kind(set.kind);
  }
  by_signature_.erase(left.signature);
  const std::uint32_t nap = left.nap + 1;
  left = Shape{};
  left.nap = nap;
  free_.push_back(shape);
}

std::size_t ShapeTable::memory_bytes() const {
  std::size_t bytes = 0;
  for (const Shape& shape : shapes_) {
    bytes += sizeof(Shape) + shape.signature.capacity() * 2 +
             shape.groups.capacity() * (sizeof(Group) + 32) +
             shape.sets.capacity() * (sizeof(ShapeSet) + 64) + shape.lanes.capacity() * 4;
  }
  return bytes;
}

}  // namespace codeflare::sched
