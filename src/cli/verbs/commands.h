#pragma once

#include <functional>

namespace CLI {
class App;
}

// The verbs of the command line, in groups. Each sets `chosen` when it was asked for; that returns
// the exit code.
namespace codeflare::cli {

using Chosen = std::function<int()>;

// Everything below.
void add_verbs(CLI::App& app, Chosen& chosen);

// create, delete, list, status, hold, release
void add_object_verbs(CLI::App& app, Chosen& chosen);
// queue, with pause and resume
void add_queue_verbs(CLI::App& app, Chosen& chosen);
void add_explain_verb(CLI::App& app, Chosen& chosen);
void add_logs_verb(CLI::App& app, Chosen& chosen);
// down; `status` without an object is among the object verbs
void add_up_verbs(CLI::App& app, Chosen& chosen);
// image, with add, list and remove
void add_image_verbs(CLI::App& app, Chosen& chosen);
void add_simulate_verb(CLI::App& app, Chosen& chosen);

}  // namespace codeflare::cli
