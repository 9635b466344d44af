#include "elastic/etcd_endpoint.h"

#include <gtest/gtest.h>

namespace codeflare::elastic {
namespace {

std::string problem_of(std::string_view conf) {
  const Result<void> checked = check_endpoint({.host = "etcd", .conf = parse_rdzv_conf(conf)});
  return checked ? "" : checked.error().message;
}

TEST(EtcdEndpoint, a_conf_names_the_protocol_and_files_and_torchruns_words_are_ignored) {
  const EtcdEndpoint endpoint{
      .host = "etcd",
      .conf = parse_rdzv_conf("protocol=https,cacert=/ca,cert=/c,key=/k,is_host=1")};
  EXPECT_TRUE(endpoint.uses_tls());
  EXPECT_EQ(endpoint.conf.at("cacert"), "/ca");
  EXPECT_TRUE(check_endpoint(endpoint));
  EXPECT_FALSE(EtcdEndpoint{}.uses_tls());
}

TEST(EtcdEndpoint, words_that_contradict_each_other_are_rejected) {
  EXPECT_EQ(problem_of(""), "");
  EXPECT_EQ(problem_of("protocol=https"), "") << "the authorities of the system";
  EXPECT_EQ(problem_of("protocol=ftp"), "protocol is 'ftp'; use http or https");
  EXPECT_EQ(problem_of("protocol=https,cert=/c"), "cert and key belong together; set both or none");
  EXPECT_EQ(problem_of("cacert=/ca"), "cacert, cert and key need protocol=https");
}

}  // namespace
}  // namespace codeflare::elastic
