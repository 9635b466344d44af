#include "node/agent/disk_usage.h"
#include "node/testing/scratch.h"

#include <gtest/gtest.h>

#include <string>

namespace codeflare::node {
namespace {

class DiskScans : public ::testing::Test {
 protected:
  void write(const std::string& name, std::size_t bytes) {
    const std::string path = scratch.path(name);
    ASSERT_TRUE(scratch.env.files.make_directories(parent_path(path), 0700));
    ASSERT_TRUE(scratch.env.files.write(path, std::string(bytes, 'x')));
  }
  testing::Scratch scratch;
};

TEST_F(DiskScans, find_the_same_piece_by_piece_as_at_once) {
  for (int i = 0; i < 20; ++i) {
    write("volumes/a/deep/down/" + std::to_string(i), 10'000);
    write("volumes/b/" + std::to_string(i), 10'000);
  }
  write("logs/c", 50'000);
  const std::vector<std::string> all = {scratch.path("volumes"), scratch.path("none"),
                                        scratch.path("logs")};
  DiskScan at_once(all);
  ASSERT_TRUE(at_once.go_on(1'000'000));
  EXPECT_GE(at_once.found(0).at("a"), 200'000);
  EXPECT_GE(at_once.found(0).at("b"), 200'000);
  EXPECT_TRUE(at_once.found(1).empty());
  EXPECT_GE(at_once.found(2).at("c"), 50'000);
  DiskScan in_pieces(all);
  int pieces = 1;
  while (!in_pieces.go_on(3)) {
    ++pieces;
  }
  EXPECT_GT(pieces, 13);  // forty files, by three
  for (const std::size_t i : {0u, 1u, 2u}) {
    EXPECT_EQ(in_pieces.found(i), at_once.found(i)) << i;
  }
}

TEST_F(DiskScans, go_on_when_something_goes_meanwhile) {
  write("volumes/a/deep/1", 10'000);
  write("volumes/a/deep/2", 10'000);
  write("volumes/b/1", 10'000);
  DiskScan scan({scratch.path("volumes")});
  while (!scan.go_on(1) && !scan.found(0).contains("a")) {
  }
  ASSERT_TRUE(scratch.env.files.remove_all(scratch.path("volumes/a")));
  ASSERT_TRUE(scan.go_on(1'000'000));
  EXPECT_GE(scan.found(0).at("b"), 10'000);
}

}  // namespace
}  // namespace codeflare::node
