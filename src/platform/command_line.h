#pragma once

#include "model/application.h"
#include "model/run.h"
#include "platform/problem.h"

#include <string>
#include <string_view>
#include <vector>

namespace codeflare::platform {

struct CommandLine {
  // Behind the Application's command: flags in the order of the schema, words that the schema does
  // not know, then positions.
  std::vector<std::string> words;
  std::vector<model::EffectiveValue> effective;  // "parameters.epochs"
};

// Checks what the Run gives (parameters, or options read by the same schema) against the
// Application's schema. Order of values: the Run, the Application's options, the defaults of the
// parameters. Without a schema the options pass as they are.
CommandLine command_line(const model::Application& application, const model::Run& run,
                         Problems& problems);

// The problems of the schema itself, for the Application's owner.
void check_schema(const model::Application& application, Problems& problems);

// "Application default/train"
std::string name_of(const model::Application& application);

}  // namespace codeflare::platform
