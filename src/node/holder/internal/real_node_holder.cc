#include "base/posix.h"
#include "node/holder/internal/real_holder.h"
#include "node/holder/node_holder.h"
#include "node/system/daemon.h"
#include "node/system/forbidden.h"
#include "node/system/namespaces.h"

#include <csignal>
#include <cstdio>
#include <optional>
#include <sched.h>
#include <string>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace codeflare::node {

namespace {

using internal::Anchor;
using internal::Holder;
using internal::NetworkPlan;
using internal::PodLinks;

constexpr std::uint32_t kProbeAddress = 2;  // in the pods' block

// Descriptors that the holder has from the process that prepared it.
struct Inherited {
  FileDescriptor lock;  // held as long as the holder lives: there is one per directory
  FileDescriptor listener;
  FileDescriptor ready;  // takes "R", or a letter and a reason
};

void raise_file_limit() {
  // Two descriptors for every connection to a service.
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &files);
  }
}

Result<void> build_and_attach(const NetworkPlan& plan, const std::string& directory) {
  TRY(enter_namespaces(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWNS,
                       "make user, network and mount namespaces"));
  TRY(PodLinks::build(plan, directory));
  TRY_ASSIGN(PodLinks links, PodLinks::open(plan, directory));
  const Ipv4 address{plan.pods.base.value + kProbeAddress};
  TRY(links.attach("probe", address));
  return links.detach("probe", address);
}

// All that can be forbidden is tried here: a system that allows some of it shall be found out now
// and not with the first pod. `unsupported` means that it does not, other codes nothing.
Result<void> build_and_try(const NetworkPlan& plan, const std::string& directory) {
  Result<void> tried = build_and_attach(plan, directory);
  if (tried) {
    return tried;
  }
  return fail(is_forbidden(tried.error()) ? unsupported(tried.error().message)
                                          : unavailable(tried.error().message));
}

// "F" and why, when the system does not allow it; "E" for all else.
std::string report_of(const Error& error) {
  return (error.code == ErrorCode::unsupported ? "F" : "E") + error.message;
}

Error error_of(const std::string& report) {
  return report.starts_with('F')   ? unsupported(report.substr(1))
         : report.starts_with('E') ? failed_precondition(report.substr(1))
                                   : failed_precondition("the holder ended before it was ready");
}

// In namespaces of its own, or in those that the anchor of an earlier holder has kept.
Result<Anchor> settle(const std::string& directory, const NetworkPlan& plan) {
  TRY_ASSIGN(std::optional<Anchor> anchor, internal::find_anchor(directory));
  if (anchor) {
    TRY(internal::join_anchor(*anchor));
    return *std::move(anchor);
  }
  TRY(build_and_try(plan, directory + "/run"));
  return internal::start_anchor(directory);
}

Result<void> serve(const std::string& directory, Inherited& inherited) {
  const NetworkPlan plan;
  TRY_ASSIGN(Anchor anchor, settle(directory, plan));
  TRY_ASSIGN(PodLinks links, PodLinks::open(plan, directory + "/run"));
  TRY_ASSIGN(internal::Poller poller, internal::Poller::open());
  Holder holder({.directory = directory,
                 .plan = plan,
                 .listener = std::move(inherited.listener),
                 .links = std::move(links),
                 .anchor = std::move(anchor),
                 .poller = std::move(poller)});
  TRY(holder.open());
  say(inherited.ready, "R");
  inherited.ready.close();
  return holder.run();
}

[[noreturn]] void become_holder(const std::string& directory, Inherited inherited) {
  ::setsid();
  let_go_of_everything({inherited.lock.get(), inherited.listener.get(), inherited.ready.get()});
  raise_file_limit();
  ::signal(SIGPIPE, SIG_IGN);
  ::prctl(PR_SET_NAME, "codeflare-hold", 0, 0, 0);
  const Result<void> served = serve(directory, inherited);
  if (!served && inherited.ready) {
    say(inherited.ready, report_of(served.error()));
  }
  ::_exit(served ? 0 : 1);
}

Result<void> start(const std::string& directory) {
  TRY_ASSIGN(std::optional<FileDescriptor> lock, take_lock(directory + "/holder.lock"));
  if (!lock) {
    return {};  // there is a holder
  }
  TRY_ASSIGN(FileDescriptor listener, listen_in(directory, {.name = "holder.sock", .backlog = 64}));
  TRY_ASSIGN(const ForkedChild holder, fork_and_hear([&](FileDescriptor ready) {
               become_holder(directory, {.lock = *std::move(lock),
                                         .listener = std::move(listener),
                                         .ready = std::move(ready)});
             }));
  if (!holder.report.starts_with('R')) {
    return fail(error_of(holder.report));
  }
  std::printf("%d\n", static_cast<int>(holder.process));
  return {};
}

// In a child; nothing of it stays.
Result<void> probe(const std::string& empty_directory) {
  TRY_ASSIGN(const ForkedChild tried, fork_and_hear([&](FileDescriptor ready) {
               const Result<void> built = build_and_try({}, empty_directory);
               say(ready, built ? "R" : report_of(built.error()));
               ::_exit(0);
             }));
  ::waitpid(tried.process, nullptr, 0);
  return tried.report == "R" ? Result<void>() : fail(error_of(tried.report));
}

int start_holder(const std::string& directory) {
  return exit_code_of(start(directory));
}

}  // namespace

int node_holder_main(int count, char** arguments) {
  return daemon_main({.name = "node-holder", .start = start_holder, .probe = probe}, count,
                     arguments);
}

}  // namespace codeflare::node
