#include "base/async/when.h"
#include "base/env/real_children.h"
#include "base/env/real_env.h"
#include "s3/connection.h"
#include "s3/copy.h"
#include "s3/data_program.h"
#include "s3/data_settings.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <memory>
#include <span>
#include <unistd.h>
#include <utility>

namespace codeflare::s3 {

namespace {

constexpr int kUsage = 2;

int report(const Error& error) {
  std::fprintf(stderr, "%s: %s\n", std::string(reason_of(error)).c_str(), error.message.c_str());
  return 1;
}

// Blocks when nobody reads, as it would block the program itself.
void write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno != EINTR && errno != EAGAIN) {
      return;
    }
    text.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
  }
}

Task<bool> pump(Child& child, Child::Stream stream) {
  for (;;) {
    const Result<std::string> text = co_await child.read(stream);
    if (!text || text->empty()) {
      co_return true;
    }
    write_all(stream == Child::Stream::output ? STDOUT_FILENO : STDERR_FILENO, *text);
  }
}

Task<Result<ChildExit>> follow(Child& child) {
  co_await when_both(pump(child, Child::Stream::output), pump(child, Child::Stream::error_output));
  co_return co_await child.wait();
}

// The exit code of the command; our own end is its end.
Result<int> run_command(RealEnv& world, const std::vector<std::string>& words) {
  Env env = world.env();
  std::unique_ptr<Children> children = make_real_children(env.loop, {.reap_orphans = true});
  TRY_ASSIGN(
      std::unique_ptr<Child> child,
      children->start({.program = words[0],
                       .arguments = std::vector<std::string>(words.begin() + 1, words.end())}));
  Child* const running = child.get();
  bool over = false;
  world.on_signals({SIGTERM, SIGINT}, [running, &over](int number) {
    if (!over) {
      running->signal(number);
    }
  });
  std::optional<Result<ChildExit>> end = run(env.loop, follow(*child));
  over = true;
  world.on_signals({SIGTERM, SIGINT}, [](int number) { ::_exit(128 + number); });
  if (!end) {
    return fail(internal_error("the command could not be waited for"));
  }
  TRY_ASSIGN(const ChildExit exit, *std::move(end));
  return exit.shell_code();
}

Result<void> copy(RealEnv& world, const DataSettings& settings) {
  Env env = world.env();
  TRY_ASSIGN(FileHandles * handles, handles_of(env.files));
  TRY_ASSIGN(const Connection store, connect(env,
                                             {.endpoint = settings.endpoint,
                                              .bucket = settings.bucket,
                                              .region = settings.region,
                                              .keys_directory = settings.keys_directory},
                                             "codeflare-data"));
  const bool get = settings.verb == DataSettings::Verb::get;
  CopyOptions options{.directory = settings.directory,
                      .prefix = settings.prefix,
                      .state_file = settings.state_file,
                      .writable = !settings.state_file.empty()};
  const Instant begun = env.clock.now();
  std::optional<Result<CopyCount>> end =
      run(env.loop, get ? copy_in(*store.client, *handles, std::move(options))
                        : copy_back(*store.client, *handles, std::move(options)));
  if (!end) {
    return fail(internal_error("the copy could not be waited for"));
  }
  TRY_ASSIGN(const CopyCount count, *std::move(end));
  const double seconds = std::chrono::duration<double>(env.clock.now() - begun).count();
  std::printf("copied %llu %s, %llu bytes %s bucket %s in %.1f s\n",
              static_cast<unsigned long long>(count.objects),
              count.objects == 1 ? "object" : "objects",
              static_cast<unsigned long long>(count.bytes), get ? "from" : "to",
              settings.bucket.c_str(), seconds);
  if (count.skipped > 0) {
    std::printf("skipped %llu links and special files\n",
                static_cast<unsigned long long>(count.skipped));
  }
  return {};
}

// Piece by piece: the program is large.
Result<void> install(Env env, const std::string& directory) {
  TRY_ASSIGN(FileHandles * handles, handles_of(env.files));
  TRY(env.files.make_directories(directory));
  const std::string path = join_path(directory, "codeflare");
  if (env.files.exists(path)) {
    TRY(env.files.remove(path));
  }
  TRY_ASSIGN(std::unique_ptr<FileHandle> from, handles->open_to_read("/proc/self/exe"));
  TRY_ASSIGN(std::unique_ptr<FileHandle> to, handles->open_new(path, 0755));
  std::string piece(256u << 10, '\0');
  for (std::uint64_t at = 0;;) {
    TRY_ASSIGN(const std::size_t count, from->read_at(at, std::span(piece)));
    if (count == 0) {
      return {};
    }
    TRY(to->write_at(at, std::string_view(piece).substr(0, count)));
    at += count;
  }
}

}  // namespace

int data_program(int argc, char** argv) {
  const Result<DataSettings> settings =
      read_data_settings(std::vector<std::string>(argv, argv + argc));
  if (!settings) {
    std::fprintf(stderr, "error: %s\n", settings.error().message.c_str());
    return kUsage;
  }
  if (settings->verb == DataSettings::Verb::help) {
    std::fputs(data_usage().c_str(), stdout);
    return 0;
  }
  RealEnv world({.blocking_threads = 4});
  if (settings->verb == DataSettings::Verb::install) {
    const Result<void> installed = install(world.env(), settings->directory);
    return installed ? 0 : report(installed.error());
  }
  if (!settings->command.empty()) {
    const Result<int> code = run_command(world, settings->command);
    if (!code) {
      return report(code.error());
    }
    if (*code != 0) {
      return *code;
    }
  }
  const Result<void> copied = copy(world, *settings);
  return copied ? 0 : report(copied.error());
}

}  // namespace codeflare::s3
