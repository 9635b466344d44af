#include "cli/views/kinds.h"

#include "model/status.h"

#include <gtest/gtest.h>

namespace codeflare::cli {
namespace {

TEST(Kinds, an_appwrapper_has_many_names) {
  for (const char* name :
       {"aw", "appwrapper", "appwrappers", "AppWrapper", "AppWrappers",
        "appwrappers.workload.codeflare.dev", "appwrapper.v1beta1.workload.codeflare.dev"}) {
    const Result<KnownKind> kind = parse_kind(name);
    ASSERT_TRUE(kind.has_value()) << name;
    EXPECT_EQ(kind->type.qualified_name(), "appwrappers.workload.codeflare.dev") << name;
  }
  EXPECT_EQ(parse_kind("appwrappers.mcad.ibm.com")->type.qualified_name(),
            "appwrappers.mcad.ibm.com");
}

TEST(Kinds, a_group_that_was_named_is_the_only_one) {
  EXPECT_TRUE(parse_kind("aw")->any_group);
  EXPECT_TRUE(parse_kind("AppWrappers")->any_group);
  for (const char* name : {"aw.workload.codeflare.dev", "appwrapper.v1beta1.workload.codeflare.dev",
                           "AppWrapper.mcad.ibm.com", "aw.v1beta1.mcad.ibm.com"}) {
    EXPECT_FALSE(parse_kind(name)->any_group) << name;
  }
  EXPECT_EQ(parse_kind("aw.workload.codeflare.dev")->word(), "appwrapper");
  EXPECT_EQ(parse_kind("aw.mcad.ibm.com")->word(), "appwrapper.mcad.ibm.com");
}

TEST(Kinds, other_words_are_refused_with_those_that_there_are) {
  EXPECT_EQ(parse_kind("pods").error().message,
            "unknown kind \"pods\"; expected appwrapper (aw), raycluster, job, run or trainingjob "
            "(tj); use kubectl for other kinds");
  EXPECT_FALSE(parse_kind("aw.example.com").has_value());
  EXPECT_FALSE(parse_kind("").has_value());
}

TEST(Kinds, a_misspelt_kind_is_asked_about) {
  EXPECT_EQ(parse_kind("appwraper").error().message,
            "unknown kind \"appwraper\"; did you mean appwrapper?");
}

TEST(Kinds, a_single_word_is_the_name_of_an_app_wrapper) {
  const Result<KindNames> alone = read_names("train", {});
  ASSERT_TRUE(alone.has_value());
  EXPECT_TRUE(alone->kind.guessed && alone->kind.any_group);
  EXPECT_EQ(alone->names, std::vector<std::string>{"train"});
  const Result<KindNames> both = read_names("aw", {"a", "b"});
  ASSERT_TRUE(both.has_value());
  EXPECT_FALSE(both->kind.guessed);
  EXPECT_EQ(both->names.size(), 2U);
  EXPECT_EQ(read_names("aw", {}).error().message, "NAME is missing: the name of the appwrapper");
  EXPECT_FALSE(read_names("pods", {"a"}).has_value());
}

TEST(Kinds, a_kind_that_the_server_does_not_have_is_named) {
  const Error missing =
      name_missing_kind(model::to_error({.status = "Failure",
                                         .message = "the server could not find the resource",
                                         .reason = "NotFound",
                                         .details = model::StatusDetails{},
                                         .code = 404}),
                        app_wrapper_kind(), "the server https://one:6443 (context \"a\" of f)");
  EXPECT_EQ(
      missing.message,
      "the server https://one:6443 (context \"a\" of f) has no appwrappers.workload.codeflare.dev; "
      "check the address, and install the kind with 'codeflare controller --install-crds'");
  const Error absent =
      name_missing_kind(model::to_error({.status = "Failure",
                                         .message = "appwrappers \"x\" not found",
                                         .reason = "NotFound",
                                         .details = model::StatusDetails{.name = "x"},
                                         .code = 404}),
                        app_wrapper_kind(), "the server https://one:6443 (context \"a\" of f)");
  EXPECT_EQ(absent.message, "appwrappers \"x\" not found");
}

}  // namespace
}  // namespace codeflare::cli
