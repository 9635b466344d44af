#include "cli/verbs/commands.h"
#include "cli/verbs/internal/session_flags.h"
#include "cli/verbs/logs.h"

#include <memory>

namespace codeflare::cli {

void add_logs_verb(CLI::App& app, Chosen& chosen) {
  struct Flags {
    SessionFlags session;
    LogsFlags flags;
  };
  auto own = std::make_shared<Flags>();
  CLI::App* verb = app.add_subcommand("logs", "Print what the pods of an object have written");
  verb->add_option("KIND", own->flags.kind, "appwrapper (aw)")->required();
  verb->add_option("NAME", own->flags.name)->required();
  verb->add_flag("-f,--follow", own->flags.follow,
                 "go on until it has ended, also with pods that come later");
  verb->add_option("--tail", own->flags.tail, "the last lines of each container alone")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 31))
      ->type_name("LINES");
  verb->add_option("-c,--container", own->flags.container, "of each pod (default all)")
      ->type_name("NAME");
  verb->add_flag("--timestamps", own->flags.timestamps, "when each line was written");
  internal::add_session_flags(*verb, own->session);
  verb->footer("Example:\n  codeflare logs appwrapper train -f");
  verb->callback([&chosen, own] {
    chosen = [own] {
      return internal::run_session(own->session,
                                   [own](Session& s) { return run_logs(s, own->flags); });
    };
  });
}

}  // namespace codeflare::cli
