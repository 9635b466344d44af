#include "apiserver/request/request_info.h"

#include <gtest/gtest.h>

namespace codeflare::apiserver {
namespace {

RequestInfo parse(std::string_view method, std::string_view target) {
  Result<RequestInfo> info = RequestInfo::parse(method, target);
  EXPECT_TRUE(info.has_value()) << target;
  return info ? *std::move(info) : RequestInfo{};
}

TEST(RequestInfo, short_paths_are_no_resources) {
  for (std::string_view path : {"/", "/api", "/api/v1", "/apis/batch", "/apis/batch/v1", "/healthz",
                                "/metrics", "/openapi/v3/api/v1", "/version/"}) {
    EXPECT_FALSE(parse("GET", path).is_resource) << path;
  }
  EXPECT_EQ(parse("GET", "/healthz").verb, "get");
  EXPECT_EQ(parse("POST", "/healthz").verb, "post");
}

TEST(RequestInfo, reads_namespaced_objects_and_subresources) {
  RequestInfo info = parse("PUT", "/apis/apps/v1/namespaces/a/deployments/b/scale");
  EXPECT_EQ(info.group, "apps");
  EXPECT_EQ(info.version, "v1");
  EXPECT_EQ(info.ns, "a");
  EXPECT_EQ(info.resource, "deployments");
  EXPECT_EQ(info.name, "b");
  EXPECT_EQ(info.subresource, "scale");
  EXPECT_EQ(info.verb, "update");
}

TEST(RequestInfo, a_namespace_belongs_to_itself) {
  RequestInfo info = parse("GET", "/api/v1/namespaces/a");
  EXPECT_EQ(info.resource, "namespaces");
  EXPECT_EQ(info.name, "a");
  EXPECT_EQ(info.ns, "a");
  info = parse("PUT", "/api/v1/namespaces/a/finalize");
  EXPECT_EQ(info.resource, "namespaces");
  EXPECT_EQ(info.subresource, "finalize");
  info = parse("GET", "/api/v1/namespaces/a/status");
  EXPECT_EQ(info.subresource, "status");
  info = parse("GET", "/api/v1/namespaces/a/pods");
  EXPECT_EQ(info.resource, "pods");
  EXPECT_EQ(info.verb, "list");
}

TEST(RequestInfo, collections_are_listed_watched_and_deleted_as_a_whole) {
  EXPECT_EQ(parse("GET", "/api/v1/pods").verb, "list");
  EXPECT_EQ(parse("GET", "/api/v1/pods?watch=1").verb, "watch");
  EXPECT_EQ(parse("GET", "/api/v1/pods?watch=false").verb, "list");
  EXPECT_EQ(parse("GET", "/api/v1/pods?watch").verb, "watch");
  EXPECT_EQ(parse("DELETE", "/api/v1/namespaces/a/pods").verb, "deletecollection");
  EXPECT_EQ(parse("DELETE", "/api/v1/namespaces/a/pods/b").verb, "delete");
  EXPECT_EQ(parse("GET", "/api/v1/namespaces/a/pods/b?watch=true").verb, "get");
}

TEST(RequestInfo, the_old_watch_prefix_still_works) {
  RequestInfo info = parse("GET", "/api/v1/watch/namespaces/a/pods");
  EXPECT_EQ(info.verb, "watch");
  EXPECT_EQ(info.ns, "a");
  EXPECT_EQ(info.resource, "pods");
}

TEST(RequestInfo, a_name_in_the_field_selector_is_the_requests_name) {
  RequestInfo info = parse("GET", "/api/v1/namespaces/a/pods?fieldSelector=metadata.name%3Dx");
  EXPECT_EQ(info.verb, "list");
  EXPECT_EQ(info.name, "x");
  EXPECT_EQ(parse("GET", "/api/v1/pods?fieldSelector=metadata.name!%3Dx").name, "");
}

TEST(RequestInfo, what_stands_behind_a_subresource_is_kept) {
  RequestInfo info = parse("GET", "/api/v1/namespaces/a/pods/b/proxy/x/y%2Fz");
  EXPECT_EQ(info.subresource, "proxy");
  EXPECT_EQ(info.rest, (std::vector<std::string>{"x", "y/z"}));
}

TEST(RequestInfo, bad_escapes_are_errors) {
  EXPECT_FALSE(RequestInfo::parse("GET", "/api/v1/pods/%zz").has_value());
  EXPECT_FALSE(RequestInfo::parse("GET", "/api/v1/pods?a=%z").has_value());
}

TEST(Query, flags_are_read_as_the_api_machinery_reads_them) {
  Query query = *Query::parse("a=true&b=false&c=0&d=&e=FALSE&f=x");
  EXPECT_TRUE(query.flag("a"));
  EXPECT_FALSE(query.flag("b"));
  EXPECT_FALSE(query.flag("c"));
  EXPECT_TRUE(query.flag("d"));
  EXPECT_FALSE(query.flag("e"));
  EXPECT_TRUE(query.flag("f"));
  EXPECT_FALSE(query.flag("g"));
}

}  // namespace
}  // namespace codeflare::apiserver
