#include "cli/gather/find_wrapper.h"

#include "base/close_words.h"
#include "cli/gather/wrappers.h"
#include "model/resources.h"
#include "model/run.h"
#include "model/status.h"
#include "model/training_job.h"
#include "sdk/clusters.h"

#include <utility>

namespace codeflare::cli {

namespace {

// "appwrapper.workload.codeflare.dev train": means that one alone.
std::string in_full(const KnownKind& kind, const std::string& name) {
  return kind.singular + "." + kind.type.group + " " + name;
}

// The one of MCAD's group; null when there is none. Where the server has no such kind nobody may
// look for it.
Task<Result<kube::ObjectRef>> find_legacy(Session& session, std::string name) {
  Result<kube::ObjectRef> object = co_await session.client().get(legacy_app_wrapper_kind().type,
                                                                 {session.ns(), std::move(name)});
  if (!object && (object.error().code == ErrorCode::not_found ||
                  object.error().code == ErrorCode::permission_denied)) {
    co_return kube::ObjectRef();
  }
  co_return object;
}

// "; did you mean train-1?", or where one of this name is. Nothing when that cannot be seen.
Task<std::string> hint(Session& session, KnownKind kind, std::string name) {
  std::string ns = session.ns();
  const Result<WrapperList> here =
      co_await list_groups(session, kind, std::move(ns), std::string());
  std::vector<std::string> names;
  for (const TypedObject& each : here ? here->objects : std::vector<TypedObject>()) {
    names.emplace_back(each.object->name());
  }
  if (std::string close = did_you_mean(name, names); !close.empty()) {
    co_return close;
  }
  const Result<WrapperList> everywhere =
      co_await list_groups(session, std::move(kind), std::string(), std::string());
  for (const TypedObject& each : everywhere ? everywhere->objects : std::vector<TypedObject>()) {
    if (each.object->name() == name) {
      co_return "; found in namespace " + std::string(each.object->ns()) + ", add -n " +
          std::string(each.object->ns());
    }
  }
  co_return "";
}

// The AppWrapper around the Ray cluster of that name; empty: there is no such cluster, or it is in
// none.
Task<std::string> wrapper_of_cluster(Session& session, std::string name) {
  sdk::Clusters clusters(session.client(), session.discovery());
  const Result<sdk::ClusterInfo> info = co_await clusters.get({session.ns(), std::move(name)});
  co_return info ? info->wrapper : std::string();
}

bool names_an_object(const Error& error) {
  const model::Status* status = model::status_of(error);
  return error.code == ErrorCode::not_found && status != nullptr && status->details &&
         !status->details->name.empty();
}

template <typename T>
Task<bool> exists(Session& session, std::string name) {
  const Result<kube::ObjectRef> object =
      co_await session.client().get(model::resource_type<T>(), {session.ns(), std::move(name)});
  co_return object.has_value();
}

// Of a name alone: the Ray cluster may be meant. Otherwise says which names there are.
Task<Result<FoundWrapper>> find_instead(Session& session, KnownKind kind, std::string name,
                                        Error error, Use use) {
  if (kind.guessed) {
    std::string copy = name;
    std::string wrapper = co_await wrapper_of_cluster(session, std::move(copy));
    if (!wrapper.empty() && wrapper != name) {
      KnownKind exact = app_wrapper_kind();
      co_return co_await find_wrapper(session, std::move(exact), std::move(wrapper), use);
    }
  }
  if (const std::string noun = co_await noun_instead(session, kind, name); !noun.empty()) {
    std::string text = "no AppWrapper " + name + "; a " + noun +
                       " has this name, name the kind too: " + noun + " " + name;
    co_return fail(use == Use::change ? failed_precondition(std::move(text))
                                      : not_found(std::move(text)));
  }
  const bool named = names_an_object(error);
  error = name_missing_kind(std::move(error), kind, session.server());
  if (named) {
    error.message += co_await hint(session, std::move(kind), std::move(name));
  }
  co_return fail(std::move(error));
}

}  // namespace

Task<std::string> noun_instead(Session& session, KnownKind kind, std::string name) {
  if (!kind.guessed) {
    co_return "";
  }
  if (co_await exists<model::TrainingJob>(session, name)) {
    co_return "trainingjob";
  }
  co_return co_await exists<model::Run>(session, std::move(name)) ? "run" : "";
}

Task<Result<FoundWrapper>> find_wrapper(Session& session, KnownKind kind, std::string name,
                                        Use use) {
  Result<kube::ObjectRef> object = co_await session.client().get(kind.type, {session.ns(), name});
  kube::ObjectRef legacy;
  if (kind.any_group && (object || object.error().code == ErrorCode::not_found)) {
    CO_TRY_ASSIGN(legacy, co_await find_legacy(session, name));
  }
  if (!object && legacy != nullptr) {
    co_return FoundWrapper{legacy_app_wrapper_kind(), std::move(legacy)};
  }
  if (!object && object.error().code == ErrorCode::not_found) {
    co_return co_await find_instead(session, std::move(kind), std::move(name),
                                    std::move(object).error(), use);
  }
  if (!object) {
    co_return fail(std::move(object).error());
  }
  if (legacy != nullptr) {
    const std::string ours = in_full(kind, name);
    const std::string other = in_full(legacy_app_wrapper_kind(), name);
    if (use == Use::change) {
      co_return fail(
          failed_precondition("two AppWrappers have this name; write " + ours + " or " + other));
    }
    session.console().err("note: two AppWrappers have this name; this is " + ours +
                          ", the other is " + other + "\n");
  }
  co_return FoundWrapper{std::move(kind), *std::move(object)};
}

}  // namespace codeflare::cli
