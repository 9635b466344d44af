#include "node/agent/volume_writer.h"
#include "node/testing/scratch.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace codeflare::node {
namespace {

using testing::Scratch;

TEST(VolumeWriter, files_appear_and_change_as_a_whole) {
  Scratch s;
  const auto writer = make_volume_writer();
  ASSERT_TRUE(writer->write(s.path("v"), {{.path = "a", .content = "1"},
                                          {.path = "dir/b", .content = "2", .mode = 0400}}));
  EXPECT_EQ(*s.env.files.read(s.path("v/a")), "1");
  EXPECT_EQ(*s.env.files.read(s.path("v/dir/b")), "2");
  EXPECT_EQ(s.env.files.info(s.path("v/..data/dir/b"))->mode & 0777, 0400u);
  EXPECT_EQ(s.env.files.info(s.path("v/a"))->type, FileInfo::Type::link);

  ASSERT_TRUE(writer->write(s.path("v"), {{.path = "a", .content = "new"}}));
  EXPECT_EQ(*s.env.files.read(s.path("v/a")), "new");
  EXPECT_FALSE(s.env.files.exists(s.path("v/dir")));
  // "..data", its directory and "a": the old directory is gone.
  EXPECT_EQ(s.env.files.list(s.path("v"))->size(), 3u);
}

TEST(VolumeWriter, a_link_in_place_of_a_volume_is_not_followed) {
  Scratch s;
  ASSERT_TRUE(s.env.files.make_directories(s.path("elsewhere")));
  std::filesystem::create_symlink(s.path("elsewhere"), s.path("v"));
  EXPECT_FALSE(make_volume_writer()->write(s.path("v"), {{.path = "a", .content = "1"}}));
  EXPECT_TRUE(s.env.files.list(s.path("elsewhere"))->empty());
}

TEST(VolumeWriter, what_a_failed_write_has_left_goes_with_the_next) {
  Scratch s;
  const auto writer = make_volume_writer();
  ASSERT_TRUE(writer->write(s.path("v"), {{.path = "a", .content = "1"}}));
  ASSERT_TRUE(s.env.files.make_directories(s.path("v/..half")));
  ASSERT_TRUE(s.env.files.write(s.path("v/..half/secret"), "x"));
  ASSERT_TRUE(writer->write(s.path("v"), {{.path = "a", .content = "2"}}));
  EXPECT_EQ(*s.env.files.read(s.path("v/a")), "2");
  EXPECT_FALSE(s.env.files.exists(s.path("v/..half")));
}

TEST(VolumeWriter, nothing_is_a_volume_too) {
  Scratch s;
  ASSERT_TRUE(make_volume_writer()->write(s.path("v"), {}));
  EXPECT_TRUE(s.env.files.exists(s.path("v/..data")));
}

}  // namespace
}  // namespace codeflare::node
