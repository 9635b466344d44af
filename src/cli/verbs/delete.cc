#include "cli/verbs/delete.h"

#include "base/async/sleep.h"
#include "base/human_duration.h"
#include "cli/gather/find_wrapper.h"
#include "cli/gather/leaving_pods.h"
#include "cli/gather/manifest.h"
#include "cli/gather/target.h"
#include "cli/gather/wrappers.h"
#include "cli/verbs/internal/session_flags.h"
#include "cli/views/kinds.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>

namespace codeflare::cli {

namespace {

using std::chrono::milliseconds;

constexpr Duration kPollFirst = milliseconds(100);
constexpr Duration kPollLast = std::chrono::seconds(1);
constexpr Duration kLookForPods = std::chrono::seconds(5);

// Asked to go, and not gone yet.
struct Leaving {
  model::ResourceType type;
  model::ObjectKey key;
  std::string uid;
  std::string shown;
};

// Of the group that was named, or the only one that has it.
Task<Manifests> named(Session& session, KnownKind kind, DeleteFlags flags) {
  Manifests found;
  for (const std::string& each : flags.names) {
    std::string name = each;
    Result<FoundWrapper> of = co_await find_wrapper(session, kind, std::move(name), Use::change);
    if (of) {
      found.objects.push_back({.file = "",
                               .api_version = of->kind.type.api_version(),
                               .kind = of->kind.type.kind,
                               .ns = session.ns(),
                               .name = std::string(of->object->name())});
    } else if (of.error().code != ErrorCode::not_found || !flags.ignore_not_found) {
      found.errors.push_back(about(of.error(), flags.kind + " " + each));
    }
  }
  co_return found;
}

struct How {
  bool dry_run = false;
  bool ignore_not_found = false;
};

Task<Result<std::optional<Leaving>>> delete_one(Session& session, Manifest manifest, How how) {
  if (manifest.name.empty()) {
    co_return fail(invalid_argument(
        "metadata.name is missing; objects with generateName cannot be deleted by file"));
  }
  CO_TRY_ASSIGN(Target target, co_await find_target(session, manifest));
  const model::ResourceType type = target.resource.type;
  kube::DeleteOptions options{.propagation_policy = "Background", .dry_run = how.dry_run};
  Result<kube::ObjectRef> rest =
      co_await session.client().remove(type, target.key, std::move(options));
  if (!rest && rest.error().code == ErrorCode::not_found && how.ignore_not_found) {
    co_return std::nullopt;
  }
  if (!rest) {
    co_return fail(std::move(rest).error());
  }
  std::string shown = target.resource.singular.empty() ? type.plural : target.resource.singular;
  shown += (type.group.empty() ? "" : "." + type.group) + "/" + manifest.name;
  session.console().out(session.output() == Output::name
                            ? shown + "\n"
                            : shown + " deleted" + (how.dry_run ? " (server dry run)\n" : "\n"));
  if (*rest == nullptr || how.dry_run) {
    co_return std::nullopt;
  }
  co_return Leaving{type, target.key, std::string((*rest)->uid()), std::move(shown)};
}

std::string finalizers_of(const kube::Object& object) {
  const Result<json::Document> document = object.parse();
  const json::Value* list = document ? document->root.get({"metadata", "finalizers"}) : nullptr;
  std::string text;
  for (const json::Value& item : list != nullptr ? list->items() : std::span<const json::Value>()) {
    if (item.is_string()) {
      text += (text.empty() ? "" : ", ") + std::string(item.as_string());
    }
  }
  return text;
}

// The object while it is still the one that was deleted.
Task<Result<kube::ObjectRef>> still_there(Session& session, Leaving leaving) {
  Result<kube::ObjectRef> object = co_await session.client().get(leaving.type, leaving.key);
  if (!object && object.error().code == ErrorCode::not_found) {
    co_return kube::ObjectRef();
  }
  if (object && !leaving.uid.empty() && (*object)->uid() != leaving.uid) {
    co_return kube::ObjectRef();
  }
  co_return object;
}

// Pods that an AppWrapper waits for, beside its finalizers; none without the right to see pods.
Task<std::string> pods_of(Session& session, model::ResourceType type, kube::ObjectRef object) {
  const model::WrapperApi api = KnownKind{.type = type, .singular = {}}.api();
  Result<GroupedWrapper> wrapper = decode_wrapper(app_wrapper_kind(api), object);
  if (type.kind != "AppWrapper" || !wrapper) {
    co_return "";
  }
  const auto pods = co_await leaving_pods(session, *std::move(wrapper));
  const std::string text = pods ? leaving_text(*pods) : "";
  co_return text.empty() ? "" : ", waiting for " + text;
}

Task<Result<void>> wait_until_gone(Session& session, Leaving leaving,
                                   std::optional<Instant> deadline) {
  ProgressLine progress(session.console());
  const Instant began = session.env().clock.now();
  Duration pause = kPollFirst;
  Instant looked = began;
  std::string pods;
  while (true) {
    CO_TRY_ASSIGN(const kube::ObjectRef object, co_await still_there(session, leaving));
    if (object == nullptr) {
      co_return Result<void>();
    }
    const std::string finalizers = finalizers_of(*object);
    const Instant now = session.env().clock.now();
    if (now - looked >= kLookForPods || (deadline && now >= *deadline)) {
      looked = now;
      pods = co_await pods_of(session, leaving.type, object);
    }
    const std::string held = (finalizers.empty() ? "" : ", held by " + finalizers) + pods;
    if (deadline && now >= *deadline) {
      co_return fail(deadline_exceeded(leaving.shown + ": still there after " +
                                       human_duration(now - began) + held));
    }
    progress.show("waiting until " + leaving.shown + " is gone (" + human_duration(now - began) +
                  held + ")");
    CO_TRY(co_await sleep_for(deadline ? std::min(pause, *deadline - now) : pause));
    pause = std::min(pause * 3 / 2, kPollLast);
  }
}

void add_options(CLI::App& verb, Chosen& chosen) {
  auto typed = std::make_shared<internal::Typed<DeleteFlags>>();
  verb.add_option("KIND", typed->flags.kind, internal::kKindHelp);
  verb.add_option("NAME", typed->flags.names, "names of the objects");
  verb.add_option("-f,--filename", typed->flags.files,
                  "file or directory with YAML or JSON; - for standard input")
      ->type_name("FILE");
  verb.add_option("--wait", typed->flags.wait, "wait until the objects are gone (default true)")
      ->type_name("true|false");
  verb.add_flag("--ignore-not-found", typed->flags.ignore_not_found,
                "success if an object does not exist");
  internal::add_dry_run(verb, typed->flags.dry_run);
  internal::add_session_flags(verb, typed->session, {"name"});
  verb.get_option("--timeout")
      ->description("time limit of the wait (default: none) and of retries (default 60)");
  verb.callback([&chosen, typed] {
    if (typed->flags.kind.empty() == typed->flags.files.empty()) {
      throw CLI::ValidationError("delete", "give -f FILE, or KIND NAME...");
    }
    typed->flags.timeout = typed->session.timeout;
    chosen = internal::in_session<DeleteFlags>(typed, run_delete);
  });
}

}  // namespace

constinit const Verb kDelete = {
    .word = "delete",
    .about = "Delete objects by file or name and wait until they are gone",
    .examples = "codeflare delete -f train.yaml\n  codeflare delete appwrapper train",
    .add = add_options,
    .takes_kind = true};

Task<int> run_delete(Session& session, DeleteFlags flags) {
  int code = kDone;
  Manifests asked;
  if (flags.kind.empty()) {
    asked = read_manifests(session, flags.files);
    for (const Error& error : asked.errors) {
      code = report_file(session.console(), error);
    }
  } else {
    Result<KindNames> typed = read_names(flags.kind, flags.names);
    if (!typed) {
      co_return report_usage(session.console(), typed.error().message);
    }
    flags.names = typed->names;
    flags.kind = typed->kind.word();
    asked = co_await named(session, typed->kind, flags);
    for (const Error& error : asked.errors) {
      code = both(code, report(session.console(), error));
    }
  }
  std::vector<Leaving> leaving;
  for (const Manifest& manifest : asked.objects) {
    Manifest copy = manifest;
    auto rest =
        co_await delete_one(session, std::move(copy),
                            {.dry_run = flags.dry_run, .ignore_not_found = flags.ignore_not_found});
    if (!rest) {
      Error error = std::move(rest).error();
      code = both(code,
                  manifest.file.empty()
                      ? report(session.console(), error, flags.kind + " " + manifest.name)
                      : report(session.console(), std::move(error).with_context(manifest.where())));
    } else if (*rest) {
      leaving.push_back(**std::move(rest));
    }
  }
  if (!flags.wait) {
    co_return code;
  }
  std::optional<Instant> deadline;
  if (flags.timeout > Duration::zero()) {
    deadline = after(session.env().clock.now(), flags.timeout);
  }
  for (const Leaving& each : leaving) {
    Leaving copy = each;
    Result<void> gone = co_await wait_until_gone(session, std::move(copy), deadline);
    if (!gone) {
      code = both(code, report(session.console(), gone.error(), each.shown));
    }
  }
  co_return code;
}

}  // namespace codeflare::cli
