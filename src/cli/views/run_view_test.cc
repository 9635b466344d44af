#include "cli/views/run_view.h"

#include <gtest/gtest.h>

namespace codeflare::cli {
namespace {

std::string row_of(model::DataSetSpec spec) {
  model::DataSet data_set;
  data_set.metadata.name = "d";
  data_set.spec = std::move(spec);
  const std::string table = render_data_sets({data_set}, false, WallTime());
  return table.substr(table.find('\n') + 1);
}

TEST(RunView, data_sets_name_their_source) {
  EXPECT_TRUE(row_of({.inline_files = {{"a", "b"}}}).contains("inline, 1 file "));
  EXPECT_TRUE(row_of({.pvc = model::DataSetPvc{.claim_name = "c"}}).contains("pvc c"));
  model::DataSetS3 s3{.endpoint = "https://store", .bucket = "box"};
  EXPECT_TRUE(row_of({.s3 = s3}).contains("s3 https://store box "));
  s3.prefix = "in";
  EXPECT_TRUE(row_of({.s3 = s3}).contains("s3 https://store box/in "));
}

}  // namespace
}  // namespace codeflare::cli
