#include "platform/command_line.h"
#include "platform/names.h"
#include "platform/pod_parts.h"
#include "platform/repo_url.h"
#include "sdk/gang_job.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace codeflare::platform {

namespace {

constexpr std::string_view kPackages = "/codeflare/packages";
constexpr std::string_view kRepoSecret = "/codeflare/repo-secret";

// Words: REMOTE REF PATH TREE. Fetches one directory at one commit into /workdir, without history.
// Ends with a line "REASON: text", which becomes the message of the Run. The password goes from
// the mounted Secret to git by a credential helper, and into no file, argument or variable.
constexpr std::string_view kCheckout = R"sh(
remote=$1 ref=$2 path=$3 tree=$4 attempts=60
export GIT_TERMINAL_PROMPT=0 GIT_CONFIG_NOSYSTEM=1 LC_ALL=C HOME=/tmp
work=/workdir/.codeflare-checkout
helper='!f() { test "$1" = get || exit 0; printf "username=%s\npassword=%s\n" "$(cat /codeflare/repo-secret/user)" "$(cat /codeflare/repo-secret/pat)"; }; f'
# Only this server gets the password, wherever it sends us.
origin=https://none rest=${remote#*://}
case $remote in http://* | https://*) origin=${remote%%://*}://${rest%%/*} ;; esac
run_git() {
  if [ -f /codeflare/repo-secret/pat ]; then
    git -c credential.helper= -c credential."$origin".helper="$helper" "$@"
  else
    git -c credential.helper= "$@"
  fi 2>>"$work/errors"
}
reason_of() {
  if grep -qiE 'authentication failed|could not read (username|password)|permission denied|access denied|error: 40[13]' "$work/errors"; then echo AccessDenied
  elif grep -qiE "find remote ref|not found|does not appear to be a git repository|error: 404|not our ref|unadvertised object" "$work/errors"; then echo NotFound
  elif grep -qiE 'could not resolve|failed to connect|connection|timed out|unable to access|unexpectedly' "$work/errors"; then echo Network
  else echo CheckoutFailed; fi
}
choose_ref() {
  [ -n "$tree" ] || return 0
  run_git ls-remote --heads --tags -- "$remote" >"$work/refs" || return 1
  ref=$tree
  while ! cut -f2 "$work/refs" | grep -qxF -e "refs/heads/$ref" -e "refs/tags/$ref"; do
    case $ref in */*) ref=${ref%/*} ;; *) break ;; esac
  done
  path=${tree#"$ref"} path=${path#/}
}
fetch() {
  rm -rf "$work" && mkdir -p "$work/repo" && : >"$work/errors" && choose_ref || return 1
  run_git init -q "$work/repo" || return 1
  run_git -C "$work/repo" remote add origin "$remote" || return 1
  git -C "$work/repo" config remote.origin.promisor true
  git -C "$work/repo" config remote.origin.partialclonefilter blob:none
  if [ -n "$path" ]; then run_git -C "$work/repo" sparse-checkout set --cone "$path" || return 1; fi
  run_git -C "$work/repo" fetch -q --depth 1 --filter=blob:none origin "${ref:-HEAD}" || return 1
  run_git -C "$work/repo" checkout -q FETCH_HEAD
}
until fetch; do
  reason=$(reason_of) attempts=$((attempts - 1))
  line=$(grep -iE 'fatal|error' "$work/errors" | tail -n 1)
  case $reason in AccessDenied | Network) [ "$attempts" -gt 0 ] || { echo "$reason: $line" >&2; exit 1; } ;;
  *) echo "$reason: $line" >&2; exit 1 ;; esac
  echo "$reason: $line; next attempt in 10 s" >&2
  sleep 10
done
if [ -n "$path" ] && [ ! -d "$work/repo/$path" ]; then
  echo "NoSuchPath: the repository has no directory $path at ${ref:-its default branch}" >&2
  exit 1
fi
rm -rf "$work/repo/.git"
cd "$work/repo/$path" && for each in * .[!.]* ..?*; do
  [ ! -e "$each" ] && [ ! -L "$each" ] || mv -- "$each" /workdir/ || exit 1
done
cd /workdir && rm -rf "$work" && echo "checked out $remote ${ref:-HEAD} $path"
)sh";

// Words: requirements. Packages that the image has already are not fetched again, so that an image
// with all packages needs no network.
constexpr std::string_view kInstall = R"py(import os, sys
from importlib.metadata import PackageNotFoundError, version
from pip._vendor.packaging.requirements import InvalidRequirement, Requirement
def missing(text):
    try:
        wanted = Requirement(text)
        plain = not (wanted.url or wanted.extras or wanted.marker)
        return not (plain and wanted.specifier.contains(version(wanted.name), prereleases=True))
    except (InvalidRequirement, PackageNotFoundError):
        return True
words = [word for word in sys.argv[1:] if missing(word)]
print("packages to install:", ", ".join(words) or "none", flush=True)
pip = [sys.executable, "-m", "pip", "install", "--no-input", "--disable-pip-version-check", "--no-cache-dir"]
if words:
    os.execv(sys.executable, [*pip, "--target", "/codeflare/packages", "--", *words])
)py";

model::List<std::string> literal(const std::vector<std::string>& words) {
  model::List<std::string> literals;
  for (const std::string& word : words) {
    literals.push_back(sdk::literal_word(word));
  }
  return literals;
}

model::VolumeMount mount(std::string volume, std::string_view path) {
  model::VolumeMount mount;
  mount.name = std::move(volume);
  mount.mount_path = path;
  return mount;
}

model::Volume empty_volume(std::string name) {
  model::Volume volume;
  volume.name = std::move(name);
  volume.empty_dir.emplace();
  return volume;
}

void add_files(const model::Application& application, PodParts& parts, Problems& problems) {
  model::ConfigMap files;
  files.metadata.name = parts.name + "-code";
  for (const model::CodeFile& file : application.spec.code) {
    if (!files.data.emplace(file.name, file.source).second) {
      problems.add({.object = name_of(application),
                    .field = "spec.code",
                    .text = "file " + file.name + " is given twice"});
    }
  }
  model::Volume volume;
  volume.name = "code";
  volume.config_map.emplace();
  volume.config_map->name = files.metadata.name;
  parts.volumes.push_back(std::move(volume));
  parts.mounts.push_back(mount("code", kWorkdir));
  parts.config_maps.push_back(std::move(files));
  parts.workdir = kWorkdir;
}

// Without a Secret of its own, an Application uses the copy of that of a PlatformRepoSecret, which
// may come while the checkout is being tried.
std::optional<std::string> secret_of_checkout(const model::ApplicationSpec& spec,
                                              const RepoUrl& repo, const PodParts& parts) {
  if (spec.repo_secret) {
    return spec.repo_secret->name;
  }
  return repo.remote.starts_with("http") ? std::optional(repo_secret_copy(parts.name))
                                         : std::nullopt;
}

void add_checkout(const model::Application& application, const std::string& git_image,
                  PodParts& parts, Problems& problems) {
  const model::ApplicationSpec& spec = application.spec;
  const Result<RepoUrl> repo = parse_repo(spec.repo, spec.ref, spec.path);
  if (!repo) {
    problems.add(
        {.object = name_of(application), .field = "spec.repo", .text = repo.error().message});
    return;
  }
  model::Container checkout;
  checkout.name = "checkout";
  checkout.image = git_image;
  checkout.command = literal(
      {"sh", "-c", std::string(kCheckout), "sh", repo->remote, repo->ref, repo->path, repo->tree});
  checkout.volume_mounts.push_back(mount("code", kWorkdir));
  if (const std::optional<std::string> name = secret_of_checkout(spec, *repo, parts)) {
    model::Volume secret;
    secret.name = "repo-secret";
    secret.secret.emplace();
    secret.secret->secret_name = *name;
    if (!spec.repo_secret) {
      secret.secret->optional = true;
    }
    parts.volumes.push_back(std::move(secret));
    checkout.volume_mounts.push_back(mount("repo-secret", kRepoSecret));
    checkout.volume_mounts.back().read_only = true;
  }
  parts.volumes.push_back(empty_volume("code"));
  parts.mounts.push_back(mount("code", kWorkdir));
  parts.init_containers.push_back(std::move(checkout));
  parts.workdir = kWorkdir;
}

}  // namespace

void add_code(const model::Application& application, const std::string& git_image, PodParts& parts,
              Problems& problems) {
  const model::ApplicationSpec& spec = application.spec;
  if (!spec.repo.empty() && !spec.code.empty()) {
    problems.add({.object = name_of(application),
                  .field = "spec.repo",
                  .text = "set repo or code, not both"});
  } else if (!spec.code.empty()) {
    add_files(application, parts, problems);
  } else if (!spec.repo.empty()) {
    add_checkout(application, git_image, parts, problems);
  }
}

void add_requirements(const model::Application& application, PodParts& parts) {
  const model::ApplicationSpec& spec = application.spec;
  if (spec.requirements.empty()) {
    return;
  }
  std::vector<std::string> words = {"python3", "-c", std::string(kInstall)};
  words.insert(words.end(), spec.requirements.begin(), spec.requirements.end());
  model::Container pip;
  pip.name = "requirements";
  pip.image = spec.image;
  pip.command = literal(words);
  pip.volume_mounts.push_back(mount("packages", kPackages));
  parts.init_containers.push_back(std::move(pip));
  parts.volumes.push_back(empty_volume("packages"));
  parts.mounts.push_back(mount("packages", kPackages));
  std::string& path = parts.env["PYTHONPATH"];
  path = std::string(kPackages) + (path.empty() ? "" : ":" + path);
}

}  // namespace codeflare::platform
