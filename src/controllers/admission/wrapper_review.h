#pragma once

#include "base/time.h"
#include "controllers/submitter/submitter.h"
#include "json/value.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

// The rules about who may submit which AppWrapper. Pure: the webhook on a real cluster and the
// embedded API server ask the same functions and differ only in how they look up a user's rights.
namespace codeflare::admission {

// The user whose request it is, as the API server knows them.
using Requester = controllers::Submitter;
using controllers::SubmitterTrust;

// May the requester create objects of this kind there? `field` is where the AppWrapper first asks
// for it. The name is left out, as servers leave it out: a right to objects of certain names does
// not allow their creation.
struct Question {
  std::string group;
  std::string version;
  std::string kind;
  std::string ns;
  std::string field;
};

struct Verdict {
  std::vector<std::string> problems;  // "field: what"; none: the object is in order
  std::vector<Question> questions;    // all have to be answered with yes
  std::vector<std::string> labels;    // that were changed; none may be the name of a quota tree
};

// Before everything else: records at creation who submits and when (whatever was written there),
// who under the seal of `trust`, keeps all of it on later writes, and adds the finalizer so that
// nothing is created without it; it stays while anything is held. `old` is null at creation.
void record_submitter(json::Arena& arena, json::Value& object, const json::Value* old,
                      const Requester& requester, WallTime now, const SubmitterTrust& trust);

// When nobody changes the object any more.
Verdict review(const json::Value& object, const json::Value* old, const Requester& requester,
               const SubmitterTrust& trust);

// A wrapped object as the AppWrapper has it.
struct WrappedObject {
  const json::Value* value;
  std::string field;                             // "spec.resources.GenericItems[0]"
  std::shared_ptr<const json::Document> made{};  // holds the value of objects_to_create()
};
std::vector<WrappedObject> wrapped_objects(const json::Value& object);
// The same as the queue will create them, without the owner: labels of an object reach its pods,
// which its selector may need. Where the AppWrapper cannot be read, they are as it has them.
std::vector<WrappedObject> objects_to_create(const json::Value& object);

// The problems that the queue and the server find. Where both complain about a field, the server's
// words count, unless ours suggest another name.
std::vector<std::string> merged(std::vector<std::string> ours, std::vector<std::string> servers);

// The server has no such kind.
std::string not_served(const Question& question);

// "user "ada" may not create jobs.batch in namespace "a" (spec.resources.GenericItems[0])".
std::string refusal(const Question& question, std::string_view resource,
                    const Requester& requester);

// All problems in one line.
std::string joined(const std::vector<std::string>& problems);

// Places stay charged where they were given.
std::string charged(std::string_view label);

// Objects of such kinds live in no namespace, so no AppWrapper may hold them.
std::string outside(const Question& question, std::string_view resource);

}  // namespace codeflare::admission
