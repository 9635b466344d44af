#include "node/holder/dns_message.h"

#include <algorithm>
#include <optional>

namespace codeflare::node {

namespace {

constexpr std::size_t kHeaderBytes = 12;
constexpr std::size_t kLabelMax = 63;
constexpr std::size_t kNameMax = 255;
constexpr std::uint16_t kInternet = 1;
constexpr std::uint16_t kResponse = 0x8000;
constexpr std::uint16_t kAuthoritative = 0x0400;
constexpr std::uint16_t kTruncated = 0x0200;
constexpr std::uint16_t kRecursionDesired = 0x0100;
constexpr std::uint16_t kRecursionAvailable = 0x0080;
constexpr std::uint16_t kOperationMask = 0x7800;
constexpr std::uint16_t kQuestionName = 0xc00c;  // a pointer to the name behind the header
constexpr std::size_t kOurDatagramMax = 4096;
// Short: endpoints come and go.
constexpr std::uint32_t kTtlSeconds = 5;

Error bad(const char* what) {
  return invalid_argument(std::string("DNS message: ") + what);
}

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  std::size_t at() const { return at_; }
  Result<std::uint8_t> u8() {
    if (at_ >= bytes_.size()) {
      return fail(bad("it ends early"));
    }
    return static_cast<std::uint8_t>(bytes_[at_++]);
  }
  Result<std::uint16_t> u16() {
    TRY_ASSIGN(const std::uint16_t high, u8());
    TRY_ASSIGN(const std::uint16_t low, u8());
    return static_cast<std::uint16_t>(high << 8 | low);
  }
  Result<void> skip(std::size_t count) {
    if (bytes_.size() - at_ < count) {
      return fail(bad("it ends early"));
    }
    at_ += count;
    return {};
  }
  Result<std::string_view> take(std::size_t count) {
    const std::size_t from = at_;
    TRY(skip(count));
    return bytes_.substr(from, count);
  }
  // Past a name, which may end in a pointer.
  Result<void> skip_name() {
    for (;;) {
      TRY_ASSIGN(const std::uint8_t length, u8());
      if (length == 0) {
        return {};
      }
      if ((length & 0xc0) == 0xc0) {
        return skip(1);
      }
      if (length > kLabelMax) {
        return fail(bad("a label is too long"));
      }
      TRY(skip(length));
    }
  }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
};

bool is_name_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

// Questions have no pointers. A name with other letters than those of host names is none of ours,
// and must not look like one.
Result<std::string> read_name(Reader& reader) {
  std::string name;
  std::size_t size = 1;
  for (;;) {
    TRY_ASSIGN(const std::uint8_t length, reader.u8());
    if (length == 0) {
      return name;
    }
    size += 1u + length;
    if (length > kLabelMax || size > kNameMax) {
      return fail(bad("a name is too long"));
    }
    TRY_ASSIGN(const std::string_view label, reader.take(length));
    if (!name.empty()) {
      name += '.';
    }
    for (char c : label) {
      const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
      name += is_name_byte(lower) ? lower : '?';
    }
  }
}

// Looks for EDNS behind the question.
Result<void> read_additional(Reader& reader, std::uint16_t count, DnsQuery& query) {
  for (std::uint16_t i = 0; i < count; ++i) {
    TRY(reader.skip_name());
    TRY_ASSIGN(const std::uint16_t type, reader.u16());
    TRY_ASSIGN(const std::uint16_t size_or_class, reader.u16());
    TRY(reader.skip(4));
    TRY_ASSIGN(const std::uint16_t length, reader.u16());
    TRY(reader.skip(length));
    if (type == static_cast<std::uint16_t>(DnsType::opt)) {
      query.extended = true;
      query.bytes_max = std::clamp<std::size_t>(size_or_class, kDnsPlainBytes, kOurDatagramMax);
    }
  }
  return {};
}

void put16(std::string& out, std::uint32_t value) {
  out.push_back(static_cast<char>((value >> 8) & 0xff));
  out.push_back(static_cast<char>(value & 0xff));
}

void put32(std::string& out, std::uint32_t value) {
  put16(out, value >> 16);
  put16(out, value & 0xffff);
}

// False when the name cannot be written.
bool put_name(std::string& out, std::string_view name) {
  if (name.size() + 2 > kNameMax) {
    return false;
  }
  while (!name.empty()) {
    const std::size_t dot = std::min(name.find('.'), name.size());
    if (dot == 0 || dot > kLabelMax) {
      return false;
    }
    out.push_back(static_cast<char>(dot));
    out.append(name.substr(0, dot));
    name.remove_prefix(std::min(dot + 1, name.size()));
  }
  out.push_back('\0');
  return true;
}

// Nothing when one of its names is impossible.
std::optional<std::string> record_bytes(const DnsQuery& query, const DnsRecord& record) {
  std::string out;
  if (record.name == query.name && !query.name.empty()) {
    put16(out, kQuestionName);
  } else if (!put_name(out, record.name)) {
    return std::nullopt;
  }
  put16(out, static_cast<std::uint16_t>(record.type));
  put16(out, kInternet);
  put32(out, kTtlSeconds);
  std::string data;
  if (record.type == DnsType::a) {
    put32(data, record.address.value);
  } else {
    if (record.type == DnsType::srv) {
      put16(data, 0);
      put16(data, record.weight);
      put16(data, record.port);
    }
    if (!put_name(data, record.target)) {
      return std::nullopt;
    }
  }
  put16(out, static_cast<std::uint32_t>(data.size()));
  return out + data;
}

struct Counts {
  std::uint16_t answers = 0;
  std::uint16_t additional = 0;
};

std::string header(std::uint16_t id, std::uint32_t flags, std::uint16_t questions, Counts counts) {
  std::string out;
  put16(out, id);
  put16(out, flags);
  put16(out, questions);
  put16(out, counts.answers);
  put16(out, 0);
  put16(out, counts.additional);
  return out;
}

// An OPT record that says how much we take; all else is zero.
std::string our_opt() {
  std::string out(1, '\0');
  put16(out, static_cast<std::uint16_t>(DnsType::opt));
  put16(out, kOurDatagramMax);
  put32(out, 0);
  put16(out, 0);
  return out;
}

}  // namespace

Result<DnsQuery> parse_dns_query(std::string_view bytes) {
  Reader reader(bytes);
  DnsQuery query;
  TRY_ASSIGN(query.id, reader.u16());
  TRY_ASSIGN(const std::uint16_t flags, reader.u16());
  TRY_ASSIGN(const std::uint16_t questions, reader.u16());
  TRY_ASSIGN(const std::uint16_t answers, reader.u16());
  TRY_ASSIGN(const std::uint16_t authorities, reader.u16());
  TRY_ASSIGN(const std::uint16_t additional, reader.u16());
  if ((flags & kResponse) != 0) {
    return fail(bad("it is an answer"));
  }
  if ((flags & kOperationMask) != 0) {
    return fail(unsupported("DNS message: not a query"));
  }
  if (questions != 1 || answers != 0 || authorities != 0) {
    return fail(bad("it has not exactly one question"));
  }
  query.recursion_desired = (flags & kRecursionDesired) != 0;
  TRY_ASSIGN(query.name, read_name(reader));
  TRY_ASSIGN(query.type, reader.u16());
  TRY_ASSIGN(const std::uint16_t network, reader.u16());
  if (network != kInternet && network != static_cast<std::uint16_t>(DnsType::any)) {
    return fail(unsupported("DNS message: it asks about another kind of network"));
  }
  query.question = bytes.substr(kHeaderBytes, reader.at() - kHeaderBytes);
  TRY(read_additional(reader, additional, query));
  return query;
}

std::string write_dns_reply(const DnsQuery& query, const DnsReply& reply, std::size_t bytes_max) {
  Counts counts;
  std::string body;
  bool truncated = false;
  const std::string opt = query.extended ? our_opt() : std::string();
  const std::size_t around = kHeaderBytes + query.question.size() + opt.size();
  const auto add = [&](const DnsRecord& record) {
    const std::optional<std::string> bytes = record_bytes(query, record);
    if (bytes && around + body.size() + bytes->size() > bytes_max) {
      return false;
    }
    body += bytes.value_or("");
    return bytes.has_value();
  };
  for (const DnsRecord& record : reply.answers) {
    if (add(record)) {
      ++counts.answers;
    } else {
      truncated = true;
      break;
    }
  }
  for (const DnsRecord& record : reply.additional) {
    // A help, not part of the answer.
    if (!truncated && add(record)) {
      ++counts.additional;
    }
  }
  if (query.extended) {
    ++counts.additional;
  }
  const std::uint32_t flags = std::uint32_t{kResponse} | kAuthoritative | kRecursionAvailable |
                              (query.recursion_desired ? std::uint32_t{kRecursionDesired} : 0u) |
                              (truncated ? std::uint32_t{kTruncated} : 0u) |
                              static_cast<std::uint32_t>(reply.code);
  return header(query.id, flags, 1, counts) + query.question + body + opt;
}

std::string write_dns_refusal(std::string_view query_bytes, DnsCode code) {
  Reader reader(query_bytes);
  const Result<std::uint16_t> id = reader.u16();
  const Result<std::uint16_t> flags = reader.u16();
  // Two servers that answered each other's answers would never stop.
  if (query_bytes.size() < kHeaderBytes || !id || !flags || (*flags & kResponse) != 0) {
    return {};
  }
  const std::uint32_t same = *flags & (kOperationMask | kRecursionDesired);
  return header(*id, kResponse | same | static_cast<std::uint32_t>(code), 0, {});
}

Result<DnsSummary> read_dns_reply(std::string_view bytes) {
  Reader reader(bytes);
  DnsSummary summary;
  TRY_ASSIGN(summary.id, reader.u16());
  TRY_ASSIGN(const std::uint16_t flags, reader.u16());
  summary.code = static_cast<DnsCode>(flags & 0x0f);
  summary.truncated = (flags & kTruncated) != 0;
  TRY_ASSIGN(const std::uint16_t questions, reader.u16());
  TRY_ASSIGN(const std::uint16_t answers, reader.u16());
  summary.answers = answers;
  TRY(reader.skip(4));
  for (std::uint16_t i = 0; i < questions; ++i) {
    TRY(reader.skip_name());
    TRY(reader.skip(4));
  }
  for (std::uint16_t i = 0; i < answers; ++i) {
    TRY(reader.skip_name());
    TRY_ASSIGN(const std::uint16_t type, reader.u16());
    TRY(reader.skip(6));
    TRY_ASSIGN(const std::uint16_t length, reader.u16());
    if (type == static_cast<std::uint16_t>(DnsType::a) && length == 4) {
      TRY_ASSIGN(const std::uint32_t high, reader.u16());
      TRY_ASSIGN(const std::uint32_t low, reader.u16());
      summary.addresses.push_back({high << 16 | low});
    } else {
      TRY(reader.skip(length));
    }
  }
  return summary;
}

std::string write_dns_query(std::uint16_t id, std::string_view name, DnsType type) {
  std::string out = header(id, kRecursionDesired, 1, {});
  if (!put_name(out, name)) {
    return {};
  }
  put16(out, static_cast<std::uint16_t>(type));
  put16(out, kInternet);
  return out;
}

}  // namespace codeflare::node
