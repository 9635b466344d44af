#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare {

// How many letters have to be changed, added, left out or swapped with their neighbour to make one
// text of the other.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The known words that a misspelt one may mean, the likeliest first: at most `count`, and none that
// differs in more than a third of its letters. Case does not count; a word that the typed one
// begins does ("app" means "appwrapper").
std::vector<std::string> close_words(std::string_view typed, std::span<const std::string> known,
                                     std::size_t count = 3);

// The known name that is closest to `wanted`, if they differ in at most a third of its letters.
// Case counts.
std::optional<std::string_view> nearest_name(std::string_view wanted,
                                             std::span<const std::string_view> known);

// "; did you mean a, b or c?", or nothing when no word is close.
std::string did_you_mean(std::string_view typed, std::span<const std::string> known);

}  // namespace codeflare
