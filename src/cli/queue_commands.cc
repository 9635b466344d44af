#include "cli/internal/session_flags.h"
#include "cli/queue_verbs.h"
#include "cli/verbs.h"

#include <memory>
#include <string>

namespace codeflare::cli {

namespace {

using internal::add_session_flags;
using internal::run_session;

void add_controller_ns(CLI::App& verb, std::string& ns) {
  verb.add_option("--controller-namespace", ns, "where codeflare controller runs")
      ->type_name("NAME")
      ->capture_default_str();
}

}  // namespace

void add_queue_verbs(CLI::App& app, Chosen& chosen) {
  struct Flags {
    SessionFlags session;
    QueueFlags flags;
  };
  auto own = std::make_shared<Flags>();
  CLI::App* verb = app.add_subcommand("queue", "Show who waits, in order, and for what");
  verb->require_subcommand(0, 1);
  verb->add_flag("-w,--watch", own->flags.watch, "go on showing changes");
  add_controller_ns(*verb, own->flags.controller_ns);
  add_session_flags(*verb, own->session);
  verb->footer(
      "Example:\n  codeflare queue --watch\n  codeflare queue pause   # before maintenance");
  verb->callback([&chosen, own, verb] {
    if (verb->get_subcommands().empty()) {
      chosen = [own] {
        return run_session(own->session, [own](Session& s) { return run_queue(s, own->flags); });
      };
    }
  });
  for (const bool pause : {true, false}) {
    CLI::App* word =
        verb->add_subcommand(pause ? "pause" : "resume",
                             pause ? "Start nothing new; what runs goes on" : "Start work again");
    add_controller_ns(*word, own->flags.controller_ns);
    add_session_flags(*word, own->session);
    word->footer(pause ? "Example:\n  codeflare queue pause"
                       : "Example:\n  codeflare queue resume");
    word->callback([&chosen, own, pause] {
      chosen = [own, pause] {
        return run_session(own->session,
                           [own, pause](Session& s) { return run_pause(s, own->flags, pause); });
      };
    });
  }
}

}  // namespace codeflare::cli
