#include "cli/gather/wrappers.h"
#include "cli/verbs/commands.h"
#include "cli/verbs/create.h"
#include "cli/verbs/internal/session_flags.h"
#include "cli/views/up_status_view.h"

#include <memory>
#include <string>
#include <utility>

namespace codeflare::cli {

namespace {

using internal::add_session_flags;
using internal::run_session;

template <typename Flags>
struct Verb {
  SessionFlags session;
  Flags flags;
};

void add_dry_run(CLI::App& verb, bool& dry_run) {
  verb.add_option_function<std::string>(
          "--dry-run", [&dry_run](const std::string& who) { dry_run = who == "server"; },
          "server: everything is checked there and nothing is kept")
      ->check(CLI::IsMember({"none", "server"}))
      ->type_name("none|server");
}

void add_create(CLI::App& app, Chosen& chosen) {
  auto own = std::make_shared<Verb<CreateFlags>>();
  CLI::App* verb = app.add_subcommand("create", "Create the objects of files");
  verb->add_option("-f,--filename", own->flags.files,
                   "YAML or JSON; a directory; - is standard input")
      ->required()
      ->type_name("FILE");
  add_dry_run(*verb, own->flags.dry_run);
  add_session_flags(*verb, own->session);
  verb->footer("Example:\n  codeflare create -f train.yaml -n team-a");
  verb->callback([&chosen, own] {
    chosen = [own] {
      return run_session(own->session, [own](Session& s) { return run_create(s, own->flags); });
    };
  });
}

void add_delete(CLI::App& app, Chosen& chosen) {
  auto own = std::make_shared<Verb<DeleteFlags>>();
  CLI::App* verb =
      app.add_subcommand("delete", "Delete the objects of files, or by name, and wait until gone");
  verb->add_option("KIND", own->flags.kind, "appwrapper (aw)");
  verb->add_option("NAME", own->flags.names);
  verb->add_option("-f,--filename", own->flags.files,
                   "YAML or JSON; a directory; - is standard input")
      ->type_name("FILE");
  verb->add_option("--wait", own->flags.wait, "until they are gone (default true)")
      ->type_name("true|false");
  verb->add_flag("--ignore-not-found", own->flags.ignore_not_found);
  add_dry_run(*verb, own->flags.dry_run);
  add_session_flags(*verb, own->session);
  verb->get_option("--timeout")
      ->description(
          "for that wait (default: as long as it takes), and for a server that asks to "
          "wait (default 60)");
  verb->footer("Example:\n  codeflare delete -f train.yaml\n  codeflare delete appwrapper train");
  verb->callback([&chosen, own] {
    const bool by_name = !own->flags.names.empty();
    if (by_name != own->flags.files.empty() || by_name == own->flags.kind.empty()) {
      throw CLI::ValidationError("delete", "either -f FILE or KIND NAME...");
    }
    own->flags.timeout = own->session.timeout;
    chosen = [own] {
      return run_session(own->session, [own](Session& s) { return run_delete(s, own->flags); });
    };
  });
}

void add_list(CLI::App& app, Chosen& chosen) {
  auto own = std::make_shared<Verb<ListFlags>>();
  CLI::App* verb = app.add_subcommand("list", "List objects of a kind");
  verb->add_option("KIND", own->flags.kind, "appwrapper (aw)")->required();
  verb->add_flag("-A,--all-namespaces", own->flags.all_namespaces);
  verb->add_option("-l,--selector", own->flags.selector, "only these labels: app=web,tier!=test")
      ->type_name("LABELS");
  add_session_flags(*verb, own->session);
  verb->footer("Example:\n  codeflare list appwrapper -A -o wide");
  verb->callback([&chosen, own] {
    chosen = [own] {
      return run_session(own->session, [own](Session& s) { return run_list(s, own->flags); });
    };
  });
}

// A verb of the form VERB KIND NAME...
struct NamedVerb {
  const char* name;
  const char* about;
  const char* example;
  Task<int> (*run)(Session&, NameFlags);
};

void add_named(CLI::App& app, Chosen& chosen, const NamedVerb& named) {
  auto own = std::make_shared<Verb<NameFlags>>();
  CLI::App* verb = app.add_subcommand(named.name, named.about);
  verb->add_option("KIND", own->flags.kind, "appwrapper (aw)")->required();
  verb->add_option("NAME", own->flags.names)->required();
  add_session_flags(*verb, own->session);
  verb->footer(std::string("Example:\n  ") + named.example);
  verb->callback([&chosen, own, run = named.run] {
    chosen = [own, run] {
      return run_session(own->session, [own, run](Session& s) { return run(s, own->flags); });
    };
  });
}

// With an object: what its status says. Without one: the cluster of `codeflare up`.
void add_status(CLI::App& app, Chosen& chosen) {
  struct Flags : Verb<NameFlags> {
    std::string directory;
  };
  auto own = std::make_shared<Flags>();
  CLI::App* verb = app.add_subcommand(
      "status", "Show what the status of an object says, or what codeflare up runs");
  verb->add_option("KIND", own->flags.kind,
                   "appwrapper (aw); without it: the cluster of this machine");
  verb->add_option("NAME", own->flags.names);
  verb->add_option("--data-dir", own->directory,
                   "of that cluster (default $XDG_STATE_HOME/codeflare/up)")
      ->type_name("DIR");
  add_session_flags(*verb, own->session);
  verb->footer("Example:\n  codeflare status\n  codeflare status appwrapper train");
  verb->callback([&chosen, own] {
    if (own->flags.kind.empty() != own->flags.names.empty()) {
      throw CLI::ValidationError("status", "KIND NAME..., or neither");
    }
    if (!own->flags.kind.empty() && !own->directory.empty()) {
      throw CLI::ValidationError("status", "--data-dir goes without KIND NAME");
    }
    chosen = [own] {
      if (own->flags.kind.empty()) {
        return run_up_status({.directory = own->directory, .output = own->session.output});
      }
      return run_session(own->session, [own](Session& s) { return run_status(s, own->flags); });
    };
  });
}

}  // namespace

void add_object_verbs(CLI::App& app, Chosen& chosen) {
  add_create(app, chosen);
  add_delete(app, chosen);
  add_list(app, chosen);
  add_status(app, chosen);
  add_named(app, chosen,
            {"hold", "Keep work in the queue from starting, or take it back from the cluster",
             "codeflare hold appwrapper train",
             [](Session& s, NameFlags flags) { return run_hold(s, std::move(flags), true); }});
  add_named(app, chosen,
            {"release", "Let held work start again", "codeflare release appwrapper train",
             [](Session& s, NameFlags flags) { return run_hold(s, std::move(flags), false); }});
}

}  // namespace codeflare::cli
