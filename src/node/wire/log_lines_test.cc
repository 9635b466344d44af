#include "node/wire/log_lines.h"

#include "base/split.h"

#include <gtest/gtest.h>

namespace codeflare::node {
namespace {

const WallTime kNow{std::chrono::seconds(1'700'000'000)};
constexpr std::string_view kStamp = "2023-11-14T22:13:20.000000000Z";

TEST(LogLines, whole_lines_are_written_as_they_come) {
  LogLines lines("stdout");
  std::string out;
  lines.add("one\n\nthr", kNow, out);
  lines.add("ee\n", kNow, out);
  const std::string stamp(kStamp);
  EXPECT_EQ(out, stamp + " stdout F one\n" + stamp + " stdout F \n" + stamp + " stdout F three\n");
}

TEST(LogLines, what_has_no_end_is_partial) {
  LogLines lines("stderr");
  std::string out;
  lines.add("last words", kNow, out);
  EXPECT_EQ(out, "");
  lines.finish(kNow, out);
  EXPECT_EQ(out, std::string(kStamp) + " stderr P last words\n");
  lines.finish(kNow, out);
  EXPECT_EQ(split(out, '\n').size(), 2u);
}

TEST(LogLines, long_lines_are_cut_and_can_be_joined_again) {
  const std::string text(3 * kLogPartBytes + 17, 'x');
  for (std::size_t step : {std::size_t{1000}, text.size() + 1}) {
    LogLines lines("stdout");
    std::string out;
    const std::string whole = text + "\n";
    for (std::size_t at = 0; at < whole.size(); at += step) {
      lines.add(std::string_view(whole).substr(at, step), kNow, out);
    }
    std::string joined;
    std::size_t partial = 0;
    for (std::string_view line : split(out, '\n')) {
      if (!line.empty()) {
        const auto parsed = parse_log_line(line);
        ASSERT_TRUE(parsed);
        EXPECT_LE(parsed->text.size(), kLogPartBytes);
        joined += parsed->text;
        partial += parsed->partial ? 1 : 0;
      }
    }
    EXPECT_EQ(joined, text);
    EXPECT_EQ(partial, 3u);
  }
}

TEST(LogLines, are_taken_apart) {
  const auto line = parse_log_line("2026-11-16T00:14:39.1Z stdout F  a b ");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->time, "2026-11-16T00:14:39.1Z");
  EXPECT_EQ(line->stream, "stdout");
  EXPECT_FALSE(line->partial);
  EXPECT_EQ(line->text, " a b ");
  EXPECT_EQ(parse_log_line("t s P")->text, "");
  for (const char* bad : {"", "x", "x y", "x y ", "x y Z text", "x y Ftext"}) {
    EXPECT_FALSE(parse_log_line(bad)) << bad;
  }
}

TEST(LastLines, are_as_many_as_asked_for) {
  EXPECT_EQ(last_lines("a\nb\nc\n", 2), "b\nc\n");
  EXPECT_EQ(last_lines("a\nb\nc", 2), "b\nc");
  EXPECT_EQ(last_lines("a\n\n\n", 2), "\n\n");
  EXPECT_EQ(last_lines("a\nb\n", 5), "a\nb\n");
  EXPECT_EQ(last_lines("\n", 1), "\n");
  EXPECT_EQ(last_lines("abc", 0), "");
  EXPECT_EQ(last_lines("", 3), "");
}

}  // namespace
}  // namespace codeflare::node
