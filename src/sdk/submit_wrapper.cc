#include "sdk/submit_wrapper.h"

#include "base/check.h"
#include "json/write.h"
#include "model/codec/app_wrapper.h"
#include "sdk/gang_state.h"
#include "sdk/job_marks.h"

#include <array>
#include <cstdio>
#include <string>
#include <utility>

namespace codeflare::sdk {

namespace {

using model::AppWrapper;
using model::ObjectKey;

// A random mark of one attempt: tells after a lost answer whose object is there.
constexpr std::string_view kAttemptAnnotation = "codeflare.dev/attempt";

// FNV-1a: tells submissions apart, guards nothing.
std::string digest_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  std::array<char, 17> hex{};
  std::snprintf(hex.data(), hex.size(), "%016llx", static_cast<unsigned long long>(hash));
  return hex.data();
}

std::string text_at(const AppWrapper& wrapper, std::string_view annotation) {
  return std::string(model::find_or_empty(wrapper.metadata.annotations, annotation));
}

Error taken(const AppWrapper& there) {
  const std::string name = "'" + there.metadata.name + "'";
  const std::string where = " already exists in namespace '" + there.metadata.ns + "'";
  if (!backend_of(there)) {
    return already_exists("AppWrapper " + name + where + " and is not a job; choose another name");
  }
  if (!text_at(there, kSubmittingAnnotation).empty()) {
    return already_exists("job " + name + where +
                          ", from an interrupted submission that differs from this one; delete "
                          "the job first: codeflare delete job " +
                          there.metadata.name);
  }
  return already_exists("job " + name + where +
                        "; choose another name or delete the job first: codeflare delete job " +
                        there.metadata.name);
}

struct Marks {
  std::string attempt;
  std::string digest;  // of a submission with code
};

Task<Result<AppWrapper>> get_wrapper(kube::Client& client, ObjectKey key) {
  CO_TRY_ASSIGN(const kube::ObjectRef object,
                co_await client.get(model::resource_type<AppWrapper>(), std::move(key)));
  co_return object->as<AppWrapper>();
}

// The server answers 404 for a namespace and for a kind that it does not have.
Task<Error> explain_missing(kube::Client& client, Error error) {
  const Result<kube::Client::RawResponse> served =
      co_await client.raw({.target = "/apis/workload.codeflare.dev/v1beta1"});
  if (!served && served.error().code == ErrorCode::not_found) {
    co_return failed_precondition(
        "the server has no AppWrappers (appwrappers.workload.codeflare.dev); ask the administrator "
        "to install codeflare, or use 'codeflare up'");
  }
  co_return error;
}

struct Begun {
  AppWrapper wrapper;
  bool resumed = false;
};

// Creates the AppWrapper, or finds the one that an earlier client began.
Task<Result<Begun>> begin(kube::Client& client, ObjectKey key, std::string body, Marks marks) {
  const Result<kube::ObjectRef> made =
      co_await client.create(model::resource_type<AppWrapper>(), key.ns, std::move(body));
  if (made) {
    CO_TRY_ASSIGN(AppWrapper wrapper, (*made)->as<AppWrapper>());
    co_return Begun{std::move(wrapper), false};
  }
  const ErrorCode code = made.error().code;
  if (code == ErrorCode::not_found) {
    co_return fail(co_await explain_missing(client, made.error()));
  }
  const bool lost = code == ErrorCode::unavailable || code == ErrorCode::deadline_exceeded;
  if (code != ErrorCode::already_exists && !lost) {
    co_return fail(made.error());
  }
  Result<AppWrapper> there = co_await get_wrapper(client, key);
  if (!there) {
    co_return fail(lost ? made.error() : there.error());
  }
  if (text_at(*there, kAttemptAnnotation) == marks.attempt) {
    co_return Begun{*std::move(there), false};
  }
  if (!marks.digest.empty() && text_at(*there, kSubmittingAnnotation) == marks.digest) {
    co_return Begun{*std::move(there), true};
  }
  co_return fail(taken(*there));
}

}  // namespace

json::Document wrap_with_code(Wrapping wrapping, const json::Value& objects,
                              const std::optional<CodeArchive>& code) {
  if (code && !code->empty()) {
    const std::string all = json::to_text(wrap(wrapping, objects).root);
    wrapping.suspended = true;
    wrapping.annotations.insert_or_assign(std::string(kSubmittingAnnotation),
                                          digest_of(all + code->digest));
  }
  return wrap(wrapping, objects);
}

Task<Result<Submitted>> submit_wrapper(kube::Client& client, ObjectKey key, json::Document manifest,
                                       std::optional<CodeArchive> code) {
  Marks marks{.attempt = client.env().random.name_suffix(16), .digest = {}};
  json::Value* notes = manifest.root.find("metadata")->find("annotations");
  CHECK(notes != nullptr);  // at least the command
  marks.digest = notes->string_or_empty(kSubmittingAnnotation);
  notes->set(manifest.arena, kAttemptAnnotation,
             json::Value::string(manifest.arena, marks.attempt));
  CO_TRY_ASSIGN(const Begun begun,
                co_await begin(client, key, json::to_text(manifest.root), std::move(marks)));
  if (code && !code->empty()) {
    CodeOwner owner{.wrapper = key, .uid = begun.wrapper.metadata.uid};
    CO_TRY(co_await send_code(client, std::move(owner), *code));
    std::string release = R"({"metadata":{"annotations":{")" + std::string(kSubmittingAnnotation) +
                          R"(":null}},"spec":{"suspend":false}})";
    CO_TRY(co_await client.patch(model::resource_type<AppWrapper>(), key, kube::PatchKind::merge,
                                 std::move(release)));
  }
  co_return Submitted{.resumed = begun.resumed};
}

}  // namespace codeflare::sdk
