#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::ray {

// The patterns of one ignore file, or of the `excludes` of a runtime environment, with the meaning
// that Ray's own packaging gives them (gitignore's, but for corner cases): the same files must be
// left out, or the same tree would get another hash.
// Matching takes time in proportion to path and patterns, whatever the patterns are.
class IgnorePatterns {
 public:
  // Lines end with LF, CR or CR LF.
  static IgnorePatterns parse(std::string_view text);
  // One pattern each.
  static IgnorePatterns of(const std::vector<std::string>& lines);

  // Whether the last pattern that matches leaves the path out. Paths are relative to the directory
  // of the patterns, "." for that directory itself.
  bool excludes(std::string_view path) const;
  bool empty() const { return patterns_.empty(); }

 private:
  struct Range {
    char32_t first;
    char32_t last;
  };
  // One instruction of a pattern's program. Every `take` uses up one character.
  struct Step {
    enum class Kind : std::uint8_t {
      take_one,
      take_but_slash,
      take_but_newline,
      take_set,
      split,  // on with the next step, and at `other`
      jump,   // on at `other`
    };
    Kind kind = Kind::take_one;
    bool negated = false;         // of a set
    char32_t character = 0;       // of take_one
    std::vector<Range> ranges{};  // of a set
    std::size_t other = 0;
    bool takes(char32_t c) const;
  };
  struct Pattern {
    bool leaves_out = true;  // false for "!pattern"
    std::vector<Step> steps{};
  };
  class Compiler;
  class Matcher;

  void add(std::string_view line);

  std::vector<Pattern> patterns_;
};

}  // namespace codeflare::ray
