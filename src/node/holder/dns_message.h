#pragma once

#include "base/result.h"
#include "node/holder/ipv4.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// DNS on the wire (RFC 1035, and of EDNS the size alone), as much as a server of one zone needs.
// Pure.
namespace codeflare::node {

enum class DnsType : std::uint16_t {
  a = 1,
  cname = 5,
  ptr = 12,
  aaaa = 28,
  srv = 33,
  opt = 41,
  any = 255,
};

enum class DnsCode : std::uint8_t {
  ok = 0,
  bad_format = 1,
  no_such_name = 3,
  not_implemented = 4,
  refused = 5,
};

inline constexpr std::size_t kDnsPlainBytes = 512;
inline constexpr std::size_t kDnsBytesMax = 65535;

struct DnsQuery {
  std::uint16_t id = 0;
  bool recursion_desired = false;
  std::string name{};                      // lower case, without the last dot; empty: the root
  std::uint16_t type = 0;                  // any number, also those that DnsType does not have
  std::string question{};                  // as it came: answers repeat it letter for letter
  bool extended = false;                   // came with EDNS
  std::size_t bytes_max = kDnsPlainBytes;  // what the asker takes in one datagram
};

struct DnsRecord {
  std::string name{};  // whose record it is
  DnsType type = DnsType::a;
  Ipv4 address{};        // of a
  std::string target{};  // of cname, ptr and srv
  std::uint16_t port = 0;
  std::uint16_t weight = 0;  // of srv
  friend bool operator==(const DnsRecord&, const DnsRecord&) = default;
};

struct DnsReply {
  DnsCode code = DnsCode::ok;
  std::vector<DnsRecord> answers{};
  std::vector<DnsRecord> additional{};
};

// One question of class IN. `unsupported` for what is well-formed and no query.
Result<DnsQuery> parse_dns_query(std::string_view bytes);

// At most `bytes_max`; what does not fit is left out and the reply says so.
std::string write_dns_reply(const DnsQuery& query, const DnsReply& reply, std::size_t bytes_max);

// The answer to what could not be read; empty when it is not even worth one.
std::string write_dns_refusal(std::string_view query_bytes, DnsCode code);

// Of an answer: its code and how many records it says to have. For tests and those who ask.
struct DnsSummary {
  std::uint16_t id = 0;
  DnsCode code = DnsCode::ok;
  bool truncated = false;
  std::size_t answers = 0;
  std::vector<Ipv4> addresses{};
};
Result<DnsSummary> read_dns_reply(std::string_view bytes);

// A query for a name, for tests and those who ask.
std::string write_dns_query(std::uint16_t id, std::string_view name, DnsType type);

}  // namespace codeflare::node
