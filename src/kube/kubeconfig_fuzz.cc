#include "base/env/sim_env.h"
#include "kube/config.h"
#include "kube/exec_credential.h"
#include "kube/kubeconfig.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace {

using namespace codeflare;

void check_message(const Error& error) {
  CHECK(!error.message.empty());
  CHECK(error.message.find_first_of("\n\r") == std::string::npos, "an error of several lines");
}

// The editor's output reads back, with the change in it.
void check_editor(std::string_view text) {
  Result<kube::KubeconfigEditor> editor = kube::KubeconfigEditor::parse(text, "/k");
  CHECK(editor.has_value(), "a kubeconfig that parses can be edited");
  editor->set_user({.name = "fuzz", .token = Secret("yes")});
  editor->set_context({.name = "fuzz", .cluster = "fuzz", .user = "fuzz"});
  Result<kube::Kubeconfig> again = kube::parse_kubeconfig(editor->text(), "/k");
  CHECK(again.has_value(), "an edited kubeconfig parses");
  CHECK(again->user("fuzz") != nullptr && again->user("fuzz")->token == Secret("yes"));
  CHECK(editor->remove_context_and_parts("fuzz"));
  CHECK(kube::parse_kubeconfig(editor->text(), "/k").has_value());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  SimEnv sim;
  Result<kube::Kubeconfig> config = kube::parse_kubeconfig(text, "/k");
  if (!config) {
    check_message(config.error());
  } else {
    Result<kube::Config> resolved = kube::resolve_config(sim.env().files, *config);
    if (!resolved) {
      check_message(resolved.error());
    }
    check_editor(text);
  }
  Result<kube::ExecStatus> status =
      kube::parse_exec_status(text, "client.authentication.k8s.io/v1");
  if (!status) {
    check_message(status.error());
  }
  return 0;
}
