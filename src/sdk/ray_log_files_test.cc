#include "sdk/ray_log_files.h"

#include <gtest/gtest.h>

#include <map>

namespace codeflare::sdk {
namespace {

struct World {
  std::map<std::string, std::string> files;
  LogFileReader reader{[this](const std::string& path, std::string_view content) -> Result<void> {
    files.emplace(path, content);
    return {};
  }};
};

TEST(RayLogFiles, are_read_however_the_output_is_cut) {
  const std::string good = "4 ./a.log\n1\n2\n0 ./old/empty name\n3 b\nabc";
  for (std::size_t cut = 1; cut < good.size(); ++cut) {
    World w;
    for (std::size_t at = 0; at < good.size(); at += cut) {
      ASSERT_TRUE(w.reader.take(std::string_view(good).substr(at, cut)));
    }
    ASSERT_TRUE(w.reader.finish());
    EXPECT_EQ(w.files, (std::map<std::string, std::string>{
                           {"a.log", "1\n2\n"}, {"old/empty name", ""}, {"b", "abc"}}));
  }
}

TEST(RayLogFiles, reject_an_output_that_is_no_list) {
  for (const char* text : {"x a\n", "a\n", "-1 a\n", "99999999999 a\n", "5\n"}) {
    World w;
    EXPECT_FALSE(w.reader.take(text)) << text;
  }
}

TEST(RayLogFiles, never_leave_their_directory) {
  for (const char* path : {"/etc/passwd", "../x", "a/../../x", "./../x", ""}) {
    World w;
    EXPECT_FALSE(w.reader.take("1 " + std::string(path) + "\nx")) << path;
    EXPECT_TRUE(w.files.empty());
  }
}

TEST(RayLogFiles, report_an_early_end) {
  World w;
  ASSERT_TRUE(w.reader.take("5 a\nabc"));
  const Result<void> end = w.reader.finish();
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().message, "the log files ended early in a");
}

}  // namespace
}  // namespace codeflare::sdk
