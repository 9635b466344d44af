#pragma once

#include "base/async/task_group.h"
#include "base/async/wait_list.h"
#include "net/testing/memory_stream.h"
#include "node/stream/pod_streams.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace codeflare::node::testing {

// A program as it sees itself. Shared by it and by whoever streams.
struct FakeProgram {
  ExecOptions options{};
  std::vector<TerminalSize> sizes{};
  bool left = false;  // nobody streams any more
  WaitList changed{};

  net::ByteStream& input() { return input_.near(); }
  net::ByteStream& output() { return output_.near(); }
  net::ByteStream& error_output() { return error_output_.near(); }

 private:
  friend class FakePodStreams;
  net::testing::MemoryPair input_{};
  net::testing::MemoryPair output_{};
  net::testing::MemoryPair error_output_{};
  std::optional<int> exit_code_{};
};

// Ways into pods whose programs and servers are coroutines of the test. For tests only.
class FakePodStreams final : public PodStreams {
 public:
  explicit FakePodStreams(Loop& loop) : group_(loop) {}

  using Program = std::function<Task<int>(FakeProgram&)>;
  using Server = std::function<Task<void>(net::ByteStream&)>;
  Program program;                          // absent: nothing can be started
  std::map<std::uint16_t, Server> servers;  // by port
  std::shared_ptr<FakeProgram> last;

  Task<Result<std::unique_ptr<StreamedProcess>>> exec(std::string, ExecOptions options) override {
    co_return begin(std::move(options));
  }
  Task<Result<std::unique_ptr<StreamedProcess>>> attach(std::string,
                                                        std::string container) override {
    co_return begin({.container = std::move(container)});
  }
  Task<Result<std::unique_ptr<net::ByteStream>>> dial(std::string, std::uint16_t port) override {
    const auto found = servers.find(port);
    if (found == servers.end()) {
      co_return fail(unavailable("connect: Connection refused"));
    }
    auto pair = std::make_shared<net::testing::MemoryPair>();
    group_.spawn(serve(found->second, pair));
    co_return std::make_unique<Dialled>(std::move(pair));
  }

  Task<void> close() { return group_.close(); }

 private:
  class Process final : public StreamedProcess {
   public:
    explicit Process(std::shared_ptr<FakeProgram> program) : program_(std::move(program)) {}
    ~Process() override {
      program_->left = true;
      program_->changed.notify_all();
    }
    net::ByteStream* input() override { return &program_->input_.far(); }
    net::ByteStream* output() override { return &program_->output_.far(); }
    net::ByteStream* error_output() override {
      return program_->options.terminal ? nullptr : &program_->error_output_.far();
    }
    Result<void> resize(TerminalSize size) override {
      program_->sizes.push_back(size);
      program_->changed.notify_all();
      return {};
    }
    Task<Result<int>> wait() override {
      while (!program_->exit_code_) {
        CO_TRY(co_await program_->changed.wait());
      }
      co_return *program_->exit_code_;
    }

   private:
    std::shared_ptr<FakeProgram> program_;
  };

  class Dialled final : public net::ByteStream {
   public:
    explicit Dialled(std::shared_ptr<net::testing::MemoryPair> pair) : pair_(std::move(pair)) {}
    Task<Result<std::string>> read() override { return pair_->far().read(); }
    Task<Result<void>> write(std::string bytes) override {
      return pair_->far().write(std::move(bytes));
    }
    Task<Result<void>> finish() override { return pair_->far().finish(); }

   private:
    std::shared_ptr<net::testing::MemoryPair> pair_;
  };

  Result<std::unique_ptr<StreamedProcess>> begin(ExecOptions options) {
    if (!program) {
      return fail(failed_precondition("exec: \"" + options.command.front() + "\": not found"));
    }
    last = std::make_shared<FakeProgram>();
    last->options = std::move(options);
    group_.spawn(play(program, last));
    return std::make_unique<Process>(last);
  }
  static Task<void> play(Program program, std::shared_ptr<FakeProgram> self) {
    self->exit_code_ = co_await program(*self);
    // The kernel closes what it had open, unless somebody else has it too.
    if (*self->exit_code_ < kLeavesOutputOpen) {
      static_cast<void>(co_await self->output().finish());
      static_cast<void>(co_await self->error_output().finish());
    }
    self->changed.notify_all();
  }
  static Task<void> serve(Server server, std::shared_ptr<net::testing::MemoryPair> pair) {
    co_await server(pair->near());
    static_cast<void>(co_await pair->near().finish());
  }

  static constexpr int kLeavesOutputOpen = 200;
  TaskGroup group_;
};

}  // namespace codeflare::node::testing
