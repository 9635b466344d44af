#pragma once

#include "sched/internal/matrix.h"
#include "sched/internal/resource_table.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace codeflare::sched {

// The common input of all class indexes: the free amounts of every node and its place among equals.
struct NodeOrder {
  Matrix free;
  std::vector<std::uint64_t> rank;  // by name; the last tie-breaker
  std::vector<Index> block;         // where the node's class index keeps it
  Index pack_size = 0;              // leading columns that are the sort key
  Index resources = 0;              // columns in use

  // Best fit comes first: less free in packing order.
  bool before(Index a, Index b) const {
    const Amount* x = free.row(a);
    const Amount* y = free.row(b);
    for (Index i = 0; i < pack_size; ++i) {
      if (x[i] != y[i]) {
        return x[i] < y[i];
      }
    }
    return rank[a] < rank[b];
  }
};

// The nodes of one class, sorted best fit first, in blocks with the maximum of every resource, and
// blocks of blocks with theirs: the first node that holds a request is found by skipping blocks.
class ClassIndex {
 public:
  ClassIndex() : ClassIndex(Matrix::kWidthMin) {}
  explicit ClassIndex(std::size_t width) : block_max_(width), super_max_(width) {}

  struct Cursor {
    std::size_t super = 0;
    std::size_t block = 0;
    std::size_t node = 0;
  };

  void insert(NodeOrder& order, Index node);
  void erase(NodeOrder& order, Index node);
  // The node's free row has changed from `old_row` to what `order` now says.
  void update(NodeOrder& order, Index node, const Amount* old_row);

  // The first node at or after the cursor that holds the request, or kNone; the cursor stays on it.
  Index next_fit(const NodeOrder& order, const Request& request, Cursor& cursor) const;
  static void advance(Cursor& cursor) { ++cursor.node; }
  // The first place after `node`, which need not be of this class.
  Cursor after(const NodeOrder& order, Index node) const;

  void widen(std::size_t width);
  std::size_t memory_bytes() const;
  // Order, block maxima and back references are what they should be.
  bool consistent(const NodeOrder& order) const;

 private:
  static constexpr std::size_t kBlock = 32;
  static constexpr std::size_t kSuper = 64;

  struct Block {
    Index super = 0;
    Index size = 0;
    std::array<Index, kBlock> nodes{};
  };
  struct Super {
    std::vector<Index> blocks;
  };

  Index new_block(Index super);
  Index new_super();
  Index block_for(const NodeOrder& order, Index node) const;
  void split_block(NodeOrder& order, Index block);
  void split_super(Index super);
  void drop_block(Index block);
  void remove_from_block(NodeOrder& order, Index block, std::size_t place, const Amount* old_row);
  void recompute_block(const NodeOrder& order, Index block);
  void recompute_super(Index super);
  // Raises or lowers maxima after one row changed; old_row null for a new node.
  void adjust(const NodeOrder& order, Index block, const Amount* old_row, const Amount* new_row);
  static std::size_t place_in(const Block& block, Index node);

  std::vector<Block> blocks_;
  std::vector<Super> supers_;
  std::vector<Index> super_order_;
  std::vector<Index> free_blocks_;
  std::vector<Index> free_supers_;
  Matrix block_max_;
  Matrix super_max_;
};

}  // namespace codeflare::sched
