#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

// Requests that try to cost more than their size: many equal things, many different ones, deep and
// wide ones, in every place of an object where a client can put many, with every verb and kind of
// patch.
namespace codeflare::bench {

struct HostileCall {
  std::string method;
  std::string target;
  std::string body{};
  std::string type = "application/json";
  std::string accept{};
  // An object whose uid replaces each kUidPlace of the body.
  std::string uid_of{};
};

// As long as a uid.
constexpr std::string_view kUidPlace = "uid-uid-uid-uid-uid-uid-uid-uid-uid-";

struct HostileCase {
  std::string name;
  std::vector<HostileCall> before{};  // not measured
  HostileCall call;
  std::vector<HostileCall> after{};  // not measured
};

// The setup of the cases, once.
std::vector<HostileCall> hostile_setup();

// All cases with bodies of about so many bytes. The names do not depend on the size.
struct HostileCases {
  std::size_t count() const;
  std::string name(std::size_t index) const;
  HostileCase make(std::size_t index, std::size_t bytes) const;
};

}  // namespace codeflare::bench
