#include "sched/internal/class_index.h"

#include "base/check.h"

#include <algorithm>
#include <limits>

namespace codeflare::sched {

namespace {

constexpr Amount kLowest = std::numeric_limits<Amount>::min();

void raise(Amount* maximum, const Amount* row, std::size_t columns) {
  for (std::size_t i = 0; i < columns; ++i) {
    maximum[i] = std::max(maximum[i], row[i]);
  }
}

bool carries(const Amount* maximum, const Amount* row, std::size_t columns) {
  for (std::size_t i = 0; i < columns; ++i) {
    if (row[i] == maximum[i]) {
      return true;
    }
  }
  return false;
}

// Whether a row that went from `old_row` to `new_row` may have carried a maximum down.
bool may_lower(const Amount* maximum, const Amount* old_row, const Amount* new_row,
               std::size_t columns) {
  for (std::size_t i = 0; i < columns; ++i) {
    if (old_row[i] == maximum[i] && new_row[i] < old_row[i]) {
      return true;
    }
  }
  return false;
}

}  // namespace

Index ClassIndex::new_block(Index super) {
  Index block = 0;
  if (free_blocks_.empty()) {
    block = static_cast<Index>(blocks_.size());
    blocks_.emplace_back();
    block_max_.grow_to(block + 1);
  } else {
    block = free_blocks_.back();
    free_blocks_.pop_back();
  }
  blocks_[block].super = super;
  blocks_[block].size = 0;
  std::fill_n(block_max_.row(block), block_max_.width(), kLowest);
  return block;
}

Index ClassIndex::new_super() {
  Index super = 0;
  if (free_supers_.empty()) {
    super = static_cast<Index>(supers_.size());
    supers_.emplace_back();
    super_max_.grow_to(super + 1);
  } else {
    super = free_supers_.back();
    free_supers_.pop_back();
  }
  std::fill_n(super_max_.row(super), super_max_.width(), kLowest);
  return super;
}

std::size_t ClassIndex::place_in(const Block& block, Index node) {
  const auto end = block.nodes.begin() + block.size;
  const auto place = std::find(block.nodes.begin(), end, node);
  DCHECK(place != end, "a node is not in the block that it names");
  return static_cast<std::size_t>(place - block.nodes.begin());
}

// The last block whose first node comes before `node`, or the very first one.
Index ClassIndex::block_for(const NodeOrder& order, Index node) const {
  const auto first_of = [&](Index block) { return blocks_[block].nodes[0]; };
  auto super = std::partition_point(super_order_.begin(), super_order_.end(), [&](Index candidate) {
    return order.before(first_of(supers_[candidate].blocks.front()), node);
  });
  if (super != super_order_.begin()) {
    --super;
  }
  const auto& blocks = supers_[*super].blocks;
  auto block = std::partition_point(blocks.begin(), blocks.end(), [&](Index candidate) {
    return order.before(first_of(candidate), node);
  });
  if (block != blocks.begin()) {
    --block;
  }
  return *block;
}

void ClassIndex::insert(NodeOrder& order, Index node) {
  if (super_order_.empty()) {
    const Index super = new_super();
    super_order_.push_back(super);
    supers_[super].blocks.push_back(new_block(super));
    Block& only = blocks_[supers_[super].blocks.front()];
    only.nodes[0] = node;
    only.size = 1;
    order.block[node] = supers_[super].blocks.front();
    adjust(order, order.block[node], nullptr, order.free.row(node));
    return;
  }
  Index target = block_for(order, node);
  if (blocks_[target].size == kBlock) {
    split_block(order, target);
    target = block_for(order, node);
  }
  Block& block = blocks_[target];
  const auto end = block.nodes.begin() + block.size;
  const auto place = std::partition_point(block.nodes.begin(), end,
                                          [&](Index other) { return order.before(other, node); });
  std::move_backward(place, end, end + 1);
  *place = node;
  ++block.size;
  order.block[node] = target;
  adjust(order, target, nullptr, order.free.row(node));
}

void ClassIndex::erase(NodeOrder& order, Index node) {
  const Index block = order.block[node];
  remove_from_block(order, block, place_in(blocks_[block], node), order.free.row(node));
  order.block[node] = kNone;
}

void ClassIndex::update(NodeOrder& order, Index node, const Amount* old_row) {
  const Index target = order.block[node];
  const Block& block = blocks_[target];
  const std::size_t place = place_in(block, node);
  const bool after_previous = place > 0 ? order.before(block.nodes[place - 1], node) : false;
  const bool before_next =
      place + 1 < block.size ? order.before(node, block.nodes[place + 1]) : false;
  if ((after_previous && before_next) ||
      (blocks_.size() - free_blocks_.size() == 1 && block.size == 1)) {
    adjust(order, target, old_row, order.free.row(node));
    return;
  }
  remove_from_block(order, target, place, old_row);
  insert(order, node);
}

void ClassIndex::remove_from_block(NodeOrder& order, Index block, std::size_t place,
                                   const Amount* old_row) {
  Block& from = blocks_[block];
  const auto begin = from.nodes.begin();
  const auto at = static_cast<std::ptrdiff_t>(place);
  std::move(begin + at + 1, begin + from.size, begin + at);
  --from.size;
  if (from.size == 0) {
    drop_block(block);
    return;
  }
  if (carries(block_max_.row(block), old_row, order.resources)) {
    recompute_block(order, block);
  }
}

void ClassIndex::split_block(NodeOrder& order, Index block) {
  const Index super = blocks_[block].super;
  const Index added = new_block(super);
  Block& low = blocks_[block];
  Block& high = blocks_[added];
  constexpr std::size_t kHalf = kBlock / 2;
  std::copy(low.nodes.begin() + kHalf, low.nodes.end(), high.nodes.begin());
  low.size = kHalf;
  high.size = kBlock - kHalf;
  for (Index i = 0; i < high.size; ++i) {
    order.block[high.nodes[i]] = added;
  }
  auto& siblings = supers_[super].blocks;
  siblings.insert(std::find(siblings.begin(), siblings.end(), block) + 1, added);
  recompute_block(order, block);
  recompute_block(order, added);
  if (siblings.size() > kSuper) {
    split_super(super);
  }
}

void ClassIndex::split_super(Index super) {
  const Index added = new_super();
  auto& low = supers_[super].blocks;
  auto& high = supers_[added].blocks;
  const auto half = low.begin() + static_cast<std::ptrdiff_t>(low.size() / 2);
  high.assign(half, low.end());
  low.erase(half, low.end());
  for (const Index block : high) {
    blocks_[block].super = added;
  }
  super_order_.insert(std::find(super_order_.begin(), super_order_.end(), super) + 1, added);
  recompute_super(super);
  recompute_super(added);
}

void ClassIndex::drop_block(Index block) {
  const Index super = blocks_[block].super;
  auto& siblings = supers_[super].blocks;
  siblings.erase(std::find(siblings.begin(), siblings.end(), block));
  free_blocks_.push_back(block);
  if (siblings.empty()) {
    super_order_.erase(std::find(super_order_.begin(), super_order_.end(), super));
    free_supers_.push_back(super);
    return;
  }
  recompute_super(super);
}

void ClassIndex::recompute_block(const NodeOrder& order, Index block) {
  Amount* maximum = block_max_.row(block);
  std::fill_n(maximum, block_max_.width(), kLowest);
  const Block& source = blocks_[block];
  for (Index i = 0; i < source.size; ++i) {
    raise(maximum, order.free.row(source.nodes[i]), order.resources);
  }
  recompute_super(source.super);
}

void ClassIndex::recompute_super(Index super) {
  Amount* maximum = super_max_.row(super);
  std::fill_n(maximum, super_max_.width(), kLowest);
  for (const Index block : supers_[super].blocks) {
    raise(maximum, block_max_.row(block), super_max_.width());
  }
}

void ClassIndex::adjust(const NodeOrder& order, Index block, const Amount* old_row,
                        const Amount* new_row) {
  if (old_row != nullptr && may_lower(block_max_.row(block), old_row, new_row, order.resources)) {
    recompute_block(order, block);
    return;
  }
  raise(block_max_.row(block), new_row, order.resources);
  raise(super_max_.row(blocks_[block].super), new_row, order.resources);
}

Index ClassIndex::next_fit(const NodeOrder& order, const Request& request, Cursor& cursor) const {
  for (; cursor.super < super_order_.size(); ++cursor.super, cursor.block = 0, cursor.node = 0) {
    const Index super = super_order_[cursor.super];
    if (!fits(super_max_.row(super), request)) {
      continue;
    }
    const auto& blocks = supers_[super].blocks;
    for (; cursor.block < blocks.size(); ++cursor.block, cursor.node = 0) {
      const Index index = blocks[cursor.block];
      if (!fits(block_max_.row(index), request)) {
        continue;
      }
      const Block& block = blocks_[index];
      for (; cursor.node < block.size; ++cursor.node) {
        const Index node = block.nodes[cursor.node];
        if (fits(order.free.row(node), request)) {
          return node;
        }
      }
    }
  }
  return kNone;
}

ClassIndex::Cursor ClassIndex::after(const NodeOrder& order, Index node) const {
  const auto not_after = [&](Index other) { return !order.before(node, other); };
  const auto position = [&](const auto& begin, const auto& end, const auto& first_of) {
    auto place =
        std::partition_point(begin, end, [&](Index each) { return not_after(first_of(each)); });
    return static_cast<std::size_t>(place == begin ? 0 : place - begin - 1);
  };
  if (super_order_.empty()) {
    return {};
  }
  const auto block_first = [&](Index block) { return blocks_[block].nodes[0]; };
  const auto super_first = [&](Index super) { return block_first(supers_[super].blocks.front()); };
  Cursor cursor;
  cursor.super = position(super_order_.begin(), super_order_.end(), super_first);
  const auto& blocks = supers_[super_order_[cursor.super]].blocks;
  cursor.block = position(blocks.begin(), blocks.end(), block_first);
  const Block& block = blocks_[blocks[cursor.block]];
  const auto end = block.nodes.begin() + block.size;
  cursor.node = static_cast<std::size_t>(std::partition_point(block.nodes.begin(), end, not_after) -
                                         block.nodes.begin());
  return cursor;
}

void ClassIndex::widen(std::size_t width) {
  const auto lowest_beyond = [&](Matrix& matrix) {
    const std::size_t before = matrix.width();
    matrix.widen(width);
    for (Index r = 0; r < matrix.rows(); ++r) {
      std::fill(matrix.row(r) + before, matrix.row(r) + matrix.width(), kLowest);
    }
  };
  lowest_beyond(block_max_);
  lowest_beyond(super_max_);
}

std::size_t ClassIndex::memory_bytes() const {
  return blocks_.capacity() * sizeof(Block) + supers_.capacity() * (sizeof(Super) + kSuper * 4) +
         block_max_.memory_bytes() + super_max_.memory_bytes();
}

bool ClassIndex::consistent(const NodeOrder& order) const {
  Index previous = kNone;
  for (const Index super : super_order_) {
    for (const Index block : supers_[super].blocks) {
      const Block& content = blocks_[block];
      if (content.super != super || content.size == 0) {
        return false;
      }
      for (Index i = 0; i < content.size; ++i) {
        const Index node = content.nodes[i];
        if (order.block[node] != block) {
          return false;
        }
        if (previous != kNone && !order.before(previous, node)) {
          return false;
        }
        for (Index r = 0; r < order.resources; ++r) {
          const Amount free = order.free.row(node)[r];
          // No request asks for zero: a column that nobody used yet may lag behind.
          if (free <= 0) {
            continue;
          }
          if (free > block_max_.row(block)[r] || free > super_max_.row(super)[r]) {
            return false;
          }
        }
        previous = node;
      }
    }
  }
  return true;
}

}  // namespace codeflare::sched
