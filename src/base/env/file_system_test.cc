#include "base/env/file_system.h"

#include "base/env/link_target.h"
#include "base/env/test_worlds.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <sys/stat.h>

namespace codeflare {
namespace {

using Names = std::vector<std::string>;

ErrorCode code_of(const Result<void>& result) {
  return result ? ErrorCode{255} : result.error().code;
}

class FileSystemTest : public BothWorlds {
 protected:
  FileSystem& files() { return env().files; }
  std::string read(std::string_view name) { return files().read(path(name)).value_or("<none>"); }
};
INSTANTIATE_BOTH_WORLDS(FileSystemTest);

TEST_P(FileSystemTest, reads_back_what_was_written) {
  std::string bytes("a\0b\n", 4);
  ASSERT_TRUE(files().write(path("f"), bytes));
  EXPECT_EQ(files().read(path("f")).value(), bytes);
  ASSERT_TRUE(files().write(path("f"), "new"));
  EXPECT_EQ(read("f"), "new");
  ASSERT_TRUE(files().write(path("f"), "n", {.atomic = false}));
  EXPECT_EQ(read("f"), "n");
  ASSERT_TRUE(files().append(path("f"), "ext"));
  ASSERT_TRUE(files().append(path("other"), "begun"));
  EXPECT_EQ(read("f"), "next");
  EXPECT_EQ(read("other"), "begun");
}

TEST_P(FileSystemTest, names_the_path_when_a_file_is_missing) {
  Result<std::string> missing = files().read(path("absent"));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
  EXPECT_EQ(missing.error().message, "open " + path("absent") + ": no such file or directory");
  EXPECT_EQ(code_of(files().write(path("no/f"), "x")), ErrorCode::not_found);
  EXPECT_EQ(code_of(files().append(path("no/f"), "x")), ErrorCode::not_found);
  EXPECT_EQ(code_of(files().sync(path("absent"))), ErrorCode::not_found);
  EXPECT_EQ(code_of(files().remove(path("absent"))), ErrorCode::not_found);
  EXPECT_EQ(code_of(files().rename(path("absent"), path("b"))), ErrorCode::not_found);
  EXPECT_EQ(files().list(path("absent")).error().code, ErrorCode::not_found);
  EXPECT_EQ(files().info(path("absent")).error().code, ErrorCode::not_found);
  EXPECT_FALSE(files().exists(path("absent")));
}

TEST_P(FileSystemTest, refuses_to_read_more_than_the_limit) {
  ASSERT_TRUE(files().write(path("f"), "12345"));
  EXPECT_EQ(files().read(path("f"), 5).value(), "12345");
  EXPECT_EQ(files().read(path("f"), 4).error().code, ErrorCode::too_large);
}

TEST_P(FileSystemTest, gives_files_the_mode_that_was_asked_for) {
  mode_t before = ::umask(0077);
  ASSERT_TRUE(files().write(path("open"), "x", {.mode = 0664}));
  ASSERT_TRUE(files().write(path("secret"), "x", {.mode = 0600}));
  ASSERT_TRUE(files().write(path("plain"), "x", {.mode = 0640, .atomic = false}));
  ASSERT_TRUE(files().make_directories(path("d/e"), 0750));
  ::umask(before);
  EXPECT_EQ(files().info(path("open"))->mode, 0664u);
  EXPECT_EQ(files().info(path("secret"))->mode, 0600u);
  EXPECT_EQ(files().info(path("plain"))->mode, 0640u);
  EXPECT_EQ(files().info(path("d"))->mode, 0750u);
  EXPECT_EQ(files().info(path("d/e"))->mode, 0750u);
  // An open file that becomes a secret is closed to others.
  ASSERT_TRUE(files().write(path("open"), "y", {.mode = 0600}));
  EXPECT_EQ(files().info(path("open"))->mode, 0600u);
}

TEST_P(FileSystemTest, creates_a_name_only_when_it_is_free) {
  ASSERT_TRUE(files().create(path("f"), 0600));
  EXPECT_EQ(read("f"), "");
  EXPECT_EQ(files().info(path("f"))->mode, 0600u);
  ASSERT_TRUE(files().append(path("f"), "kept"));
  EXPECT_EQ(code_of(files().create(path("f"))), ErrorCode::already_exists);
  EXPECT_EQ(read("f"), "kept");
  EXPECT_EQ(code_of(files().create(path("no/f"))), ErrorCode::not_found);
  ASSERT_TRUE(files().remove(path("f")));
  EXPECT_TRUE(files().create(path("f")));
}

TEST_P(FileSystemTest, leaves_no_temporary_files) {
  ASSERT_TRUE(files().write(path("f"), "x"));
  ASSERT_TRUE(files().make_directories(path("d/in_the_way")));
  EXPECT_FALSE(files().write(path("d"), "x"));
  EXPECT_EQ(files().list(path("")).value(), (Names{"d", "f"}));
}

TEST_P(FileSystemTest, lists_names_sorted_and_not_deeper) {
  ASSERT_TRUE(files().make_directories(path("b/c")));
  ASSERT_TRUE(files().make_directories(path("b/c")));
  ASSERT_TRUE(files().write(path("z"), ""));
  ASSERT_TRUE(files().write(path("a"), ""));
  ASSERT_TRUE(files().write(path("b/deep"), ""));
  EXPECT_EQ(files().list(path("")).value(), (Names{"a", "b", "z"}));
  EXPECT_EQ(files().list(path("b")).value(), (Names{"c", "deep"}));
  EXPECT_EQ(files().list(path("b/c")).value(), Names{});
  EXPECT_EQ(files().list(path("a")).error().code, ErrorCode::failed_precondition);
}

TEST_P(FileSystemTest, says_what_a_path_is) {
  ASSERT_TRUE(files().write(path("f"), "123"));
  ASSERT_TRUE(files().make_directories(path("d")));
  EXPECT_EQ(files().info(path("f"))->type, FileInfo::Type::file);
  EXPECT_EQ(files().info(path("f"))->size, 3u);
  EXPECT_EQ(files().info(path("d"))->type, FileInfo::Type::directory);
  EXPECT_LE(files().info(path("f"))->modified, env().clock.wall());
  EXPECT_GT(files().info(path("f"))->modified, env().clock.wall() - std::chrono::hours(1));
}

TEST_P(FileSystemTest, confuses_neither_files_nor_directories) {
  ASSERT_TRUE(files().write(path("f"), "x"));
  ASSERT_TRUE(files().make_directories(path("d")));
  EXPECT_EQ(code_of(files().make_directories(path("f"))), ErrorCode::failed_precondition);
  EXPECT_EQ(code_of(files().make_directories(path("f/d"))), ErrorCode::failed_precondition);
  EXPECT_EQ(code_of(files().write(path("f/g"), "x")), ErrorCode::failed_precondition);
  EXPECT_EQ(files().read(path("d")).error().code, ErrorCode::failed_precondition);
  EXPECT_EQ(code_of(files().append(path("d"), "x")), ErrorCode::failed_precondition);
  EXPECT_EQ(code_of(files().rename(path("f"), path("d"))), ErrorCode::failed_precondition);
  EXPECT_EQ(code_of(files().rename(path("d"), path("f"))), ErrorCode::failed_precondition);
}

TEST_P(FileSystemTest, removes_files_and_empty_directories_only) {
  ASSERT_TRUE(files().make_directories(path("d/e")));
  ASSERT_TRUE(files().write(path("d/f"), ""));
  EXPECT_EQ(code_of(files().remove(path("d"))), ErrorCode::failed_precondition);
  EXPECT_TRUE(files().remove(path("d/f")));
  EXPECT_TRUE(files().remove(path("d/e")));
  EXPECT_TRUE(files().remove(path("d")));
  EXPECT_FALSE(files().exists(path("d")));
}

TEST_P(FileSystemTest, removes_all_below_and_no_neighbours) {
  ASSERT_TRUE(files().make_directories(path("a/b/c")));
  ASSERT_TRUE(files().write(path("a/b/f"), ""));
  ASSERT_TRUE(files().write(path("a-neighbour"), ""));
  EXPECT_TRUE(files().remove_all(path("a")));
  EXPECT_TRUE(files().remove_all(path("a")));
  EXPECT_EQ(files().list(path("")).value(), Names{"a-neighbour"});
}

TEST_P(FileSystemTest, renames_over_what_was_there) {
  ASSERT_TRUE(files().write(path("a"), "new"));
  ASSERT_TRUE(files().write(path("b"), "old"));
  ASSERT_TRUE(files().rename(path("a"), path("b")));
  EXPECT_EQ(read("b"), "new");
  EXPECT_FALSE(files().exists(path("a")));
  ASSERT_TRUE(files().rename(path("b"), path("b")));
  EXPECT_EQ(read("b"), "new");
}

TEST_P(FileSystemTest, renames_a_directory_with_its_content) {
  ASSERT_TRUE(files().make_directories(path("a/d")));
  ASSERT_TRUE(files().write(path("a/d/f"), "x"));
  ASSERT_TRUE(files().write(path("a-b"), "neighbour"));
  ASSERT_TRUE(files().make_directories(path("to")));
  ASSERT_TRUE(files().rename(path("a"), path("to/a")));
  EXPECT_EQ(read("to/a/d/f"), "x");
  EXPECT_EQ(read("a-b"), "neighbour");
  EXPECT_FALSE(files().exists(path("a")));
  EXPECT_EQ(code_of(files().rename(path("to"), path("to/below"))), ErrorCode::invalid_argument);
  ASSERT_TRUE(files().make_directories(path("full/x")));
  EXPECT_EQ(code_of(files().rename(path("to"), path("full"))), ErrorCode::failed_precondition);
}

TEST_P(FileSystemTest, a_lock_has_one_holder_at_a_time) {
  Result<std::unique_ptr<FileLock>> first = files().lock(path("lock"));
  ASSERT_TRUE(first);
  Result<std::unique_ptr<FileLock>> second = files().lock(path("lock"));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::failed_precondition);
  EXPECT_TRUE(second.error().message.starts_with(path("lock") + " is locked by another process"));
  EXPECT_TRUE(files().lock(path("another")));
  first->reset();
  EXPECT_TRUE(files().lock(path("lock")));
}

TEST(RealFileSystem, an_atomic_write_goes_through_a_symbolic_link) {
  RealEnv world;
  FileSystem& files = world.env().files;
  std::string directory = join_path(testing::TempDir(), "codeflare-" + world.env().random.uuid());
  ASSERT_TRUE(files.make_directories(join_path(directory, "kept")));
  ASSERT_TRUE(files.write(join_path(directory, "kept/target"), "old"));
  std::filesystem::create_symlink("kept/target", join_path(directory, "link"));
  EXPECT_EQ(files.info(join_path(directory, "link"))->type, FileInfo::Type::link);
  ASSERT_TRUE(files.write(join_path(directory, "link"), "new"));
  EXPECT_EQ(files.info(join_path(directory, "link"))->type, FileInfo::Type::link);
  EXPECT_EQ(files.read(join_path(directory, "kept/target")).value(), "new");
  // Removing everything removes the link, not what it points to.
  std::filesystem::create_directory_symlink(join_path(directory, "kept"),
                                            join_path(directory, "to_directory"));
  EXPECT_TRUE(files.remove_all(join_path(directory, "to_directory")));
  EXPECT_TRUE(files.exists(join_path(directory, "kept/target")));
  EXPECT_TRUE(files.remove_all(directory));
}

TEST_P(FileSystemTest, target_info_is_info_where_there_is_no_link) {
  ASSERT_TRUE(files().write(path("f"), "12345", {.mode = 0640}));
  const auto info = target_info(files(), path("f"));
  ASSERT_TRUE(info) << info.error().to_string();
  EXPECT_EQ(info->type, FileInfo::Type::file);
  EXPECT_EQ(info->size, 5u);
  EXPECT_EQ(target_info(files(), path("absent")).error().code, ErrorCode::not_found);
}

TEST(RealFileSystem, target_info_follows_links) {
  RealEnv world;
  FileSystem& files = world.env().files;
  const std::string directory = testing::TempDir() + "target_info_follows_links";
  ASSERT_TRUE(files.remove_all(directory));
  ASSERT_TRUE(files.make_directories(directory));
  ASSERT_TRUE(files.write(join_path(directory, "f"), "12345", {.mode = 0750}));
  std::filesystem::create_symlink("f", join_path(directory, "to_file"));
  std::filesystem::create_symlink(".", join_path(directory, "to_directory"));
  std::filesystem::create_symlink("absent", join_path(directory, "dangling"));
  std::filesystem::create_symlink("circle", join_path(directory, "circle"));
  const auto file = target_info(files, join_path(directory, "to_file"));
  ASSERT_TRUE(file) << file.error().to_string();
  EXPECT_EQ(file->type, FileInfo::Type::file);
  EXPECT_EQ(file->size, 5u);
  EXPECT_EQ(file->mode, 0750u);
  EXPECT_EQ(target_info(files, join_path(directory, "to_directory")).value().type,
            FileInfo::Type::directory);
  EXPECT_EQ(target_info(files, join_path(directory, "dangling")).error().code,
            ErrorCode::not_found);
  EXPECT_EQ(target_info(files, join_path(directory, "circle")).error().code,
            ErrorCode::failed_precondition);
  EXPECT_TRUE(files.remove_all(directory));
}

TEST(SimFileSystem, a_crash_loses_what_was_not_synced) {
  SimEnv world;
  FileSystem& files = world.env().files;
  ASSERT_TRUE(files.make_directories("/data"));
  ASSERT_TRUE(files.write("/data/atomic", "kept"));
  ASSERT_TRUE(files.write("/data/plain", "lost", {.atomic = false}));
  ASSERT_TRUE(files.append("/data/log", "one,"));
  ASSERT_TRUE(files.sync("/data/log"));
  ASSERT_TRUE(files.append("/data/log", "two"));
  ASSERT_TRUE(files.write("/data/rewritten", "old"));
  ASSERT_TRUE(files.write("/data/rewritten", "new", {.atomic = false}));
  ASSERT_TRUE(files.write("/data/removed", "x"));
  ASSERT_TRUE(files.remove("/data/removed"));
  EXPECT_EQ(files.read("/data/log").value(), "one,two");

  world.crash_files();

  EXPECT_EQ(files.read("/data/atomic").value(), "kept");
  EXPECT_FALSE(files.exists("/data/plain"));
  EXPECT_EQ(files.read("/data/log").value(), "one,");
  EXPECT_EQ(files.read("/data/rewritten").value(), "old");
  EXPECT_FALSE(files.exists("/data/removed"));
}

TEST(SimFileSystem, renaming_an_unsynced_file_leaves_an_empty_one_after_a_crash) {
  SimEnv world;
  FileSystem& files = world.env().files;
  ASSERT_TRUE(files.write("/state", "old"));
  ASSERT_TRUE(files.write("/state.new", "new", {.atomic = false}));
  ASSERT_TRUE(files.rename("/state.new", "/state"));
  EXPECT_EQ(files.read("/state").value(), "new");
  world.crash_files();
  EXPECT_EQ(files.read("/state").value(), "");
}

TEST(Paths, join_with_one_slash) {
  EXPECT_EQ(join_path("/a", "b"), "/a/b");
  EXPECT_EQ(join_path("/a/", "b"), "/a/b");
  EXPECT_EQ(join_path("/a", "/b"), "/b");
  EXPECT_EQ(join_path("", "b"), "b");
  EXPECT_EQ(join_path("/a", ""), "/a");
}

TEST(Paths, have_parents) {
  EXPECT_EQ(parent_path("/a/b"), "/a");
  EXPECT_EQ(parent_path("/a//b//"), "/a");
  EXPECT_EQ(parent_path("/a"), "/");
  EXPECT_EQ(parent_path("/"), "/");
  EXPECT_EQ(parent_path("a"), ".");
  EXPECT_EQ(parent_path("a/b"), "a");
}

}  // namespace
}  // namespace codeflare
