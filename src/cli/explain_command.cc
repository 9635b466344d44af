#include "cli/explain.h"
#include "cli/internal/session_flags.h"
#include "cli/queue_verbs.h"
#include "cli/verbs.h"

#include <memory>
#include <string>

namespace codeflare::cli {

void add_explain_verb(CLI::App& app, Chosen& chosen) {
  struct Flags {
    SessionFlags session;
    ExplainFlags flags{.kind = {}, .name = {}, .controller_ns{kControllerNamespace}};
  };
  auto own = std::make_shared<Flags>();
  CLI::App* verb = app.add_subcommand(
      "explain", "Say why work waits, who holds what it needs and what would start it");
  verb->add_option("KIND", own->flags.kind, "appwrapper (aw)")->required();
  verb->add_option("NAME", own->flags.name)->required();
  verb->add_option("--controller-namespace", own->flags.controller_ns,
                   "where codeflare controller runs")
      ->type_name("NAME")
      ->capture_default_str();
  internal::add_session_flags(*verb, own->session);
  verb->footer("Example:\n  codeflare explain appwrapper train");
  verb->callback([&chosen, own] {
    chosen = [own] {
      return internal::run_session(own->session,
                                   [own](Session& s) { return run_explain(s, own->flags); });
    };
  });
}

}  // namespace codeflare::cli
