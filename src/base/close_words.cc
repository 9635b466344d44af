#include "base/close_words.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace codeflare {

namespace {

// Of what people type: longer texts are cut, so that the work stays small.
constexpr std::size_t kLettersMax = 64;
constexpr std::size_t kPrefixMin = 2;

std::string lower(std::string_view text) {
  std::string out(text.substr(0, kLettersMax));
  std::ranges::transform(out, out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);  // two rows up
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(above.begin(), above.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = above[j] + (a[i] == b[j] ? 0 : 1);
      row[j + 1] = std::min({changed, row[j] + 1, above[j + 1] + 1});
      if (i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j]) {
        row[j + 1] = std::min(row[j + 1], before[j - 1] + 1);
      }
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above.back();
}

std::optional<std::string_view> nearest_name(std::string_view wanted,
                                             std::span<const std::string_view> known) {
  if (wanted.size() > kLettersMax) {
    return std::nullopt;
  }
  std::size_t least = wanted.size() / 3 + 1;
  std::optional<std::string_view> found;
  for (const std::string_view name : known) {
    if (const std::size_t distance = edit_distance(wanted, name); distance < least) {
      least = distance;
      found = name;
    }
  }
  return found;
}

std::vector<std::string> close_words(std::string_view typed, std::span<const std::string> known,
                                     std::size_t count) {
  const std::string wanted = lower(typed);
  std::vector<std::tuple<std::size_t, std::string>> found;
  for (const std::string& word : known) {
    const std::string lowered = lower(word);
    const std::size_t distance = edit_distance(wanted, lowered);
    const bool begun = wanted.size() >= kPrefixMin && lowered.starts_with(wanted);
    if (begun || distance * 3 <= std::max(wanted.size(), lowered.size())) {
      found.emplace_back(distance, word);
    }
  }
  std::ranges::sort(found);
  std::vector<std::string> words;
  for (const auto& [distance, word] : found) {
    if (words.size() < count && std::ranges::find(words, word) == words.end()) {
      words.push_back(word);
    }
  }
  return words;
}

std::string did_you_mean(std::string_view typed, std::span<const std::string> known) {
  const std::vector<std::string> words = close_words(typed, known);
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    text += i == 0 ? "; did you mean " : i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text.empty() ? text : text + "?";
}

}  // namespace codeflare
