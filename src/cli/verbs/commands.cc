#include "cli/verbs/commands.h"

namespace codeflare::cli {

void add_verbs(CLI::App& app, Chosen& chosen) {
  add_object_verbs(app, chosen);
  add_queue_verbs(app, chosen);
  add_explain_verb(app, chosen);
  add_logs_verb(app, chosen);
  add_up_verbs(app, chosen);
  add_image_verbs(app, chosen);
  add_simulate_verb(app, chosen);
}

}  // namespace codeflare::cli
