#include "controllers/job/index_set.h"

#include <gtest/gtest.h>

namespace codeflare::controllers::job {
namespace {

TEST(IndexSet, is_written_as_job_status_shows_it) {
  IndexSet set;
  for (std::int64_t index : {5, 0, 2, 1, 7, 8, 2}) {
    set.add(index);
  }
  EXPECT_EQ(set.to_string(), "0-2,5,7,8");
  EXPECT_EQ(set.count(), 6);
  set.add(6);
  EXPECT_EQ(set.to_string(), "0-2,5-8");
}

TEST(IndexSet, reads_what_it_writes_and_drops_what_is_out_of_range) {
  for (const char* text : {"", "0", "0,1", "0-2,5,7,8", "3-9"}) {
    EXPECT_EQ(IndexSet::parse(text, 100).to_string(), text);
  }
  EXPECT_EQ(IndexSet::parse("0-2,5,7-20", 10).to_string(), "0-2,5,7-9");
  EXPECT_EQ(IndexSet::parse("0,x,2-,9", 5).to_string(), "0");
  EXPECT_EQ(IndexSet::parse("0-2,1-4", 9).to_string(), "0-2");
}

TEST(IndexSet, knows_what_is_missing) {
  const IndexSet set = IndexSet::parse("0-2,5", 8);
  EXPECT_TRUE(set.has(1));
  EXPECT_FALSE(set.has(3));
  EXPECT_EQ(set.first_missing(2, 8), (std::vector<std::int64_t>{3, 4}));
  EXPECT_EQ(set.first_missing(9, 8), (std::vector<std::int64_t>{3, 4, 6, 7}));
  EXPECT_EQ(set.first_missing(9, 2), (std::vector<std::int64_t>{}));
}

}  // namespace
}  // namespace codeflare::controllers::job
