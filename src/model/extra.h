#pragma once

#include "model/list.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::model {

// A JSON value that nobody here looks into, kept as its text; empty text means "absent".
struct RawJson {
  std::string text;

  bool empty() const { return text.empty(); }
  friend bool operator==(const RawJson&, const RawJson&) = default;
};

// Members of a JSON object that its struct has no field for, in their order. Every struct that
// stands for a JSON object has one, so that what a newer server or another client wrote survives
// being read and written here. It also keeps members that were there but say nothing ("labels":
// {}, "creationTimestamp": null); such a member gives way as soon as its field is set.
struct Extra {
  struct Member {
    std::string key;
    RawJson value;
    friend bool operator==(const Member&, const Member&) = default;
  };
  List<Member> members;

  bool empty() const { return members.empty(); }
  // The member's JSON text, empty when there is none.
  std::string_view find(std::string_view key) const {
    auto at = std::ranges::find(members, key, &Member::key);
    return at == members.end() ? std::string_view() : std::string_view(at->value.text);
  }
  friend bool operator==(const Extra&, const Extra&) = default;
};

}  // namespace codeflare::model
