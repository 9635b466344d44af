#include "cli/gather/namespace_hint.h"

#include "kube/kubeconfig.h"

#include <set>

namespace codeflare::cli {

namespace {

std::set<std::string> namespaces_of_contexts(Session& session) {
  std::set<std::string> names;
  const Result<std::string> file = kube::kubeconfig_to_edit(session.env(), "");
  const Result<kube::Kubeconfig> config =
      file ? kube::load_kubeconfig(session.env().files, {*file}, false) : fail(Error(file.error()));
  for (const kube::ContextEntry& context :
       config ? config->contexts : std::vector<kube::ContextEntry>()) {
    if (!context.ns.empty()) {
      names.insert(context.ns);
    }
  }
  return names;
}

}  // namespace

Error with_namespace_hint(Session& session, Error error, const std::string& ns) {
  if (error.code != ErrorCode::permission_denied) {
    return error;
  }
  std::set<std::string> names = namespaces_of_contexts(session);
  names.erase(ns);
  error.message += "; use -n with a namespace in which you have a role";
  std::string known;
  for (const std::string& name : names) {
    known += (known.empty() ? "" : ", ") + name;
  }
  if (!known.empty()) {
    error.message += " (your kubeconfig names " + known + ")";
  }
  return error;
}

}  // namespace codeflare::cli
