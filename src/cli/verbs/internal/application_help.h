#pragma once

#include "cli/session/session.h"
#include "model/application.h"
#include "model/meta.h"

#include <optional>
#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace codeflare::cli::internal {

// The Application that --application means: NAME or NAMESPACE/NAME.
model::ObjectKey application_key(std::string_view reference, std::string ns);

// The Application on the cluster that the flags mean, if the server answers within seconds. Without
// a kubeconfig, an answer or the right to read it: nothing.
std::optional<model::Application> find_application(const SessionFlags& flags,
                                                   std::string_view reference);

// The parameters of an Application as lines of a help text, each as it is given to --parameter;
// empty when there are none.
std::string parameter_help(const model::Application& application);

// Puts the parameters of the Application that was typed into the help of a verb with --application.
void add_application_help(CLI::App& verb);

}  // namespace codeflare::cli::internal
