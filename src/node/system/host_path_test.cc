#include "node/system/host_path.h"

#include "base/env/sim_env.h"

#include <gtest/gtest.h>

namespace codeflare::node {
namespace {

TEST(HostPath, is_allowed_below_what_was_named_and_nowhere_else) {
  const std::vector<std::string> allowed = {"/srv/data", "/opt/"};
  for (const char* path : {"/srv/data", "/srv/data/x", "/opt/a/b"}) {
    EXPECT_TRUE(host_path_allowed(path, allowed)) << path;
  }
  for (const char* path : {"/srv", "/srv/database", "/", "/srv/data/../../etc", "srv/data", "",
                           "/srv/data/./x/..", "/srv/data//x"}) {
    EXPECT_FALSE(host_path_allowed(path, allowed)) << path;
  }
  EXPECT_FALSE(host_path_allowed("/srv/data", {}));
  EXPECT_TRUE(host_path_allowed("/etc", {"/"}));
  EXPECT_TRUE(host_path_allowed("/etc", allowed).error().message.contains("--allow-host-path"));
}

TEST(HostPath, has_to_be_what_its_type_says) {
  SimEnv sim;
  Env env = sim.env();
  ASSERT_TRUE(env.files.make_directories("/srv/dir"));
  ASSERT_TRUE(env.files.write("/srv/file", "x"));
  struct Case {
    const char* path;
    const char* type;
    const char* error;
  };
  for (const Case& one : {Case{"/srv/dir", "", ""},
                          {"/srv/dir", "Directory", ""},
                          {"/srv/dir", "DirectoryOrCreate", ""},
                          {"/srv/file", "File", ""},
                          {"/srv/file", "FileOrCreate", ""},
                          {"/srv/file", "Directory", "/srv/file is not a directory"},
                          {"/srv/file", "DirectoryOrCreate", "/srv/file is not a directory"},
                          {"/srv/none", "Directory", "/srv/none is not a directory"},
                          {"/srv/none", "File", "/srv/none is not a file"},
                          {"/srv/dir", "FileOrCreate", "/srv/dir is not a file"},
                          {"/srv/dir", "Socket", "/srv/dir is not a socket file"}}) {
    const Result<void> prepared = prepare_host_path(env.files, one.path, one.type);
    const std::string told = prepared ? "" : prepared.error().message;
    EXPECT_EQ(told,
              *one.error == '\0' ? "" : std::string("hostPath type check failed: ") + one.error)
        << one.path << " " << one.type;
  }
}

TEST(HostPath, is_made_where_its_type_allows_that) {
  SimEnv sim;
  Env env = sim.env();
  ASSERT_TRUE(env.files.make_directories("/srv"));
  for (const char* type : {"", "DirectoryOrCreate"}) {
    const std::string path = std::string("/srv/new") + type;
    EXPECT_TRUE(prepare_host_path(env.files, path, type));
    EXPECT_EQ(env.files.info(path)->type, FileInfo::Type::directory);
  }
  EXPECT_TRUE(prepare_host_path(env.files, "/srv/f", "FileOrCreate"));
  EXPECT_EQ(env.files.info("/srv/f")->type, FileInfo::Type::file);
}

}  // namespace
}  // namespace codeflare::node
