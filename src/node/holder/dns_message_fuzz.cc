#include "base/check.h"
#include "node/holder/cluster_names.h"
#include "node/holder/dns_message.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace {

using namespace codeflare::node;

ServiceTable services() {
  ServiceTable table;
  table.set(
      {.ns = "n",
       .name = "s",
       .address = {},
       .headless = true,
       .ports = {{.name = "p", .protocol = "TCP", .port = 80}},
       .endpoints = {{.address = "10.244.0.2", .hostname = "h", .ready = true, .ports = {80}}}});
  return table;
}

}  // namespace

// Every query gets an answer that can be read and is not too long, or none.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const ServiceTable table = services();
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  static_cast<void>(read_dns_reply(bytes));
  const auto query = parse_dns_query(bytes);
  if (!query) {
    const std::string refusal = write_dns_refusal(bytes, DnsCode::bad_format);
    CHECK(refusal.empty() || read_dns_reply(refusal).has_value());
    return 0;
  }
  const DnsReply reply = resolve(table, [](Ipv4) { return "n"; }, *query, 1);
  for (std::size_t max : {query->bytes_max, kDnsBytesMax}) {
    const std::string written = write_dns_reply(*query, reply, max);
    CHECK(written.size() <= max);
    const auto read = read_dns_reply(written);
    CHECK(read.has_value() && read->id == query->id);
  }
  return 0;
}
