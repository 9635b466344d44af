#include "apiserver/registry/human_duration.h"
#include "apiserver/rest/internal/encode.h"
#include "apiserver/rest/internal/list_options.h"
#include "apiserver/rest/internal/negotiate.h"

#include <gtest/gtest.h>

namespace codeflare::apiserver::internal {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

TEST(HumanDuration, is_rounded_as_kubectl_rounds_it) {
  EXPECT_EQ(human_duration(seconds(0)), "0s");
  EXPECT_EQ(human_duration(seconds(119)), "119s");
  EXPECT_EQ(human_duration(seconds(121)), "2m1s");
  EXPECT_EQ(human_duration(minutes(3)), "3m");
  EXPECT_EQ(human_duration(minutes(179)), "179m");
  EXPECT_EQ(human_duration(minutes(185)), "3h5m");
  EXPECT_EQ(human_duration(hours(10)), "10h");
  EXPECT_EQ(human_duration(hours(49)), "2d1h");
  EXPECT_EQ(human_duration(hours(24 * 9)), "9d");
  EXPECT_EQ(human_duration(hours(24 * 365 * 3)), "3y");
  EXPECT_EQ(human_duration(seconds(-5)), "<invalid>");
}

TEST(Accept, clauses_come_by_quality_then_in_order) {
  std::vector<AcceptClause> clauses =
      parse_accept("text/html;q=0.5, application/json;as=Table;v=v1 , */*;q=0.1,Application/YAML");
  ASSERT_EQ(clauses.size(), 4u);
  EXPECT_EQ(clauses[0].type, "application/json");
  EXPECT_EQ(clauses[0].params.find("as")->second, "Table");
  EXPECT_EQ(clauses[1].type, "application/yaml");
  EXPECT_EQ(clauses[2].type, "text/html");
  EXPECT_EQ(clauses[3].type, "*/*");
}

TEST(Accept, the_first_form_that_is_offered_wins) {
  Result<Form> form = negotiate(
      "application/json;as=Table;v=v9;g=meta.k8s.io,application/json;as=Table;v=v1beta1;"
      "g=meta.k8s.io,application/json",
      true);
  ASSERT_TRUE(form.has_value());
  EXPECT_EQ(form->view, View::table);
  EXPECT_EQ(form->meta_version, "v1beta1");
  // A list is no single object: the next clause counts.
  form = negotiate("application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,*/*", true);
  ASSERT_TRUE(form.has_value());
  EXPECT_EQ(form->view, View::object);
  EXPECT_FALSE(negotiate("text/html", false).has_value());
}

TEST(ContinueToken, comes_back_as_it_was) {
  const ContinueToken token{.revision = 77, .after = {"ns", "name.x"}};
  Result<ContinueToken> back = ContinueToken::decode(token.encode());
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->revision, 77u);
  EXPECT_EQ(back->after, token.after);
  const ContinueToken cluster{.revision = 0, .after = {"", "node"}};
  back = ContinueToken::decode(cluster.encode());
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->revision, 0u);
  EXPECT_EQ(back->after.second, "node");
}

TEST(WithRevision, only_the_version_of_the_object_changes) {
  const Bytes text = Bytes::from(
      R"({"metadata":{"name":"a","resourceVersion":"5"},"spec":{"resourceVersion":"5"}})");
  std::vector<Bytes> pieces;
  ASSERT_TRUE(append_with_revision(text, 12, pieces).has_value());
  EXPECT_EQ(join(pieces),
            R"({"metadata":{"name":"a","resourceVersion":"12"},"spec":{"resourceVersion":"5"}})");
}

}  // namespace
}  // namespace codeflare::apiserver::internal
