#include "cli/views/top_view.h"

#include <gtest/gtest.h>

namespace codeflare::cli {
namespace {

model::ResourceList amounts(std::string_view cpu, std::string_view memory) {
  return {{"cpu", *model::Quantity::parse(cpu)}, {"memory", *model::Quantity::parse(memory)}};
}

TEST(TopView, shows_use_against_requests_of_nodes_and_work) {
  TopView view;
  view.nodes.push_back({.name = "n",
                        .measured = true,
                        .used = amounts("1503m", "1Gi"),
                        .requested = amounts("2", "3Gi"),
                        .allocatable = amounts("4", "8Gi")});
  view.nodes.push_back({.name = "silent", .allocatable = amounts("4", "8Gi")});
  view.work.push_back({.ns = "a",
                       .name = "train",
                       .kind = "appwrapper",
                       .pods = 2,
                       .measured = true,
                       .used = amounts("1500m", "1Gi"),
                       .requested = amounts("2", "2Gi")});
  view.work.push_back({.ns = "a", .name = "web", .kind = "pod", .pods = 1});
  EXPECT_EQ(render_top(view),
            "NODE     CPU         REQUESTED   ALLOCATABLE   MEMORY      REQUESTED   ALLOCATABLE\n"
            "n        1.5 (38%)   2           4             1Gi (13%)   3Gi         8Gi\n"
            "silent   -           -           4             -           -           8Gi\n"
            "\n"
            "NAMESPACE   NAME      PODS   CPU         REQUESTED   MEMORY      REQUESTED\n"
            "a           train     2      1.5 (75%)   2           1Gi (50%)   2Gi\n"
            "a           pod/web   1      -           -           -           -\n");
}

TEST(TopView, without_the_right_to_see_nodes_only_work_is_shown) {
  TopView view{.nodes = {}, .work = {}, .with_nodes = false};
  EXPECT_EQ(render_top(view), "no pods run\n");
}

TEST(TopView, says_why_nothing_was_measured) {
  TopView view;
  EXPECT_EQ(no_use_note(view), "");
  view.with_use = false;
  view.nodes.push_back({.name = "codeflare-fake-0", .fake = true});
  EXPECT_EQ(no_use_note(view), "note: only requests are shown: pods of fake nodes use nothing\n");
  view.nodes.push_back({.name = "n"});
  EXPECT_TRUE(no_use_note(view).contains("metrics-server")) << no_use_note(view);
}

}  // namespace
}  // namespace codeflare::cli
