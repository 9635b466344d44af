#include "cli/views/quota_view.h"

#include "json/parse.h"
#include "json/write.h"
#include "model/codec/app_wrapper.h"
#include "model/codec/codec.h"
#include "model/codec/quota_subtree.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace codeflare::cli {
namespace {

template <typename T>
T read(const std::string& text) {
  const Result<json::Document> document = json::parse(text);
  EXPECT_TRUE(document.has_value()) << text;
  Result<T> made = model::from_json<T>(document->root);
  EXPECT_TRUE(made.has_value()) << text;
  return *std::move(made);
}

model::QuotaSubtree subtree(const std::string& text) {
  return read<model::QuotaSubtree>(text);
}

// Two teams of 4 CPUs each below a root of 8, with what they use.
std::vector<model::QuotaSubtree> teams(const std::string& a, const std::string& b,
                                       const std::string& all) {
  return {subtree(R"({"metadata":{"name":"org","namespace":"default","labels":{"tree":"team"}},)"
                  R"("spec":{"children":[{"name":"org","quotas":{"requests":{"cpu":"8"}}}]},)"
                  R"("status":{"children":[{"name":"org","allocated":{"cpu":")" +
                  all + R"("}}]}})"),
          subtree(R"({"metadata":{"name":"teams","namespace":"default","labels":{"tree":"team"}},)"
                  R"("spec":{"parent":"org","children":[)"
                  R"({"name":"a","quotas":{"requests":{"cpu":"4"}}},)"
                  R"({"name":"b","namespace":"team-b","quotas":{"hardLimit":true,)"
                  R"("requests":{"cpu":"4"}}}]},)"
                  R"("status":{"children":[{"name":"a","allocated":{"cpu":")" +
                  a + R"("}},{"name":"b","allocated":{"cpu":")" + b + R"("}}]}})")};
}

GroupedWrapper waiting(const std::string& name, const std::string& node) {
  return {read<model::AppWrapper>(
      R"({"metadata":{"name":")" + name +
      R"(","namespace":"default","uid":"u","labels":{"team":")" + node +
      R"("}},"spec":{"resources":{"GenericItems":[{"replicas":1,"generictemplate":)"
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":)"
      R"([{"name":"main","resources":{"requests":{"cpu":"3"}}}]}}}]}},)"
      R"("status":{"state":"Pending"}})")};
}

TEST(QuotaView, what_one_team_borrows_the_other_has_lent) {
  EXPECT_EQ(render_quota(quota_of(teams("6", "1", "7"), {waiting("more", "a")}), false),
            "TREE   NODE   RESOURCE   LIMIT    USED     BORROWED   LENT     WAITING\n"
            "team   org    cpu        8 CPUs   7 CPUs   -          -        3 CPUs\n"
            "team     a    cpu        4 CPUs   6 CPUs   2 CPUs     -        3 CPUs\n"
            "team     b    cpu        4 CPUs   1 CPU    -          2 CPUs   -\n");
}

TEST(QuotaView, amounts_have_units) {
  const QuotaView view = quota_of(
      {subtree(R"({"metadata":{"name":"org","namespace":"d","labels":{"tree":"t"}},"spec":)"
               R"({"children":[{"name":"org","quotas":{"requests":{"memory":"8118372Ki",)"
               R"("ephemeral-storage":"4G","nvidia.com/gpu":"8","pods":"10"}}}]},)"
               R"("status":{"children":[{"name":"org","allocated":{"nvidia.com/gpu":"1"}}]}})")},
      {});
  const std::string text = render_quota(view, false);
  for (const char* amount : {"7.7GiB", "4GB", "8 GPUs   1 GPU", "10 "}) {
    EXPECT_TRUE(text.contains(amount)) << amount << "\n" << text;
  }
}

TEST(QuotaView, a_team_within_its_limit_borrows_nothing) {
  const QuotaView view = quota_of(teams("4", "0", "4"), {});
  ASSERT_EQ(view.nodes.size(), 3u);
  for (const QuotaNodeView& node : view.nodes) {
    ASSERT_EQ(node.lines.size(), 1u);
    EXPECT_TRUE(node.lines[0].borrowed.is_zero()) << node.name;
    EXPECT_TRUE(node.lines[0].lent.is_zero()) << node.name;
  }
}

TEST(QuotaView, room_that_no_node_claims_is_borrowed_before_that_of_a_neighbour) {
  auto trees = teams("5", "0", "5");
  trees[0] = subtree(R"({"metadata":{"name":"org","namespace":"default","labels":{"tree":"team"}},)"
                     R"("spec":{"children":[{"name":"org","quotas":{"requests":{"cpu":"9"}}}]}})");
  const QuotaView view = quota_of(trees, {});
  EXPECT_EQ(view.nodes[1].lines[0].borrowed, model::Quantity(1));
  EXPECT_TRUE(view.nodes[2].lines[0].lent.is_zero());
  EXPECT_FALSE(view.nodes[0].reported) << "the queue has not written its use";
}

TEST(QuotaView, work_without_a_quota_node_is_named_below_the_table) {
  const QuotaView view = quota_of(teams("0", "0", "0"), {waiting("x", "gold"), waiting("y", "b")});
  ASSERT_EQ(view.strays.size(), 2u);
  EXPECT_EQ(view.strays[0].text, "default/x: tree team has no node gold");
  EXPECT_EQ(view.strays[1].text, "default/y: node b of tree team is for namespace team-b only");
  EXPECT_TRUE(render_quota(view, false).ends_with(view.strays[1].text + "\n"));
}

TEST(QuotaView, wide_adds_counts_hard_limits_and_namespaces) {
  const std::string text =
      render_quota(quota_of(teams("6", "1", "7"), {waiting("more", "a")}), true);
  EXPECT_TRUE(text.contains("WAITING   WORK   HARD   NAMESPACE\n")) << text;
  EXPECT_TRUE(text.contains("  -         -      yes    team-b\n")) << text;
}

TEST(QuotaView, json_has_exact_amounts) {
  json::Document document;
  const json::Value value = quota_value(quota_of(teams("6", "1", "7"), {}), document.arena);
  const std::string text = json::to_text(value);
  EXPECT_TRUE(text.contains(
      R"({"resource":"cpu","limit":"4","used":"6","borrowed":"2","lent":"0","waiting":"0"})"))
      << text;
}

TEST(QuotaView, a_node_that_is_its_own_ancestor_is_shown_once) {
  const QuotaView view = quota_of(
      {subtree(R"({"metadata":{"name":"x","namespace":"d","labels":{"tree":"t"}},"spec":)"
               R"({"parent":"a","children":[{"name":"a","quotas":{"requests":{"cpu":"1"}}}]}})")},
      {});
  EXPECT_EQ(view.nodes.size(), 1u);
}

}  // namespace
}  // namespace codeflare::cli
