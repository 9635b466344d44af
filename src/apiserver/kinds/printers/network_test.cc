#include "apiserver/kinds/testing/printed.h"

#include <gtest/gtest.h>

#include <string>

namespace codeflare::apiserver {
namespace {

using testing::printed;

std::string object(std::string_view fields) {
  return R"({"metadata":{"name":"x","creationTimestamp":"2026-11-16T11:59:00Z"},)" +
         std::string(fields) + "}";
}

std::string service(std::string_view spec, std::string_view status = "") {
  return printed(
      "", "services",
      object(R"("spec":{)" + std::string(spec) + R"(},"status":{)" + std::string(status) + "}"));
}

TEST(ServicePrinter, each_type_has_its_own_outside_address) {
  EXPECT_EQ(service(R"("type":"ClusterIP","clusterIP":"10.0.0.1","clusterIPs":["10.0.0.1","fd::1"],
      "ports":[{"port":80,"protocol":"TCP"},{"port":53,"protocol":"UDP"}],"selector":{"a":"1"})"),
            R"(["x","ClusterIP","10.0.0.1","<none>","80/TCP,53/UDP","60s","a=1"])");
  EXPECT_EQ(service(R"("clusterIP":"None")"),
            R"(["x","ClusterIP","None","<none>","<none>","60s","<none>"])");
  EXPECT_EQ(service(R"("type":"NodePort","clusterIP":"10.0.0.2","externalIPs":["1.1.1.1","1.1.1.2"],
      "ports":[{"port":80,"nodePort":30080}])"),
            R"(["x","NodePort","10.0.0.2","1.1.1.1,1.1.1.2","80:30080/TCP","60s","<none>"])");
  EXPECT_EQ(service(R"("type":"ExternalName","externalName":"example.com")"),
            R"(["x","ExternalName","<none>","example.com","<none>","60s","<none>"])");
}

TEST(ServicePrinter, a_load_balancer_is_pending_until_it_has_an_address) {
  constexpr std::string_view kIngress =
      R"("loadBalancer":{"ingress":[{"ip":"9.9.9.9"},{"hostname":"lb.example.com"},
         {"ip":"1.2.3.4"},{"ip":"9.9.9.9"}]})";
  EXPECT_EQ(service(R"("type":"LoadBalancer","clusterIP":"10.0.0.3")"),
            R"(["x","LoadBalancer","10.0.0.3","<pending>","<none>","60s","<none>"])");
  EXPECT_EQ(
      service(R"("type":"LoadBalancer","clusterIP":"10.0.0.3")", kIngress),
      R"(["x","LoadBalancer","10.0.0.3","1.2.3.4,9.9.9.9,lb.example.com","<none>","60s","<none>"])");
  EXPECT_EQ(service(R"("type":"LoadBalancer","clusterIP":"10.0.0.3","externalIPs":["5.5.5.5"])",
                    R"("loadBalancer":{"ingress":[{"ip":"9.9.9.9"}]})"),
            R"(["x","LoadBalancer","10.0.0.3","9.9.9.9,5.5.5.5","<none>","60s","<none>"])");
}

TEST(EndpointsPrinter, shows_the_first_three) {
  EXPECT_EQ(printed("", "endpoints", object(R"("subsets":[])")), R"(["x","<none>","60s"])");
  EXPECT_EQ(printed("", "endpoints", object(R"("subsets":[{"addresses":[{"ip":"10.0.0.1"},
      {"ip":"fd00::1"}],"ports":[{"port":80}]}])")),
            R"(["x","10.0.0.1:80,[fd00::1]:80","60s"])");
  EXPECT_EQ(printed("", "endpoints", object(R"("subsets":[{"addresses":[{"ip":"a"},{"ip":"b"}],
      "ports":[{"port":1},{"port":2}]},{"addresses":[{"ip":"c"}]}])")),
            R"(["x","a:1,b:1,a:2 + 2 more...","60s"])");
}

TEST(EndpointSlicePrinter, shows_the_first_three) {
  EXPECT_EQ(printed("discovery.k8s.io", "endpointslices", object(R"("addressType":"IPv4")")),
            R"(["x","IPv4","<unset>","<unset>","60s"])");
  EXPECT_EQ(printed("discovery.k8s.io", "endpointslices", object(R"("addressType":"IPv4",
      "ports":[{"port":80},{"name":"web"}],"endpoints":[{"addresses":["a","b"]},
      {"addresses":["c"]},{"addresses":["d"]}])")),
            R"(["x","IPv4","80,web","a,b,c + 1 more...","60s"])");
}

TEST(IngressPrinter, shows_class_hosts_and_addresses) {
  EXPECT_EQ(printed("networking.k8s.io", "ingresses", object(R"("spec":{"rules":[{}]})")),
            R"(["x","<none>","*","","80","60s"])");
  EXPECT_EQ(printed("networking.k8s.io", "ingresses", object(R"("spec":{"ingressClassName":"nginx",
      "tls":[{}],"rules":[{"host":"a"},{},{"host":"b"},{"host":"c"},{"host":"d"}]},
      "status":{"loadBalancer":{"ingress":[{"ip":"9.9.9.9"}]}})")),
            R"(["x","nginx","a,b,c + 2 more...","9.9.9.9","80, 443","60s"])");
  EXPECT_EQ(printed("networking.k8s.io", "ingressclasses", object(R"("spec":{"controller":"e.com/c",
      "parameters":{"apiGroup":"e.com","kind":"Conf","name":"c"}})")),
            R"(["x","e.com/c","Conf.e.com/c","60s"])");
  EXPECT_EQ(printed("networking.k8s.io", "ingressclasses", object(R"("spec":{"controller":"c"})")),
            R"(["x","c","<none>","60s"])");
}

TEST(NetworkPrinter, small_kinds) {
  EXPECT_EQ(printed("networking.k8s.io", "networkpolicies",
                    object(R"("spec":{"podSelector":{"matchLabels":{"a":"1"}}})")),
            R"(["x","a=1","60s"])");
  EXPECT_EQ(printed("networking.k8s.io", "networkpolicies", object(R"("spec":{"podSelector":{}})")),
            R"(["x","<none>","60s"])");
  EXPECT_EQ(printed("networking.k8s.io", "servicecidrs",
                    object(R"("spec":{"cidrs":["10.96.0.0/16","fd00::/108"]})")),
            R"(["x","10.96.0.0/16,fd00::/108","60s"])");
  EXPECT_EQ(printed("networking.k8s.io", "ipaddresses",
                    object(R"("spec":{"parentRef":{"resource":"services","namespace":"default",
      "name":"kubernetes"}})")),
            R"(["x","services/default/kubernetes"])");
  EXPECT_EQ(printed("networking.k8s.io", "ipaddresses",
                    object(R"("spec":{"parentRef":{"group":"E.com","resource":"Things",
      "name":"t"}})")),
            R"(["x","things.e.com/t"])");
}

TEST(EventPrinter, the_core_form) {
  EXPECT_EQ(printed("", "events", object(R"("type":"Warning","reason":"BackOff",
      "message":" restarting \n","involvedObject":{"kind":"Pod","name":"web-0",
      "fieldPath":"spec.containers{a}"},"source":{"component":"kubelet","host":"n1"},
      "firstTimestamp":"2026-11-16T11:00:00Z","lastTimestamp":"2026-11-16T11:59:30Z","count":7)")),
            R"(["30s","Warning","BackOff","pod/web-0","spec.containers{a}","kubelet, n1",)"
            R"("restarting","60m",7,"x"])");
}

TEST(EventPrinter, events_without_the_old_times_are_dated_by_the_new) {
  EXPECT_EQ(printed("", "events", object(R"("type":"Normal","reason":"Scheduled",
      "message":"m","involvedObject":{"kind":"Node"},"source":{},"firstTimestamp":null,
      "lastTimestamp":null,"eventTime":"2026-11-16T11:58:00.123456Z",
      "reportingComponent":"sched","reportingInstance":"sched-1")")),
            R"(["119s","Normal","Scheduled","node","","sched, sched-1","m","119s",1,"x"])");
  EXPECT_EQ(printed("", "events", object(R"("type":"Normal","reason":"R","message":"m",
      "involvedObject":{"kind":"Pod","name":"p"},"eventTime":"2026-11-16T11:00:00.000000Z",
      "series":{"count":4,"lastObservedTime":"2026-11-16T11:59:55.000000Z"},
      "reportingComponent":"c")")),
            R"(["5s","Normal","R","pod/p","","c","m","60m",4,"x"])");
  EXPECT_EQ(printed("", "events", object(R"("reason":"R")")),
            R"(["<unknown>","","R","","","","","<unknown>",1,"x"])");
}

TEST(EventPrinter, the_form_of_events_k8s_io) {
  EXPECT_EQ(printed("events.k8s.io", "events", object(R"("type":"Warning","reason":"BackOff",
      "note":"restarting","regarding":{"kind":"Pod","name":"web-0"},"deprecatedSource":
      {"component":"kubelet"},"deprecatedFirstTimestamp":"2026-11-16T11:00:00Z",
      "deprecatedLastTimestamp":"2026-11-16T11:59:30Z","deprecatedCount":7)")),
            R"(["30s","Warning","BackOff","pod/web-0","","kubelet","restarting","60m",7,"x"])");
  EXPECT_EQ(printed("events.k8s.io", "events", object(R"("type":"Normal","reason":"R","note":"m",
      "regarding":{"kind":"Pod","name":"p"},"eventTime":"2026-11-16T11:58:00.000000Z",
      "reportingController":"c","reportingInstance":"c-1")")),
            R"(["2m","Normal","R","pod/p","","c, c-1","m","2m",1,"x"])");
}

}  // namespace
}  // namespace codeflare::apiserver
