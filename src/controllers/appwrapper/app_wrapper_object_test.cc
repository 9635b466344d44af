#include "controllers/appwrapper/app_wrapper_object.h"

#include <gtest/gtest.h>

namespace codeflare::controllers {
namespace {

constexpr std::string_view kWrapper =
    R"({"apiVersion":"workload.codeflare.dev/v1beta1","kind":"AppWrapper","metadata":{"name":"a","namespace":"n","uid":"u","resourceVersion":"7","labels":{"x":"y"}},)"
    R"("spec":{"resources":{"GenericItems":[]}},)"
    R"("status":{"state":"Pending","canrun":true,"plan":{"places":[]},"later":{"than":"us"}}})";

TEST(StatusBody, has_the_status_and_whose_it_is) {
  const Result<kube::ObjectRef> object = kube::Object::from_json(kWrapper);
  ASSERT_TRUE(object.has_value());
  const Result<model::AppWrapper> before = to_app_wrapper(**object);
  ASSERT_TRUE(before.has_value());
  model::AppWrapperStatus after = before->status;
  after.state = "Completed";
  after.plan.reset();
  EXPECT_EQ(
      status_body(**object, before->status, after).value_or("none"),
      R"({"apiVersion":"workload.codeflare.dev/v1beta1","kind":"AppWrapper","metadata":{"name":"a","namespace":"n","uid":"u","resourceVersion":"7"},)"
      R"("status":{"state":"Completed","canrun":true,"later":{"than":"us"}}})");
}

}  // namespace
}  // namespace codeflare::controllers
