#pragma once

#include "apiserver/store/log.h"

#include <memory>
#include <string>
#include <vector>

namespace codeflare::sim {

// A log that lies: each append is done only when the next one comes.
class EarlyLog final : public apiserver::Log {
 public:
  explicit EarlyLog(std::unique_ptr<apiserver::Log> inner) : inner_(std::move(inner)) {}

  Result<apiserver::Revision> load(const Visitor& visitor) override {
    return inner_->load(visitor);
  }

  Result<void> append(std::span<const apiserver::LogRecord> records,
                      apiserver::Revision revision) override {
    Result<void> written = write_held();
    held_ = std::make_unique<Held>();
    held_->revision = revision;
    for (const apiserver::LogRecord& record : records) {
      held_->collections.push_back(std::make_unique<std::string>(record.collection));
      held_->records.push_back(record);
      held_->records.back().collection = *held_->collections.back();
    }
    return written;
  }

  Result<void> rebuild(std::span<const apiserver::LogRecord> objects,
                       apiserver::Revision revision) override {
    held_.reset();
    return inner_->rebuild(objects, revision);
  }

 private:
  struct Held {
    std::vector<std::unique_ptr<std::string>> collections;
    std::vector<apiserver::LogRecord> records;
    apiserver::Revision revision = 0;
  };

  Result<void> write_held() {
    return held_ ? inner_->append(held_->records, held_->revision) : Result<void>();
  }

  std::unique_ptr<apiserver::Log> inner_;
  std::unique_ptr<Held> held_;
};

}  // namespace codeflare::sim
