#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace codeflare::node {

// The size of some directories, looked at piece by piece: their content is up to those who write
// there. Links are not followed, and what goes meanwhile counts as nothing.
class DiskScan {
 public:
  explicit DiskScan(std::vector<std::string> directories);
  ~DiskScan();
  DiskScan(const DiskScan&) = delete;
  DiskScan& operator=(const DiskScan&) = delete;

  // Looks at so many files more; true when there are none left. Blocking.
  bool go_on(std::size_t files);
  // Bytes on disk of each entry of that directory, with all that is below.
  const std::map<std::string, std::int64_t>& found(std::size_t directory) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace codeflare::node
