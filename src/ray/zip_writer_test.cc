#include "ray/zip_writer.h"

#include "ray/testing/zip_reader.h"

#include <gtest/gtest.h>

#include <string>

namespace codeflare::ray {
namespace {

using testing::read_zip;

TEST(ZipWriter, writes_what_can_be_read_back) {
  ZipWriter zip;
  zip.add_file("empty", "", 0644);
  zip.add_file("d/short", "x", 0600);
  zip.add_file("d/\xc3\xa9", std::string(100'000, 'y'), 0755);
  zip.add_directory("e", 0755);
  const auto entries = read_zip(std::move(zip).finish());
  ASSERT_EQ(entries.size(), 4u);
  EXPECT_EQ(entries[0].content, "");
  EXPECT_EQ(entries[1].content, "x");
  EXPECT_EQ(entries[1].mode, 0100600u);
  EXPECT_EQ(entries[2].name, "d/\xc3\xa9");
  EXPECT_EQ(entries[2].content, std::string(100'000, 'y'));
  EXPECT_EQ(entries[3].name, "e/");
  EXPECT_EQ(entries[3].mode, 0040755u);
}

TEST(ZipWriter, of_nothing_is_an_empty_zip) {
  EXPECT_EQ(ZipWriter().finish(), std::string("PK\x05\x06", 4) + std::string(18, '\0'));
}

TEST(ZipWriter, counts_more_entries_than_the_old_form_can) {
  ZipWriter zip;
  for (int i = 0; i < 70'000; ++i) {
    zip.add_directory(std::to_string(i), 0755);
  }
  const std::string bytes = std::move(zip).finish();
  const std::size_t end = bytes.size() - 22;
  EXPECT_EQ(bytes.substr(end + 8, 2), "\xff\xff");
  EXPECT_EQ(bytes.substr(end - 20, 4), std::string("PK\x06\x07", 4));
  EXPECT_EQ(bytes.substr(end - 76, 4), std::string("PK\x06\x06", 4));
  EXPECT_EQ(bytes.substr(end - 76 + 24, 4), std::string("\x70\x11\x01\x00", 4));
}

}  // namespace
}  // namespace codeflare::ray
