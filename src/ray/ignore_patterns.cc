#include "ray/ignore_patterns.h"

#include "ray/utf8.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace codeflare::ray {

namespace {

using Text = std::u32string;
using View = std::u32string_view;

// White space as Python defines it.
bool is_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x20) || c == 0x85 || c == 0xa0 ||
         c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f ||
         c == 0x205f || c == 0x3000;
}

View stripped(View text) {
  while (!text.empty() && is_space(text.front())) {
    text.remove_prefix(1);
  }
  while (!text.empty() && is_space(text.back())) {
    text.remove_suffix(1);
  }
  return text;
}

std::vector<View> split_segments(View pattern) {
  std::vector<View> segments;
  for (;;) {
    const std::size_t slash = pattern.find(U'/');
    segments.push_back(pattern.substr(0, slash));
    if (slash == View::npos) {
      return segments;
    }
    pattern.remove_prefix(slash + 1);
  }
}

// The segments of a pattern, with "**" where a position in the tree is left open. Nothing when the
// pattern is none.
std::optional<std::vector<View>> normalized_segments(View pattern) {
  std::vector<View> segments = split_segments(pattern);
  if (segments.front().empty()) {
    // Anchored by a leading slash.
    segments.erase(segments.begin());
  } else if (segments.size() == 1 || (segments.size() == 2 && segments[1].empty())) {
    // A single name is meant at any depth.
    if (segments.front() != U"**") {
      segments.insert(segments.begin(), U"**");
    }
  }
  if (segments.empty()) {
    return std::nullopt;
  }
  if (segments.size() > 1 && segments.back().empty()) {
    // "dir/" is all that is below a directory, not the directory.
    segments.back() = U"**";
  }
  return segments;
}

}  // namespace

// Turns a pattern into steps. Its methods append.
class IgnorePatterns::Compiler {
 public:
  explicit Compiler(std::vector<Step>& steps) : steps_(steps) {}
  using Kind = Step::Kind;

  // False when the pattern can match nothing.
  bool compile(const std::vector<View>& segments, bool leaves_out) {
    const std::size_t last = segments.size() - 1;
    bool need_slash = false;
    for (std::size_t i = 0; i <= last; ++i) {
      if (segments[i] == U"**") {
        any_directories(i == 0, i == last);
        need_slash = i != 0;
        continue;
      }
      if (need_slash) {
        one(U'/');
      }
      need_slash = true;
      if (segments[i] == U"*") {
        take(Kind::take_but_slash);
        repeat(Kind::take_but_slash);
      } else if (!glob(segments[i])) {
        return false;
      } else if (i == last && leaves_out) {
        // A pattern that leaves out a directory leaves out its content.
        const std::size_t split = begin_optional();
        one(U'/');
        repeat(Kind::take_but_newline);
        end_optional(split);
      }
    }
    return true;
  }

 private:
  void take(Kind kind) { steps_.push_back({.kind = kind}); }
  void one(char32_t c) { steps_.push_back({.kind = Kind::take_one, .character = c}); }
  // Any number of them, none too.
  void repeat(Kind kind) {
    const std::size_t split = begin_optional();
    take(kind);
    steps_.push_back({.kind = Kind::jump, .other = split});
    end_optional(split);
  }
  std::size_t begin_optional() {
    steps_.push_back({.kind = Kind::split});
    return steps_.size() - 1;
  }
  void end_optional(std::size_t split) { steps_[split].other = steps_.size(); }

  // A "**" segment.
  void any_directories(bool first, bool last) {
    if (first && last) {
      take(Kind::take_but_newline);
      repeat(Kind::take_but_newline);
    } else if (first) {
      const std::size_t split = begin_optional();
      take(Kind::take_but_newline);
      repeat(Kind::take_but_newline);
      one(U'/');
      end_optional(split);
    } else if (last) {
      one(U'/');
      repeat(Kind::take_but_newline);
    } else {
      const std::size_t split = begin_optional();
      one(U'/');
      take(Kind::take_but_newline);
      repeat(Kind::take_but_newline);
      end_optional(split);
    }
  }

  bool glob(View segment) {
    for (std::size_t i = 0; i < segment.size(); ++i) {
      const char32_t c = segment[i];
      if (c == U'\\') {
        if (++i < segment.size()) {
          one(segment[i]);
        }
      } else if (c == U'*') {
        repeat(Kind::take_but_slash);
      } else if (c == U'?') {
        take(Kind::take_but_slash);
      } else if (c == U'[') {
        if (const std::size_t end = end_of_set(segment, i + 1); end < segment.size()) {
          if (!set(segment.substr(i + 1, end - i - 1))) {
            return false;
          }
          i = end;
        } else {
          one(c);
        }
      } else {
        one(c);
      }
    }
    return true;
  }

  // Where its "]" is; a first one is a member.
  static std::size_t end_of_set(View segment, std::size_t at) {
    if (at < segment.size() && segment[at] == U'!') {
      ++at;
    }
    if (at < segment.size() && segment[at] == U']') {
      ++at;
    }
    return std::min(segment.find(U']', at), segment.size());
  }

  // False for a range that runs backwards.
  bool set(View members) {
    Step step{.kind = Kind::take_set};
    if (members.starts_with(U'!')) {
      step.negated = true;
      members.remove_prefix(1);
    }
    while (!members.empty()) {
      const bool range = members.size() > 2 && members[1] == U'-';
      const Range next{members[0], range ? members[2] : members[0]};
      if (next.last < next.first) {
        return false;
      }
      step.ranges.push_back(next);
      members.remove_prefix(range ? 3 : 1);
    }
    steps_.push_back(std::move(step));
    return true;
  }

  std::vector<Step>& steps_;
};

bool IgnorePatterns::Step::takes(char32_t c) const {
  switch (kind) {
    case Kind::take_one:
      return c == character;
    case Kind::take_but_slash:
      return c != U'/';
    case Kind::take_but_newline:
      return c != U'\n';
    case Kind::take_set:
      return negated != std::ranges::any_of(ranges, [&](const Range& range) {
               return c >= range.first && c <= range.last;
             });
    case Kind::split:
    case Kind::jump:
      break;
  }
  return false;
}

// Follows all steps that may be next at the same time, so no pattern makes this slow.
class IgnorePatterns::Matcher {
 public:
  Matcher(const std::vector<Step>& steps, View path)
      : steps_(steps), path_(path), seen_(steps.size() + 1, 0) {}

  bool run() {
    reach(now_, 0);
    for (std::size_t i = 0; i < path_.size() && !now_.empty(); ++i) {
      // As Python's "$", the end is also before a last line end.
      if (i + 1 == path_.size() && path_[i] == U'\n' && at_end()) {
        return true;
      }
      ++round_;
      next_.clear();
      for (const std::size_t at : now_) {
        if (at < steps_.size() && steps_[at].takes(path_[i])) {
          reach(next_, at + 1);
        }
      }
      std::swap(now_, next_);
    }
    return at_end();
  }

 private:
  bool at_end() const { return std::ranges::find(now_, steps_.size()) != now_.end(); }

  // Adds the step, or what it leads to without a character.
  void reach(std::vector<std::size_t>& to, std::size_t from) {
    open_.push_back(from);
    while (!open_.empty()) {
      const std::size_t at = open_.back();
      open_.pop_back();
      if (std::exchange(seen_[at], round_) == round_) {
        continue;
      }
      const bool choice = at < steps_.size() && steps_[at].kind == Step::Kind::split;
      const bool jump = at < steps_.size() && steps_[at].kind == Step::Kind::jump;
      if (choice) {
        open_.push_back(at + 1);
      }
      if (choice || jump) {
        open_.push_back(steps_[at].other);
      } else {
        to.push_back(at);
      }
    }
  }

  const std::vector<Step>& steps_;
  View path_;
  std::vector<std::size_t> now_;
  std::vector<std::size_t> next_;
  std::vector<std::size_t> open_;
  std::vector<std::size_t> seen_;  // the round in which a step was reached last
  std::size_t round_ = 1;
};

void IgnorePatterns::add(std::string_view line) {
  const std::optional<Text> decoded = from_utf8(line);
  if (!decoded) {
    return;
  }
  View text = stripped(*decoded);
  if (text.empty() || text.starts_with(U'#') || text == U"/") {
    return;
  }
  Pattern pattern;
  if (text.starts_with(U'!')) {
    pattern.leaves_out = false;
    text.remove_prefix(1);
  }
  // Of "\#" and "\!", but Ray takes it off whatever follows.
  if (text.starts_with(U'\\')) {
    text.remove_prefix(1);
  }
  const std::optional<std::vector<View>> segments = normalized_segments(text);
  if (segments && Compiler(pattern.steps).compile(*segments, pattern.leaves_out)) {
    patterns_.push_back(std::move(pattern));
  }
}

IgnorePatterns IgnorePatterns::parse(std::string_view text) {
  IgnorePatterns patterns;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of("\r\n"), text.size());
    patterns.add(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return patterns;
}

IgnorePatterns IgnorePatterns::of(const std::vector<std::string>& lines) {
  IgnorePatterns patterns;
  for (const std::string& line : lines) {
    patterns.add(line);
  }
  return patterns;
}

bool IgnorePatterns::excludes(std::string_view path) const {
  const std::optional<Text> decoded = from_utf8(path);
  if (!decoded) {
    return false;
  }
  for (auto pattern = patterns_.rbegin(); pattern != patterns_.rend(); ++pattern) {
    if (Matcher(pattern->steps, *decoded).run()) {
      return pattern->leaves_out;
    }
  }
  return false;
}

}  // namespace codeflare::ray
