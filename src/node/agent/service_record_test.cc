#include "node/agent/service_record.h"

#include "json/parse.h"
#include "model/codec/endpoint_slice.h"
#include "model/codec/service.h"

#include <gtest/gtest.h>

#include <string_view>

namespace codeflare::node {
namespace {

template <typename T>
T read(std::string_view json) {
  const auto document = json::parse(json);
  return *model::from_json<T>(document->root);
}

model::Service service(const std::string& spec) {
  return read<model::Service>(
      R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"s","namespace":"n"},"spec":)" +
      spec + "}");
}

model::EndpointSlice slice(const std::string& rest) {
  return read<model::EndpointSlice>(
      R"({"apiVersion":"discovery.k8s.io/v1","kind":"EndpointSlice","metadata":{"name":"x"},)" +
      rest + "}");
}

TEST(ServiceRecord, brings_the_ports_of_slices_into_the_order_of_the_service) {
  const ServiceRecord record = service_record(
      service(R"({"clusterIP":"10.96.0.5","sessionAffinity":"ClientIP","ports":[)"
              R"({"name":"a","port":80},{"name":"b","port":81,"protocol":"UDP"}]})"),
      {slice(R"("addressType":"IPv4","ports":[{"name":"b","port":9001,"protocol":"UDP"},)"
             R"({"name":"a","port":9000,"protocol":"TCP"}],)"
             R"("endpoints":[{"addresses":["10.244.0.2"],"hostname":"h"},)"
             R"({"addresses":["10.244.0.3"],"conditions":{"ready":false}}])"),
       slice(R"("addressType":"IPv6","endpoints":[{"addresses":["fd00::1"]}])")});
  EXPECT_EQ(record.address, "10.96.0.5");
  EXPECT_TRUE(record.sticky);
  EXPECT_FALSE(record.headless);
  ASSERT_EQ(record.ports.size(), 2u);
  EXPECT_EQ(record.ports[0].protocol, "TCP");
  ASSERT_EQ(record.endpoints.size(), 2u);
  EXPECT_EQ(record.endpoints[0],
            (EndpointRecord{
                .address = "10.244.0.2", .hostname = "h", .ready = true, .ports = {9000, 9001}}));
  EXPECT_FALSE(record.endpoints[1].ready);
}

TEST(ServiceRecord, joins_an_address_that_is_in_several_slices) {
  const ServiceRecord record = service_record(
      service(R"({"clusterIP":"None","ports":[{"name":"a","port":80},{"name":"b","port":81}]})"),
      {slice(R"("addressType":"IPv4","ports":[{"name":"a","port":1}],)"
             R"("endpoints":[{"addresses":["10.244.0.2"]}])"),
       slice(R"("addressType":"IPv4","ports":[{"name":"b","port":2}],)"
             R"("endpoints":[{"addresses":["10.244.0.2"]}])")});
  EXPECT_TRUE(record.headless);
  EXPECT_TRUE(record.address.empty());
  ASSERT_EQ(record.endpoints.size(), 1u);
  EXPECT_EQ(record.endpoints[0].ports, (std::vector<std::int32_t>{1, 2}));
}

TEST(ServiceRecord, an_external_name_has_nothing_but_the_name) {
  const ServiceRecord record =
      service_record(service(R"({"type":"ExternalName","externalName":"example.org"})"), {});
  EXPECT_EQ(record.external_name, "example.org");
  EXPECT_TRUE(record.address.empty());
  EXPECT_FALSE(record.headless);
}

}  // namespace
}  // namespace codeflare::node
