#include "apiserver/rest/internal/encode.h"
#include "apiserver/rest/internal/list_options.h"
#include "apiserver/rest/internal/negotiate.h"

#include <gtest/gtest.h>

namespace codeflare::apiserver::internal {
namespace {

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
  // A list is not a single object: the next clause counts.
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
