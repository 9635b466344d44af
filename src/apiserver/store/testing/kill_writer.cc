// Writes to a store with many writers at once until somebody kills it:
//   kill_writer DIRECTORY JOURNAL
// The journal gets a line "try NAME DATA" before each write and "ack NAME DATA REVISION" when it
// was acknowledged; DATA is "-" for a removal.

#include "apiserver/store/sqlite_log.h"
#include "apiserver/store/store.h"
#include "base/async/task_group.h"
#include "base/env/real_env.h"

#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <utility>

namespace codeflare::apiserver {
namespace {

constexpr int kWriters = 16;
constexpr int kKeysPerWriter = 4;

struct Journal {
  FileSystem& files;
  std::string path;

  void line(const std::string& text) const {
    CHECK(files.append(path, text + "\n").has_value(), "the journal can't be written");
  }
};

Task<void> write_forever(Env env, Store& store, Journal journal, std::string prefix) {
  CollectionId pods = store.collection("pods");
  while (true) {
    std::string name = prefix + "-" + std::to_string(env.random.below(kKeysPerWriter));
    std::string data = prefix + "." + std::to_string(env.random.next());
    Write write{.collection = pods, .name = name};
    if (ObjectPtr there = store.get(pods, "", name)) {
      write.op = env.random.below(5) == 0 ? Write::Op::remove : Write::Op::update;
      write.expected = there->revision();
    }
    if (write.op == Write::Op::remove) {
      data = "-";
    } else {
      write.text = R"({"metadata":{"name":")" + name + R"("},"data":")" + data + R"(","more":")" +
                   std::string(env.random.below(3000), 'x') + "\"}";
    }
    journal.line("try " + name + " " + data);
    Result<ObjectPtr> done = co_await store.commit(std::move(write));
    CHECK(done.has_value(), "a write failed");
    journal.line("ack " + name + " " + data + " " + std::to_string((*done)->revision()));
  }
}

Task<Result<void>> work(Env env, std::string directory, Journal journal) {
  CO_TRY_ASSIGN(std::unique_ptr<Log> log,
                open_sqlite_log(env.files, {.directory = std::move(directory),
                                            .backlog_bytes_max = 256 << 10}));
  MetricsRegistry metrics;
  CO_TRY_ASSIGN(std::unique_ptr<Store> store,
                co_await Store::open(env, std::move(log), {}, Logger(), metrics));
  TaskGroup writers(env.loop);
  for (int writer = 0; writer < kWriters; ++writer) {
    writers.spawn(write_forever(env, *store, journal, "w" + std::to_string(writer)));
  }
  co_await writers.join();
  co_return Result<void>();
}

}  // namespace
}  // namespace codeflare::apiserver

int main(int argc, char** argv) {
  using namespace codeflare;
  std::span arguments(argv, static_cast<std::size_t>(argc));
  if (arguments.size() != 3) {
    std::fputs("usage: kill_writer DIRECTORY JOURNAL\n", stderr);
    return 2;
  }
  RealEnv real;
  auto result = run(real.env().loop,
                    apiserver::work(real.env(), arguments[1], {real.env().files, arguments[2]}));
  std::fputs(result && !*result ? result->error().to_string().c_str() : "ended", stderr);
  return 1;
}
