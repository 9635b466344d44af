#include "node/holder/dns_message.h"

#include <gtest/gtest.h>

#include <string>

namespace codeflare::node {
namespace {

DnsRecord address_of(std::string name, std::string_view address) {
  return {.name = std::move(name), .type = DnsType::a, .address = *Ipv4::parse(address)};
}

// As a resolver adds it to say how much it takes.
std::string with_opt(std::string query, std::uint16_t size) {
  query[11] = 1;
  query += std::string("\0\0\x29", 3);
  query += static_cast<char>(size >> 8);
  query += static_cast<char>(size & 0xff);
  return query + std::string(6, '\0');
}

TEST(DnsMessage, reads_a_question_in_lower_case_and_repeats_it_as_it_was) {
  const auto query = parse_dns_query(write_dns_query(77, "Head.Ns.SVC.cluster.local", DnsType::a));
  ASSERT_TRUE(query);
  EXPECT_EQ(query->id, 77);
  EXPECT_EQ(query->name, "head.ns.svc.cluster.local");
  EXPECT_EQ(query->type, 1);
  EXPECT_FALSE(query->extended);
  DnsReply reply;
  reply.answers.push_back(address_of(query->name, "10.244.0.2"));
  const std::string bytes = write_dns_reply(*query, reply, query->bytes_max);
  EXPECT_TRUE(bytes.contains("\x04Head\x02Ns\x03SVC"));
  const auto read = read_dns_reply(bytes);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->id, 77);
  EXPECT_EQ(read->code, DnsCode::ok);
  ASSERT_EQ(read->addresses.size(), 1u);
  EXPECT_EQ(read->addresses[0].to_string(), "10.244.0.2");
}

TEST(DnsMessage, says_when_not_everything_fits_into_what_the_asker_takes) {
  DnsReply reply;
  for (int i = 0; i < 100; ++i) {
    reply.answers.push_back(address_of("a.b", "10.0.0." + std::to_string(i)));
  }
  const auto plain = parse_dns_query(write_dns_query(1, "a.b", DnsType::a));
  const std::string small = write_dns_reply(*plain, reply, plain->bytes_max);
  EXPECT_LE(small.size(), kDnsPlainBytes);
  EXPECT_TRUE(read_dns_reply(small)->truncated);
  EXPECT_EQ(read_dns_reply(small)->addresses.size(), read_dns_reply(small)->answers);
  const auto extended = parse_dns_query(with_opt(write_dns_query(1, "a.b", DnsType::a), 1u << 14));
  ASSERT_TRUE(extended);
  EXPECT_EQ(extended->bytes_max, 4096u);
  const std::string large = write_dns_reply(*extended, reply, extended->bytes_max);
  EXPECT_FALSE(read_dns_reply(large)->truncated);
  EXPECT_EQ(read_dns_reply(large)->addresses.size(), 100u);
}

TEST(DnsMessage, names_with_odd_bytes_look_like_no_host_name) {
  std::string query = write_dns_query(1, "aXb.local", DnsType::a);
  query[query.find('X')] = '.';
  const auto read = parse_dns_query(query);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->name, "a?b.local");
}

TEST(DnsMessage, refuses_what_is_no_single_question) {
  const std::string good = write_dns_query(9, "a.b", DnsType::a);
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_FALSE(parse_dns_query(good.substr(0, size))) << size;
  }
  std::string two = good;
  two[5] = 2;
  EXPECT_FALSE(parse_dns_query(two));
  std::string pointer = good;
  pointer[12] = '\xc0';
  EXPECT_FALSE(parse_dns_query(pointer));
  std::string notify = good;
  notify[2] = 0x20;
  EXPECT_EQ(parse_dns_query(notify).error().code, ErrorCode::unsupported);
  EXPECT_EQ(read_dns_reply(write_dns_refusal(notify, DnsCode::not_implemented))->code,
            DnsCode::not_implemented);
  std::string answer = good;
  answer[2] = '\x80';
  EXPECT_FALSE(parse_dns_query(answer));
  EXPECT_TRUE(write_dns_refusal(answer, DnsCode::bad_format).empty());
  EXPECT_TRUE(write_dns_refusal("short", DnsCode::bad_format).empty());
}

TEST(DnsMessage, a_name_that_cannot_be_written_is_left_out) {
  const auto query = parse_dns_query(write_dns_query(1, "a.b", DnsType::srv));
  DnsReply reply;
  reply.additional.push_back(address_of(std::string(64, 'x') + ".b", "10.0.0.1"));
  reply.additional.push_back(address_of("c.b", "10.0.0.1"));
  EXPECT_EQ(write_dns_reply(*query, reply, 512)[11], 1);
}

}  // namespace
}  // namespace codeflare::node
