#pragma once

#include "base/posix.h"
#include "node/keeper/internal/real_container.h"
#include "node/keeper/internal/real_log_file.h"
#include "node/keeper/internal/real_process_tree.h"
#include "node/keeper/internal/real_sandbox.h"
#include "node/wire/keeper_protocol.h"
#include "node/wire/log_lines.h"

#include <memory>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace codeflare::node::internal {

// PID 1 of a pod: starts its containers, reads what they write, keeps what became of them, and
// answers whoever connects. One thread, one poll().
class Keeper {
 public:
  Keeper(KeeperView view, SandboxSpec sandbox, FileDescriptor listener);
  ~Keeper();

  // Until somebody asks for shutdown and everything has ended. Returns the exit code.
  int run();

 private:
  struct Run;
  struct Client;

  void load_state();
  bool save_state() const;

  void accept_client();
  void read_client(Client& client);
  void answer(Client& client, std::string_view text);
  std::string carry_out(const KeeperRequest& request);
  // For those who ask for descriptors: exec, attach, dial.
  void give(Client& client, std::string_view text);
  Result<void> try_give(Client& client, std::string_view text);
  std::string start(const ContainerSpec& spec);
  std::string send_signal(const KeeperRequest& request);
  // All that the container runs; its init too when that does not answer.
  void kill_run(Run& run);
  void tell_all();
  static void send_to(Client& client, const std::string& bytes);

  // False when nothing is there now, or ever.
  static bool read_output(Run& run, FileDescriptor& pipe, LogLines& lines);
  bool read_report(Run& run);
  // When something is there; all of it.
  static void read_control(Run& run);
  void reap();
  bool looks_at_memory() const;
  // How long to wait at most before limits and inits are looked at, in milliseconds; -1: none.
  int patience() const;
  void keep_limits();
  // Counts what a run has in memory, in a process of its own: the kernel may let it wait for long.
  static void begin_to_count(Run& run, const ProcessTable& processes, std::int64_t files);
  void judge_count(Run& run);
  // Inits that were ordered to kill everything and have not: a start may hang in the kernel or on
  // somebody's file system, and hears nothing there.
  void kill_silent_inits();
  // Plain processes that an init left when it was killed.
  void kill_orphans();
  void finish(Run& run, int init_status);
  RunRecord* record_of(const Run& run);

  KeeperView view_;
  SandboxSpec sandbox_;
  FileDescriptor listener_;
  FileDescriptor signals_;
  KeeperState state_;
  bool changed_ = false;
  std::int64_t looked_at_memory_ = 0;
  bool ending_ = false;
  std::vector<std::unique_ptr<Run>> runs_;
  std::vector<std::unique_ptr<Client>> clients_;
};

}  // namespace codeflare::node::internal
