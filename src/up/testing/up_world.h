#pragma once

#include "base/check.h"
#include "base/env/sim_env.h"
#include "up/processes.h"
#include "up/state.h"

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace codeflare::up::testing {

// A simulated machine with processes that are files under /proc and nothing else.
struct UpWorld {
  SimEnv sim;
  Env env = sim.env();

  UpWorld() {
    sim.set_variable("HOME", "/home/me");
    write("/data/admin.kubeconfig", kubeconfig("codeflare", "https://127.0.0.1:6443", "Q0E="));
    put_process({77, 4242}, "self");
  }

  void write(const std::string& path, const std::string& text) {
    CHECK(env.files.make_directories(parent_path(path)).has_value(), "a directory in memory");
    CHECK(env.files.write(path, text).has_value(), "a file in memory");
  }
  std::string read(const std::string& path) { return env.files.read(path).value_or(""); }

  // Its name has what a parser stumbles over.
  void put_process(ProcessId process, std::string as = "", char state = 'S') {
    std::string text = std::to_string(process.pid) + " (code) flare) " + state;
    for (int i = 1; i < 19; ++i) {
      text += " " + std::to_string(i);
    }
    write("/proc/" + (as.empty() ? std::to_string(process.pid) : as) + "/stat",
          text + " " + std::to_string(process.began) + " 0 0\n");
  }
  void end_process(std::int64_t pid) {
    CHECK(env.files.remove_all("/proc/" + std::to_string(pid)).has_value(), "files in memory");
  }

  // A kubeconfig with one context and all that belongs to it, of the same name.
  static std::string kubeconfig(const std::string& name, const std::string& server,
                                const std::string& authority) {
    return "apiVersion: v1\nkind: Config\nclusters:\n- name: " + name + "\n  cluster: {server: '" +
           server + "', certificate-authority-data: " + authority + "}\nusers:\n- name: " + name +
           "\n  user: {token: t}\ncontexts:\n- name: " + name + "\n  context: {cluster: " + name +
           ", user: " + name + "}\ncurrent-context: " + name + "\n";
  }

  UpState state() const {
    return {.process = {},
            .since = env.clock.wall(),
            .ready_ms = 180,
            .version = "1.2",
            .server = "https://127.0.0.1:6443",
            .kubeconfig = "/data/admin.kubeconfig",
            .log = {},
            .context = {},
            .about = {"node codeflare-0: pods are processes"}};
  }
};

// Remembers who was asked to end, and does what the test says then.
struct FakeProcesses final : Processes {
  explicit FakeProcesses(FileSystem& all) : files(all) {}
  Result<void> ask_to_end(const ProcessId& process) override {
    if (!is_running(files, process)) {
      return fail(not_found("process is gone"));
    }
    asked.push_back(process);
    if (when_asked) {
      when_asked();
    }
    return {};
  }
  FileSystem& files;
  std::vector<ProcessId> asked{};
  std::function<void()> when_asked{};
};

}  // namespace codeflare::up::testing
