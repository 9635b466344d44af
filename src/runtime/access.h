#pragma once

#include <string_view>

namespace codeflare::runtime {

// Some rights on the API server, as RBAC names them, and what they are for. Verbs and resources are
// words with blanks between them. Each controller folder declares its own in an access.h.
struct Right {
  std::string_view verbs;      // "get list watch"
  std::string_view group;      // empty: core; "*": any
  std::string_view resources;  // "pods pods/status"; "*": any
  std::string_view why;        // for people: a few words
  std::string_view name = {};  // only the object of this name; empty: all
};

// Rights of everything that records Events. Repeated ones are counted in the Event that is there.
inline constexpr Right kEventRights[] = {
    {"create patch", "", "events", "events on the objects that controllers manage"},
};

}  // namespace codeflare::runtime
