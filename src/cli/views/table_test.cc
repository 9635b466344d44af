#include "cli/views/table.h"

#include <gtest/gtest.h>

namespace codeflare::cli {
namespace {

TEST(Table, columns_are_three_blanks_apart_and_lines_end_where_their_text_does) {
  Table table({"NAME", "STATE", "MESSAGE"});
  table.add_row({"a", "Running", ""});
  table.add_row({"longer-name", "", "waits"});
  EXPECT_EQ(table.to_text(),
            "NAME          STATE     MESSAGE\n"
            "a             Running\n"
            "longer-name             waits\n");
}

TEST(Table, letters_count_not_bytes) {
  Table table({"A", "B"});
  table.add_row({"größe", "x"});
  table.add_row({"sizes", "y"});
  EXPECT_EQ(table.to_text(), "A       B\ngröße   x\nsizes   y\n");
}

TEST(Table, a_cell_cannot_break_out_of_its_line_or_move_the_cursor) {
  Table table({"A", "B"});
  table.add_row({"x\ny\x1b[2J", "z"});
  EXPECT_EQ(table.to_text(), "A         B\nx y [2J   z\n");
}

TEST(Table, a_text_is_cut_between_letters) {
  EXPECT_EQ(cut_to_width("waiting", 7), "waiting");
  EXPECT_EQ(cut_to_width("waiting", 6), "wai...");
  EXPECT_EQ(cut_to_width("größe und mehr", 7), "größ...");
  EXPECT_EQ(cut_to_width("waiting", 2), "..");
}

}  // namespace
}  // namespace codeflare::cli
