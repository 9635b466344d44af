#include "cli/verbs/check.h"

#include "base/async/sleep.h"
#include "cli/verbs/internal/session_flags.h"
#include "cli/views/kinds.h"
#include "json/write.h"
#include "kube/object.h"
#include "model/codec/app_wrapper.h"

#include <chrono>
#include <memory>
#include <string>
#include <utility>

namespace codeflare::cli {

namespace {

constexpr Duration kLookEvery = std::chrono::milliseconds(250);

void write_container(json::Writer& w, const CheckFlags& flags) {
  w.begin_object().member("name", "check").member("image", flags.image);
  if (!flags.command.empty()) {
    w.key("command").begin_array().string(flags.command).end_array();
  }
  w.key("args").begin_array().string("version").end_array();
  w.key("securityContext").begin_object();
  w.key("allowPrivilegeEscalation").boolean(false);
  w.key("capabilities").begin_object().key("drop").begin_array().string("ALL").end_array();
  w.end_object().end_object();
  w.key("resources").begin_object().key("requests").begin_object();
  w.member("cpu", "10m").member("memory", "16Mi").end_object().end_object().end_object();
}

// A Job of one pod that fits namespaces which enforce the restricted standard.
std::string wrapper_json(const std::string& name, const CheckFlags& flags) {
  std::string text;
  json::Writer w(text);
  w.begin_object().member("apiVersion", "workload.codeflare.dev/v1beta1");
  w.member("kind", "AppWrapper");
  w.key("metadata").begin_object().member("name", name).end_object();
  w.key("spec").begin_object().key("resources").begin_object().key("GenericItems").begin_array();
  w.begin_object().key("replicas").integer(1).member("completionstatus", "Complete,Failed");
  w.key("generictemplate").begin_object().member("apiVersion", "batch/v1").member("kind", "Job");
  w.key("metadata").begin_object().member("name", name).end_object();
  w.key("spec").begin_object().key("backoffLimit").integer(0).key("template").begin_object();
  w.key("spec").begin_object().member("restartPolicy", "Never");
  w.key("securityContext").begin_object().key("runAsNonRoot").boolean(true);
  w.key("runAsUser").integer(65532);
  w.key("seccompProfile").begin_object().member("type", "RuntimeDefault").end_object();
  w.end_object().key("containers").begin_array();
  write_container(w, flags);
  w.end_array().end_object().end_object().end_object().end_object().end_object();
  w.end_array().end_object().end_object().end_object();
  return text;
}

// Its status when it has ended, or the state in which it was left.
Task<Result<model::AppWrapperStatus>> wait_for_end(Session& session, model::ObjectKey key,
                                                   Duration timeout) {
  const Instant deadline = after(session.env().clock.now(), timeout);
  ProgressLine progress(session.console());
  while (true) {
    CO_TRY_ASSIGN(const kube::ObjectRef object,
                  co_await session.client().get(app_wrapper_kind().type, key));
    CO_TRY_ASSIGN(model::AppWrapper wrapper, object->as<model::AppWrapper>());
    const std::string state = wrapper.status.state.empty() ? "new" : wrapper.status.state;
    if (state == "Completed" || state == "Failed" || state == "Deleted" ||
        session.env().clock.now() >= deadline) {
      co_return std::move(wrapper.status);
    }
    progress.show("AppWrapper " + key.to_string() + " is " + state);
    CO_TRY(co_await sleep_for(kLookEvery));
  }
}

void add_options(CLI::App& verb, Chosen& chosen) {
  auto typed = std::make_shared<internal::Typed<CheckFlags>>();
  verb.add_option("--image", typed->flags.image, "image of codeflare for the pod")->required();
  verb.add_option("--command", typed->flags.command, "program of the image (default: its own)");
  internal::finish_wait<CheckFlags>(verb, chosen, typed, run_check);
}

}  // namespace

constinit const Verb kCheck = {
    .word = "check",
    .about = "Run a small AppWrapper to its end, to see whether the queue works",
    .examples = "codeflare check --image codeflare:0.1.0 -n team-a",
    .add = add_options};

Task<int> run_check(Session& session, CheckFlags flags) {
  const model::ResourceType type = app_wrapper_kind().type;
  const model::ObjectKey key{session.ns(),
                             "codeflare-check-" + session.env().random.uuid().substr(0, 8)};
  const Duration timeout = flags.timeout == Duration{} ? CheckFlags().timeout : flags.timeout;
  const Result<kube::ObjectRef> made =
      co_await session.client().create(type, key.ns, wrapper_json(key.name, flags));
  if (!made) {
    co_return report(session.console(), made.error(), "AppWrapper " + key.to_string());
  }
  const Instant begin = session.env().clock.now();
  const Result<model::AppWrapperStatus> end = co_await wait_for_end(session, key, timeout);
  const auto took = session.env().clock.now() - begin;
  const Result<kube::ObjectRef> removed = co_await session.client().remove(type, key);
  if (!removed && removed.error().code != ErrorCode::not_found) {
    session.console().err("warning: AppWrapper " + key.to_string() +
                          " is left behind: " + removed.error().message + "\n");
  }
  if (!end) {
    co_return report(session.console(), end.error(), "AppWrapper " + key.to_string());
  }
  if (end->state != "Completed") {
    const std::string& reason =
        end->conditions.empty() ? end->message : end->conditions.back().message;
    co_return report(
        session.console(),
        failed_precondition("AppWrapper " + key.to_string() + " is " +
                            (end->state.empty() ? "not noticed by a controller" : end->state) +
                            (reason.empty() ? "" : ": " + reason)));
  }
  session.console().out(
      "AppWrapper " + key.to_string() + " completed in " +
      std::to_string(std::chrono::duration_cast<std::chrono::seconds>(took).count()) + " s\n");
  co_return kDone;
}

}  // namespace codeflare::cli
