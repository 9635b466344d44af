#include "json/value.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace codeflare::json {

namespace {

constexpr std::size_t kFirstBlock = 512;
constexpr std::size_t kLargestStep = std::size_t{256} << 10;

}  // namespace

// The header of one piece of memory; the usable bytes follow it.
struct Arena::Block {
  Block* previous;
};

Arena::Arena() = default;

Arena::~Arena() {
  while (head_ != nullptr) {
    Block* previous = head_->previous;
    ::operator delete(head_);
    head_ = previous;
  }
}

Arena::Arena(Arena&& other) noexcept
    : head_(std::exchange(other.head_, nullptr)),
      next_(std::exchange(other.next_, nullptr)),
      end_(std::exchange(other.end_, nullptr)),
      total_(std::exchange(other.total_, 0)) {}

Arena& Arena::operator=(Arena&& other) noexcept {
  std::swap(head_, other.head_);
  std::swap(next_, other.next_);
  std::swap(end_, other.end_);
  std::swap(total_, other.total_);
  return *this;
}

void Arena::add_block(std::size_t capacity) {
  std::size_t size = sizeof(Block) + capacity;
  auto* memory = static_cast<char*>(::operator new(size));
  head_ = new (memory) Block{head_};
  next_ = memory + sizeof(Block);
  end_ = memory + size;
  total_ += size;
}

void* Arena::allocate_slow(std::size_t bytes, std::size_t alignment) {
  CHECK(alignment <= alignof(std::max_align_t));
  // Growing by a share keeps the number of blocks small; the cap keeps the unused tail small.
  std::size_t step = std::clamp(total_ / 2, kFirstBlock, kLargestStep);
  add_block(std::max(bytes + alignment, step));
  return allocate(bytes, alignment);
}

void Arena::reserve(std::size_t bytes) {
  if (next_ == nullptr || static_cast<std::size_t>(end_ - next_) < bytes) {
    add_block(bytes);
  }
}

std::string_view Arena::copy(std::string_view text) {
  if (text.empty()) {
    return {"", 0};
  }
  auto* memory = static_cast<char*>(allocate(text.size(), 1));
  std::memcpy(memory, text.data(), text.size());
  return {memory, text.size()};
}

}  // namespace codeflare::json
