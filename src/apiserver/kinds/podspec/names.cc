#include "apiserver/kinds/podspec/checks.h"

namespace codeflare::apiserver::podspec {

namespace {

// Limits of the resolvers in Linux' C libraries.
constexpr std::size_t kServersMax = 3;
constexpr std::size_t kSearchesMax = 32;
constexpr std::size_t kSearchTextMax = 2048;

void check_searches(const Field& searches) {
  std::size_t length = 0;
  searches.each([&](const Field& search) { length += search.text().size() + 1; });
  if (searches.value().size() > kSearchesMax) {
    searches.invalid("", "must not have more than 32 search paths");
  }
  // A space between each two.
  if (length > kSearchTextMax + 1) {
    searches.invalid("",
                     "must not have more than 2048 characters (including spaces) in the search "
                     "list");
  }
  searches.each([](const Field& search) {
    std::string_view domain = search.text();
    if (domain == ".") {
      return;
    }
    if (domain.ends_with('.')) {
      domain.remove_suffix(1);
    }
    search.add(check_search_domain(domain), "", domain);
  });
}

}  // namespace

void check_dns(const Field& spec) {
  const Field config = spec["dnsConfig"];
  const Field servers = config["nameservers"];
  if (spec.text("dnsPolicy") == "None") {
    if (!config.given()) {
      config.required("", "must provide `dnsConfig` when `dnsPolicy` is None");
      return;
    }
    if (servers.value().size() == 0) {
      servers.required("", "must provide at least one DNS nameserver when `dnsPolicy` is None");
      return;
    }
  }
  if (servers.value().size() > kServersMax) {
    servers.invalid("", "must not have more than 3 nameservers");
  }
  servers.each([](const Field& server) { check_address(server, "", server.text()); });
  check_searches(config["searches"]);
  const Field options = config["options"];
  options.each([](const Field& option) {
    if (option.text("name").empty()) {
      option.required("", "must not be empty");
    }
  });
}

void check_host_aliases(const Field& aliases) {
  aliases.each([](const Field& alias) {
    check_address(alias, "ip", alias.text("ip"));
    const Field names = alias["hostnames"];
    names.each([](const Field& name) {
      name.add(model::check_dns1123_subdomain(name.text()), "", name.text());
    });
  });
}

}  // namespace codeflare::apiserver::podspec
