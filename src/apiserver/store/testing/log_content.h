#pragma once

#include "apiserver/store/sqlite_log.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace codeflare::apiserver {

inline std::unique_ptr<Log> open_log(FileSystem& files, SqliteLogOptions options) {
  auto log = open_sqlite_log(files, std::move(options));
  EXPECT_TRUE(log.has_value()) << log.error().to_string();
  return log ? *std::move(log) : nullptr;
}

inline Result<void> append(Log& log, std::vector<LogRecord> records, Revision revision) {
  return log.append(records, revision);
}

// The names of the databases in a data directory.
inline std::vector<std::string> store_files(FileSystem& files, const std::string& path) {
  std::vector<std::string> found;
  for (const std::string& name : files.list(path).value()) {
    if (name.starts_with("store-")) {
      found.push_back(name);
    }
  }
  return found;
}

// A record whose text says which revision it has.
inline LogRecord put_record(Revision created, Revision revision, std::string data = "") {
  return {.collection = "pods",
          .created = created,
          .revision = revision,
          .text = Bytes::from(R"({"metadata":{"name":"p)" + std::to_string(created) +
                              R"(","resourceVersion":")" + std::to_string(revision) +
                              R"("},"data":")" + std::move(data) + "\"}")};
}

inline LogRecord remove_record(Revision created) {
  return {.op = LogRecord::Op::remove, .created = created};
}

// "2@5 3@4 to 7": creations with their revisions, and the last one; or the error.
inline std::string content_of(Log& log) {
  std::string shown;
  Result<Revision> last = log.load([&](const LogRecord& record) -> Result<void> {
    shown += std::to_string(record.created) + "@" + std::to_string(record.revision) + " ";
    EXPECT_TRUE(record.text.view().contains("\"" + std::to_string(record.revision) + "\""));
    return {};
  });
  return last ? shown + "to " + std::to_string(*last) : last.error().to_string();
}

}  // namespace codeflare::apiserver
