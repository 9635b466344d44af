#pragma once

#include "base/env/file_system.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::node::testing {

// The files of another one, of which some cannot be opened for a while, as when a process has no
// descriptors left.
class FaultyFiles final : public FileSystem {
 public:
  explicit FaultyFiles(FileSystem& files) : files_(files) {}

  // By path: what is said when they shall be read, listed or locked.
  std::map<std::string, Error> faults{};
  // Removed trees, in this order.
  std::vector<std::string> removed{};

  Result<std::string> read(const std::string& path, std::size_t bytes_max) override {
    const auto fault = faults.find(path);
    return fault == faults.end() ? files_.read(path, bytes_max) : fail(fault->second);
  }
  using FileSystem::write;
  Result<void> write(const std::string& path, std::string_view content,
                     WriteOptions options) override {
    return files_.write(path, content, options);
  }
  Result<void> create(const std::string& path, std::uint32_t mode) override {
    return files_.create(path, mode);
  }
  Result<void> append(const std::string& path, std::string_view content) override {
    return files_.append(path, content);
  }
  Result<void> sync(const std::string& path) override { return files_.sync(path); }
  Result<void> remove(const std::string& path) override { return files_.remove(path); }
  Result<void> remove_all(const std::string& path) override {
    removed.push_back(path);
    return files_.remove_all(path);
  }
  Result<void> rename(const std::string& from, const std::string& to) override {
    return files_.rename(from, to);
  }
  Result<void> make_directories(const std::string& path, std::uint32_t mode) override {
    return files_.make_directories(path, mode);
  }
  Result<std::vector<std::string>> list(const std::string& path) override {
    const auto fault = faults.find(path);
    return fault == faults.end() ? files_.list(path) : fail(fault->second);
  }
  Result<FileInfo> info(const std::string& path) override { return files_.info(path); }
  bool exists(const std::string& path) override { return files_.exists(path); }
  Result<std::unique_ptr<FileLock>> lock(const std::string& path) override {
    const auto fault = faults.find(path);
    return fault == faults.end() ? files_.lock(path) : fail(fault->second);
  }

 private:
  FileSystem& files_;
};

}  // namespace codeflare::node::testing
