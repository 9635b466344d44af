#include "apiserver/store/testing/store_world.h"

#include "base/async/sleep.h"

#include <algorithm>

namespace codeflare::apiserver {

namespace {

Task<void> let_others_run() {
  CHECK((co_await sleep_for(std::chrono::milliseconds(20))).has_value());
}

}  // namespace

StoreWorld::StoreWorld(Store::Options options, SimEnv::Options sim_options)
    : StoreWorld(nullptr, options, sim_options) {}

StoreWorld::StoreWorld(LogFactory open_log, Store::Options options, SimEnv::Options sim_options)
    : sim(sim_options),
      blocking(sim.env().blocking),
      tasks(sim.env().loop),
      open_log_(std::move(open_log)),
      options_(options) {
  open();
}

StoreWorld::~StoreWorld() {
  close();
}

Env StoreWorld::env() {
  Env env = sim.env();
  return {env.loop, env.clock, env.random, env.files, env.launcher, env.variables, blocking};
}

void StoreWorld::open() {
  std::unique_ptr<Log> opened_log = open_log_ ? open_log_() : open_memory_log(disk);
  auto opened = wait(
      Store::open(env(), std::move(opened_log), options_, log.logger(sim.env().clock), metrics));
  CHECK(opened.has_value(), "the store does not open");
  store_ = *std::move(opened);
}

void StoreWorld::close() {
  blocking.release();
  wait(store_->close());
  wait(tasks.join());
}

void StoreWorld::crash_and_reopen() {
  disk->crash();
  reopen();
}

void StoreWorld::reopen() {
  close();
  open();
}

void StoreWorld::settle_loop() {
  wait(let_others_run());
}

Write StoreWorld::creation(std::string_view resource, std::string name, std::string data) {
  std::string text = object_text(name, data);
  std::size_t slash = name.find('/');
  std::string ns = slash == name.npos ? "" : name.substr(0, slash);
  return {.op = Write::Op::create,
          .collection = id(resource),
          .ns = std::move(ns),
          .name = name.substr(slash + 1),
          .text = std::move(text)};
}

Write StoreWorld::update(const ObjectPtr& read, std::string data) {
  std::string name = (read->ns().empty() ? "" : std::string(read->ns()) + "/");
  name += read->name();
  return {.op = Write::Op::update,
          .collection = read->collection(),
          .ns = std::string(read->ns()),
          .name = std::string(read->name()),
          .text = object_text(name, data),
          .expected = read->revision()};
}

Write StoreWorld::removal(const ObjectPtr& read) {
  return {.op = Write::Op::remove,
          .collection = read->collection(),
          .ns = std::string(read->ns()),
          .name = std::string(read->name()),
          .expected = read->revision()};
}

ObjectPtr StoreWorld::create(std::string_view resource, std::string name, std::string data) {
  Result<ObjectPtr> object = commit(creation(resource, std::move(name), std::move(data)));
  CHECK(object.has_value(), "the object was not created");
  return *std::move(object);
}

std::string StoreWorld::list(std::string_view resource, Store::Range range) {
  std::string shown;
  auto seen = store_->visit(id(resource), range, [&](const ObjectPtr& object) {
    shown += shown.empty() ? "" : " ";
    shown += object->ns().empty() ? "" : std::string(object->ns()) + "/";
    shown += std::string(object->name()) + "@" + std::to_string(object->revision());
    return true;
  });
  return seen ? shown : seen.error().to_string();
}

std::string object_text(std::string_view name, std::string_view data) {
  std::size_t slash = name.find('/');
  std::string ns;
  if (slash != name.npos) {
    ns = ",\"namespace\":\"" + std::string(name.substr(0, slash)) + "\"";
    name.remove_prefix(slash + 1);
  }
  return "{\"metadata\":{\"name\":\"" + std::string(name) + "\"" + ns + ",\"uid\":\"uid-" +
         std::string(name) + "\"},\"data\":\"" + std::string(data) + "\"}";
}

}  // namespace codeflare::apiserver
