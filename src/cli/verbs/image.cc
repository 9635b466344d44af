#include "cli/verbs/image.h"

#include "base/env/real_env.h"
#include "cli/verbs/internal/local_cluster.h"
#include "cli/verbs/internal/session_flags.h"
#include "cli/views/table.h"
#include "up/pip_environment.h"
#include "up/processes.h"
#include "up/state.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace codeflare::cli {

namespace {

using Run = std::function<int(Env, Console&, const std::string& directory)>;

int with_directory(const std::string& given, const Run& run) {
  RealEnv world;
  const std::unique_ptr<Console> console = process_console();
  const Result<std::string> directory = internal::local_directory(world.env(), *console, given);
  return directory ? run(world.env(), *console, *directory)
                   : report_usage(*console, directory.error().message);
}

// A directory that was named has to be there, for verbs that put nothing into it.
int with_existing(const std::string& given, const Run& run) {
  return with_directory(given, [&](Env env, Console& console, const std::string& directory) {
    return given.empty() || env.files.exists(directory)
               ? run(env, console, directory)
               : report(console, not_found("data directory not found: " + directory));
  });
}

struct Flags {
  std::string directory;
  up::ImageFlags image;
  up::PipEnvironment pip;
  std::string archive;
  std::vector<std::string> names;
  std::string output;
};

int load_archive(const Flags& flags) {
  return with_directory(flags.directory, [&](Env env, Console& console,
                                             const std::string& directory) {
    const Result<std::string> absolute = up::absolute_path(directory);
    const std::unique_ptr<up::UnpackPlace> place = up::real_unpack_place();
    return absolute
               ? run_image_load(env, console, *place, *absolute, flags.archive, flags.image.name)
               : report(console, absolute.error());
  });
}

// Pods see a path from the root.
Result<void> make_absolute(up::ImageFlags& image) {
  for (std::string* path : {&image.python_venv, &image.rootfs}) {
    if (!path->empty()) {
      TRY_ASSIGN(*path, up::absolute_path(*path));
    }
  }
  for (std::string& path : image.directories) {
    TRY_ASSIGN(path, up::absolute_path(path));
  }
  return {};
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : " ") + word;
  }
  return text;
}

// Installs what --pip names; the environment is that of the image.
Result<void> install(Env env, Console& console, const std::string& directory,
                     const up::PipEnvironment& pip, up::ImageFlags& image) {
  if (pip.requirements.empty()) {
    return {};
  }
  TRY_ASSIGN(std::string absolute, up::absolute_path(directory));
  if (console.err_is_terminal()) {
    console.err("installing " + joined(pip.requirements) + "\n");
  }
  std::optional<Result<std::string>> made =
      run(env.loop, up::make_pip_environment(env, std::move(absolute), pip));
  if (!made || !*made) {
    return fail(made ? std::move(*made).error() : internal_error("pip did not end"));
  }
  image.python_venv = **std::move(made);
  return {};
}

int add(const Flags& flags) {
  return with_directory(flags.directory, [&](Env env, Console& console,
                                             const std::string& directory) {
    up::ImageFlags image = flags.image;
    Result<void> ready = make_absolute(image);
    if (ready) {
      ready = install(env, console, directory, flags.pip, image);
    }
    return ready ? run_image_add(env, console, directory, image) : report(console, ready.error());
  });
}

void add_add(CLI::App& image, Chosen& chosen, const std::shared_ptr<Flags>& own) {
  CLI::App* verb = image.add_subcommand("add", "Map an image name to local files");
  verb->fallthrough();
  verb->add_option("NAME", own->image.name, "image name; * matches any text: rayproject/ray:*")
      ->required();
  auto* venv = verb->add_option("--python-venv", own->image.python_venv,
                                "Python virtual environment of the image")
                   ->type_name("DIR");
  auto* root =
      verb->add_option("--rootfs", own->image.rootfs, "unpacked root file system of the image")
          ->type_name("DIR");
  auto* directory = verb->add_option("--directory", own->image.directories,
                                     "directory of this machine that containers see, read-only, at "
                                     "the same path; may be repeated")
                        ->allow_extra_args(false)
                        ->type_name("DIR");
  auto* pip = verb->add_option("--pip", own->pip.requirements,
                               "requirements for pip: makes a virtual environment with them")
                  ->type_name("REQUIREMENT");
  verb->add_option("--python", own->pip.python, "Python of that environment (default python3)")
      ->needs(pip);
  venv->excludes(root);
  pip->excludes(root)->excludes(venv);
  verb->add_option("--entrypoint", own->image.entrypoint,
                   "entry point: words, or a list such as [\"python3\", \"a b.py\"]")
      ->type_name("WORDS");
  verb->add_option("--args", own->image.args,
                   "arguments of the entry point, unless the container has its own")
      ->type_name("WORDS");
  verb->add_option("--env", own->image.env,
                   "environment variable, unless the container sets it; may be repeated")
      ->allow_extra_args(false)
      ->type_name("NAME=VALUE");
  verb->add_option("--workdir", own->image.workdir,
                   "working directory, unless the container has its own")
      ->type_name("DIR");
  verb->footer(
      "Example:\n  codeflare image add 'rayproject/ray:*' --pip 'ray[default]==2.60.0'\n"
      "  codeflare image add 'rayproject/ray:*' --python-venv ~/ray-venv");
  verb->callback([&chosen, own, venv, root, directory, pip] {
    if (venv->empty() && pip->empty() && root->empty() && directory->empty() &&
        own->image.entrypoint.empty() && own->image.args.empty()) {
      throw CLI::ValidationError(
          "image add",
          "give at least one of --pip, --python-venv, --rootfs, --directory, --entrypoint, --args");
    }
    chosen = [own] { return add(*own); };
  });
}

void add_options(CLI::App& image, Chosen& chosen) {
  auto own = std::make_shared<Flags>();
  image.require_subcommand(1);
  image
      .add_option("--data-dir", own->directory,
                  "data directory of the cluster (default $XDG_STATE_HOME/codeflare/up)")
      ->type_name("DIR");
  add_add(image, chosen, own);

  CLI::App* load =
      image.add_subcommand("load", "Unpack the images of an archive (docker save, OCI)");
  load->fallthrough();
  load->add_option("FILE", own->archive, "image archive in Docker's or OCI's form")
      ->type_name("")
      ->required();
  load->add_option("--name", own->image.name, "name of the image instead of those in the archive")
      ->type_name("NAME:TAG");
  load->footer("Example:\n  docker save tool:1.2 -o tool.tar && codeflare image load tool.tar");
  load->callback([&chosen, own] { chosen = [own] { return load_archive(*own); }; });

  CLI::App* list = image.add_subcommand("list", "List image mappings; the first match counts");
  list->fallthrough();
  list->add_option("-o,--output", own->output, "output format: json")
      ->check(CLI::IsMember({"json"}))
      ->type_name("FORM");
  list->footer("Example:\n  codeflare image list -o json");
  list->callback([&chosen, own] {
    chosen = [own] {
      return with_existing(own->directory, [&](Env env, Console& console, const std::string& at) {
        return run_image_list(env, console, at, own->output == "json");
      });
    };
  });

  CLI::App* remove = image.add_subcommand("remove", "Remove image mappings");
  remove->fallthrough();
  remove->add_option("NAME", own->names, "image name as it was added")->required();
  remove->footer("Example:\n  codeflare image remove 'rayproject/ray:*'");
  remove->callback([&chosen, own] {
    chosen = [own] {
      return with_existing(own->directory, [&](Env env, Console& console, const std::string& at) {
        return run_image_remove(env, console, at, own->names);
      });
    };
  });
}

}  // namespace

constinit const Verb kImage = {.word = "image",
                               .about = "Map image names to local files",
                               .examples = "codeflare image list",
                               .add = add_options};

int run_image_add(Env env, Console& console, const std::string& directory,
                  const up::ImageFlags& flags) {
  Result<node::ImageEntry> entry = up::image_entry(env.files, flags);
  if (!entry) {
    return report_usage(console, entry.error().message);
  }
  const std::string what = up::image_text(*entry);
  const Result<bool> replaced = up::put_image(env.files, directory, *std::move(entry));
  if (!replaced) {
    return report(console, replaced.error());
  }
  console.out("image " + flags.name + (*replaced ? " now maps to " : " maps to ") + what + "\n");
  return kDone;
}

int run_image_load(Env env, Console& console, up::UnpackPlace& place, const std::string& directory,
                   const std::string& archive, const std::string& name) {
  const Result<std::vector<up::LoadedImage>> images =
      up::load_images(env.files, place, directory, archive, name);
  if (!images) {
    const ErrorCode code = images.error().code;
    const bool wrong_file = code == ErrorCode::not_found || code == ErrorCode::invalid_argument;
    return wrong_file ? report_file(console, images.error()) : report(console, images.error());
  }
  for (const up::LoadedImage& image : *images) {
    for (const std::string& tag : image.names) {
      console.out("image " + tag + (image.unpacked ? " loaded: " : " was loaded before: ") +
                  std::to_string(image.files) + " files in " + image.root + "\n");
    }
  }
  return kDone;
}

int run_image_list(Env env, Console& console, const std::string& directory, bool json) {
  const Result<node::ImageTable> table = up::read_images(env.files, directory);
  if (!table) {
    return report(console, table.error());
  }
  if (json) {
    console.out(table->to_json());
    return kDone;
  }
  if (table->entries().empty()) {
    console.err("no image mappings in " + up::image_table_path(directory) +
                ": containers run this machine's programs and need a command\n");
    return kDone;
  }
  Table lines({"IMAGE", "MAPS TO", "RUNS"});
  for (const node::ImageEntry& entry : table->entries()) {
    const std::string runs = joined(entry.entrypoint) +
                             (entry.entrypoint.empty() || entry.args.empty() ? "" : " ") +
                             joined(entry.args);
    lines.add_row({entry.image, up::image_text(entry), runs.empty() ? "-" : runs});
  }
  console.out(lines.to_text());
  return kDone;
}

int run_image_remove(Env env, Console& console, const std::string& directory,
                     const std::vector<std::string>& names) {
  const Result<up::RemovedImages> images = up::remove_images(env.files, directory, names);
  if (!images) {
    return report(console, images.error());
  }
  std::string said;
  for (const std::string& name : images->removed) {
    said += "image " + name + " removed\n";
  }
  console.out(said);
  int code = kDone;
  for (const std::string& name : images->missing) {
    code = report(console,
                  not_found("image \"" + name + "\" is not in " + up::image_table_path(directory)));
  }
  return code;
}

}  // namespace codeflare::cli
