#pragma once

#include "json/value.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

// Who may submit which AppWrapper. Pure: the webhook on a real cluster and the embedded API server
// ask the same functions and differ only in how they look up a user's rights.
namespace codeflare::admission {

// The user whose request it is, as the API server knows them.
struct Requester {
  std::string username;
  std::string uid{};
  std::vector<std::string> groups{};
  std::map<std::string, std::vector<std::string>> extra{};
};

// May the requester create this object? `field` is where the AppWrapper asks for it.
struct Question {
  std::string group;
  std::string version;
  std::string kind;
  std::string ns;
  std::string name;
  std::string field;
};

struct Verdict {
  std::vector<std::string> problems;  // "field: what"; none: the object is in order
  std::vector<Question> questions;    // all have to be answered with yes
};

// Before everything else: records the submitter at creation (whatever was written there), keeps the
// record on later writes, and adds the finalizer so that nothing is created without it. `old` is
// null at creation.
void record_submitter(json::Arena& arena, json::Value& object, const json::Value* old,
                      const Requester& requester);

// When nobody changes the object any more.
Verdict review(const json::Value& object, const json::Value* old, const Requester& requester);

// "user "ada" may not create jobs.batch in namespace "a" (spec.resources.GenericItems[0])".
std::string refusal(const Question& question, std::string_view resource,
                    const Requester& requester);

// All problems in one line.
std::string joined(const std::vector<std::string>& problems);

// Objects of such kinds live in no namespace, so no AppWrapper may hold them.
std::string outside(const Question& question, std::string_view resource);

}  // namespace codeflare::admission
