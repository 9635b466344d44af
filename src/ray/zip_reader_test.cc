#include "ray/zip_reader.h"

#include "ray/zip_writer.h"

#include <gtest/gtest.h>

#include <string>

namespace codeflare::ray {
namespace {

std::string small_zip(const std::string& name, std::string_view content = "print('hi')\n") {
  ZipWriter zip;
  zip.add_file(name, content, 0755);
  return std::move(zip).finish();
}

// In place, as names of the same length.
std::string renamed(std::string zip, const std::string& from, const std::string& to) {
  for (std::size_t at = zip.find(from); at != std::string::npos; at = zip.find(from, at + 1)) {
    zip.replace(at, from.size(), to);
  }
  return zip;
}

TEST(ZipReader, reads_what_zip_writer_writes) {
  ZipWriter zip;
  zip.add_file("empty", "", 0644);
  zip.add_file("d/main.py", std::string(100'000, 'y'), 0755);
  zip.add_directory("e", 0700);
  const Result<std::vector<ZipEntry>> entries = read_zip(std::move(zip).finish(), {});
  ASSERT_TRUE(entries.has_value()) << entries.error().message;
  ASSERT_EQ(entries->size(), 3u);
  EXPECT_EQ((*entries)[1].name, "d/main.py");
  EXPECT_EQ((*entries)[1].content, std::string(100'000, 'y'));
  EXPECT_EQ((*entries)[1].mode, 0755u);
  EXPECT_EQ((*entries)[2].name, "e");
  EXPECT_TRUE((*entries)[2].directory);
}

TEST(ZipReader, rejects_paths_that_leave_the_directory) {
  for (const std::string_view path :
       {"/etc/passwd", "../x", "a/../../x", "a//b", "./x", "..", ""}) {
    EXPECT_FALSE(is_safe_path(path)) << path;
  }
  EXPECT_FALSE(is_safe_path(std::string_view("a\0b", 3)));
  EXPECT_TRUE(is_safe_path("a/..b/c.py"));
  EXPECT_FALSE(read_zip(renamed(small_zip("abcd"), "abcd", "../d"), {}));
  EXPECT_FALSE(read_zip(renamed(small_zip("abcd"), "abcd", "/bcd"), {}));
}

TEST(ZipReader, rejects_damage_and_bombs) {
  const std::string good = small_zip("main.py", std::string(5000, 'x'));
  EXPECT_FALSE(read_zip("", {}));
  EXPECT_FALSE(read_zip(std::string_view(good).substr(0, good.size() - 1), {}));
  std::string flipped = good;
  flipped[40] = static_cast<char>(flipped[40] ^ 1);
  EXPECT_FALSE(read_zip(flipped, {}));
  const Result<std::vector<ZipEntry>> bomb = read_zip(good, {.bytes_max = 4999});
  ASSERT_FALSE(bomb.has_value());
  EXPECT_EQ(bomb.error().code, ErrorCode::too_large);
  const Result<std::vector<ZipEntry>> many = read_zip(good, {.entries_max = 0});
  ASSERT_FALSE(many.has_value());
  EXPECT_EQ(many.error().code, ErrorCode::too_large);
}

TEST(ZipReader, rejects_links_and_names_that_occur_twice) {
  ZipWriter twice;
  twice.add_file("a", "1", 0644);
  twice.add_file("a", "2", 0644);
  EXPECT_FALSE(read_zip(std::move(twice).finish(), {}));
  std::string link = small_zip("a", "/etc");
  const std::size_t row = link.find(std::string("PK\x01\x02", 4));
  link[row + 41] = static_cast<char>(0xa1);  // a symbolic link's type
  EXPECT_FALSE(read_zip(link, {}));
}

}  // namespace
}  // namespace codeflare::ray
