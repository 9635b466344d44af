#include "base/env/file_handle.h"

#include "base/env/test_worlds.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace codeflare {
namespace {

class FileHandleTest : public BothWorlds {
 protected:
  FileHandles& handles() { return **handles_of(env().files); }
  static std::string read(FileHandle& file, std::uint64_t offset) {
    std::array<char, 64> buffer{};
    const std::size_t size = file.read_at(offset, buffer).value_or(0);
    return std::string(buffer.data(), size);
  }
};
INSTANTIATE_BOTH_WORLDS(FileHandleTest);

TEST_P(FileHandleTest, writes_and_reads_at_offsets) {
  auto file = handles().open_new(path("f"), 0600);
  ASSERT_TRUE(file) << file.error().to_string();
  ASSERT_TRUE((*file)->write_at(3, "def"));
  ASSERT_TRUE((*file)->write_at(0, "abc"));
  ASSERT_TRUE((*file)->sync());
  EXPECT_EQ(env().files.read(path("f")).value(), "abcdef");
  auto again = handles().open_to_read(path("f"));
  ASSERT_TRUE(again) << again.error().to_string();
  EXPECT_EQ(read(**again, 2), "cdef");
  EXPECT_EQ(read(**again, 6), "");
  EXPECT_EQ(env().files.info(path("f"))->mode, 0600u);
}

TEST_P(FileHandleTest, a_gap_reads_as_zeros) {
  auto file = handles().open_new(path("f"), 0600);
  ASSERT_TRUE(file);
  ASSERT_TRUE((*file)->write_at(2, "x"));
  EXPECT_EQ(read(**file, 0), std::string("\0\0x", 3));
}

TEST_P(FileHandleTest, a_new_file_needs_a_free_name_and_a_directory) {
  ASSERT_TRUE(env().files.write(path("f"), "x"));
  EXPECT_EQ(handles().open_new(path("f"), 0600).error().code, ErrorCode::already_exists);
  EXPECT_EQ(handles().open_new(path("no/f"), 0600).error().code, ErrorCode::not_found);
  EXPECT_EQ(handles().open_to_read(path("absent")).error().code, ErrorCode::not_found);
  EXPECT_TRUE(handles().sync_directory(path("")));
  EXPECT_FALSE(handles().sync_directory(path("absent")));
}

TEST_P(FileHandleTest, reports_the_space_of_the_disk) {
  auto space = handles().disk_space(path(""));
  ASSERT_TRUE(space) << space.error().to_string();
  EXPECT_GT(space->total_bytes, 0u);
  EXPECT_LE(space->free_bytes, space->total_bytes);
}

TEST(SimFileHandle, a_crash_loses_names_and_content_that_were_not_synced) {
  SimEnv world;
  FileSystem& files = world.env().files;
  FileHandles& handles = **handles_of(files);
  ASSERT_TRUE(files.make_directories("/d"));
  const auto make = [&](const std::string& name) {
    auto file = handles.open_new("/d/" + name, 0600);
    EXPECT_TRUE(file && (*file)->write_at(0, "one"));
    return *std::move(file);
  };
  auto kept = make("kept");
  ASSERT_TRUE(kept->sync());
  auto content_only = make("empty");
  ASSERT_TRUE(handles.sync_directory("/d"));
  ASSERT_TRUE(kept->write_at(3, "two"));
  auto name_only = make("lost");
  ASSERT_TRUE(name_only->sync());

  world.crash_files();

  EXPECT_EQ(files.read("/d/kept").value(), "one");
  EXPECT_EQ(files.read("/d/empty").value(), "");
  EXPECT_FALSE(files.exists("/d/lost"));
}

}  // namespace
}  // namespace codeflare
