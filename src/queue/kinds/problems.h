#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace codeflare::queue {

// Problems of an AppWrapper, each as "field: what". There may be many: beyond a hundred they are
// only counted.
class Problems {
 public:
  void add(std::string_view field, std::string_view what);
  void add_line(std::string line);  // "field: what"

  bool empty() const { return found_.empty(); }
  const std::vector<std::string>& found() const { return found_; }
  // The first one, and how many more there are.
  std::string summary() const;

 private:
  std::vector<std::string> found_;
  std::size_t left_out_ = 0;
};

// "/spec/containers/0/name" as people write it: ".spec.containers[0].name".
std::string dotted(std::string_view json_pointer);

// The problems of one item: fields are given by JSON pointers into its template.
class ItemProblems {
 public:
  ItemProblems(Problems& problems, std::string prefix)
      : problems_(problems), prefix_(std::move(prefix)) {}

  void add(std::string_view pointer, std::string_view what) {
    problems_.add(prefix_ + dotted(pointer), what);
  }
  // `message` is "path: what" below the pointer, as decoders say it.
  void add_decoding(std::string_view pointer, std::string_view message);

 private:
  Problems& problems_;
  std::string prefix_;
};

}  // namespace codeflare::queue
