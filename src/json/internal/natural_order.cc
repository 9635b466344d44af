#include "json/internal/natural_order.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace codeflare::json::internal {

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Bytes beyond ASCII count as letters, which most of them are part of.
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (static_cast<unsigned char>(c) & 0x80);
}

struct Run {
  std::uint64_t number;
  std::size_t end;
};

Run digits_from(std::string_view text, std::size_t at, std::uint64_t number) {
  while (at < text.size() && is_digit(text[at])) {
    number = number * 10 + static_cast<std::uint64_t>(text[at++] - '0');
  }
  return {number, at};
}

// The digit before `at`, or one before that, is not zero: zeros at `at` then count.
bool inside_number(std::string_view text, std::size_t at) {
  while (at > 0 && is_digit(text[at - 1])) {
    if (text[--at] != '0') {
      return true;
    }
  }
  return false;
}

}  // namespace

bool naturally_less(std::string_view a, std::string_view b) {
  std::size_t at = 0;
  while (at < a.size() && at < b.size() && a[at] == b[at]) {
    ++at;
  }
  if (at == a.size() || at == b.size()) {
    return a.size() < b.size();
  }
  bool letter_a = is_letter(a[at]);
  bool letter_b = is_letter(b[at]);
  if (letter_a || letter_b) {
    return letter_a && letter_b
               ? static_cast<unsigned char>(a[at]) < static_cast<unsigned char>(b[at])
               : letter_b;
  }
  bool counts = (a[at] == '0' || b[at] == '0') && inside_number(a, at);
  Run run_a = digits_from(a, at, counts ? 1 : 0);
  Run run_b = digits_from(b, at, counts ? 1 : 0);
  if (run_a.number != run_b.number) {
    return run_a.number < run_b.number;
  }
  return run_a.end != run_b.end ? run_a.end < run_b.end : a[at] < b[at];
}

// A merge sort of our own: it ends in some order even where the relation runs in circles.
void sort_naturally(std::vector<const Member*>& members) {
  std::vector<const Member*> merged(members.size());
  for (std::size_t width = 1; width < members.size(); width *= 2) {
    for (std::size_t start = 0; start < members.size(); start += 2 * width) {
      std::size_t left = start;
      std::size_t middle = std::min(start + width, members.size());
      std::size_t right = middle;
      std::size_t end = std::min(start + 2 * width, members.size());
      for (std::size_t out = start; out < end; ++out) {
        bool take_right = left == middle ||
                          (right < end && naturally_less(members[right]->key, members[left]->key));
        merged[out] = take_right ? members[right++] : members[left++];
      }
    }
    members.swap(merged);
  }
}

}  // namespace codeflare::json::internal
