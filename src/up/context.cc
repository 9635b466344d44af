#include "up/context.h"

#include "kube/kubeconfig.h"

#include <optional>
#include <utility>

namespace codeflare::up {

namespace {

using kube::Kubeconfig;
using kube::KubeconfigEditor;

constexpr std::string_view kName = "codeflare";
// Name and key of the note in the context of a kubeconfig.
constexpr std::string_view kNote = "codeflare-up";
constexpr std::string_view kDirectory = "directory";

Result<Kubeconfig> read_config(FileSystem& files, const std::string& path) {
  TRY_ASSIGN(Kubeconfig config, kube::load_kubeconfig(files, {path}, true));
  if (config.clusters.empty() || config.users.empty()) {
    return fail(data_loss(path + ": cluster or user is missing"));
  }
  return config;
}

Result<void> add(KubeconfigEditor& editor, const Kubeconfig& described, const NewContext& context,
                 AddedContext& added) {
  const std::string current = editor.current_context();
  // Left by a run that was killed: what was current before that is still remembered.
  added.previous = current == context.name
                       ? (context.earlier.name == context.name ? context.earlier.previous : "")
                       : current;
  kube::ClusterEntry cluster = described.clusters.front();
  cluster.name = context.name;
  kube::UserEntry user = described.users.front();
  user.name = context.name;
  editor.set_cluster(cluster);
  editor.set_user(user);
  editor.set_context({.name = context.name, .cluster = context.name, .user = context.name});
  editor.set_current_context(context.name);
  editor.set_note(context.name, kNote,
                  {{std::string(kDirectory), parent_path(context.kubeconfig)}});
  return {};
}

// Where the cluster of the current context is kept; empty: it is not one of `codeflare up`.
std::string directory_of(const Env& env, const std::string& file, const KubeconfigEditor& editor) {
  // The administrator's own file, named by KUBECONFIG.
  const std::string around = parent_path(file);
  if (file.ends_with("/admin.kubeconfig") && env.files.exists(up_state_path(around))) {
    return around;
  }
  const std::optional<KubeconfigEditor::Note> note = editor.note(editor.current_context(), kNote);
  const auto directory =
      note ? note->find(std::string(kDirectory)) : KubeconfigEditor::Note::const_iterator();
  return note && directory != note->end() ? directory->second : std::string();
}

Result<void> take_out(KubeconfigEditor& editor, const AddedContext& context,
                      const std::string& authority) {
  TRY_ASSIGN(const Kubeconfig config, kube::parse_kubeconfig(editor.text(), context.file));
  const kube::ClusterEntry* cluster = config.cluster(context.name);
  if (cluster == nullptr || cluster->certificate_authority_data != authority) {
    return {};
  }
  const bool current = editor.current_context() == context.name;
  editor.remove_context_and_parts(context.name);
  if (current && config.context(context.previous) != nullptr) {
    editor.set_current_context(context.previous);
  }
  return {};
}

}  // namespace

std::string context_name(const Variables& variables, const std::string& directory) {
  const Result<std::string> usual = up_directory(variables, "");
  if (usual && *usual == directory) {
    return std::string(kName);
  }
  std::string_view path = directory;
  while (path.ends_with('/')) {
    path.remove_suffix(1);
  }
  path.remove_prefix(path.rfind('/') + 1);  // npos + 1: there is none
  return path.empty() || path == "." || path == ".." ? std::string(kName)
                                                     : std::string(kName) + "-" + std::string(path);
}

Result<ChosenCluster> choose_cluster(Env env, const std::string& given) {
  TRY_ASSIGN(std::string usual, up_directory(env.variables, given));
  ChosenCluster chosen{.directory = std::move(usual)};
  const Result<std::string> file = kube::kubeconfig_to_edit(env, "");
  if (!given.empty() || !file) {
    return chosen;
  }
  const Result<KubeconfigEditor> editor =
      KubeconfigEditor::parse(env.files.read(*file).value_or(""), *file);
  const std::string current = editor ? editor->current_context() : std::string();
  if (current.empty()) {
    return chosen;
  }
  std::string directory = directory_of(env, *file, *editor);
  if (!directory.empty()) {
    chosen.directory = std::move(directory);
  } else if (current != context_name(env.variables, chosen.directory)) {
    chosen.warning = "the current context " + current +
                     " is not a cluster of 'codeflare up'; using " + chosen.directory;
  }
  return chosen;
}

Task<Result<AddedContext>> add_context(Env env, NewContext context) {
  AddedContext added{.name = context.name};
  CO_TRY_ASSIGN(added.file,
                co_await run_blocking(env, [&] { return kube::kubeconfig_to_edit(env, ""); }));
  if (added.file == context.kubeconfig) {
    co_return AddedContext();
  }
  CO_TRY_ASSIGN(const Kubeconfig described, co_await run_blocking(env, [&] {
                  return read_config(env.files, context.kubeconfig);
                }));
  std::string file = added.file;
  CO_TRY(co_await kube::edit_kubeconfig(env, std::move(file), [&](KubeconfigEditor& editor) {
    return add(editor, described, context, added);
  }));
  co_return added;
}

Task<Result<void>> take_out_context(Env env, AddedContext context, std::string kubeconfig) {
  if (context.name.empty()) {
    co_return Result<void>();
  }
  CO_TRY_ASSIGN(const Kubeconfig described,
                co_await run_blocking(env, [&] { return read_config(env.files, kubeconfig); }));
  const std::string& authority = described.clusters.front().certificate_authority_data;
  std::string file = context.file;
  co_return co_await kube::edit_kubeconfig(env, std::move(file), [&](KubeconfigEditor& editor) {
    return take_out(editor, context, authority);
  });
}

}  // namespace codeflare::up
