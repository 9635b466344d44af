#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::model {

// Syntax rules of names. Each function returns what is wrong, in the words that users know from
// kube-apiserver (tools and tests compare them), or nothing when the value is good.
using Complaints = std::vector<std::string>;

inline constexpr std::size_t kDnsLabelLengthMax = 63;
inline constexpr std::size_t kDnsSubdomainLengthMax = 253;
inline constexpr std::size_t kQualifiedNameLengthMax = 63;
inline constexpr std::size_t kLabelValueLengthMax = 63;

// Namespaces, containers: "my-name".
Complaints check_dns1123_label(std::string_view value);
// Most object names: "my.name".
Complaints check_dns1123_subdomain(std::string_view value);
// Services: as a DNS-1123 label, beginning with a letter.
Complaints check_dns1035_label(std::string_view value);
// Label and annotation keys, resource names: "name" or "example.com/name".
Complaints check_qualified_name(std::string_view value);
Complaints check_label_value(std::string_view value);
// Keys of ConfigMap and Secret data.
Complaints check_config_map_key(std::string_view value);
// Named ports of containers and services.
Complaints check_port_name(std::string_view value);

// "a; b", the way several complaints become one message.
std::string join(const Complaints& complaints, std::string_view separator = "; ");

}  // namespace codeflare::model
