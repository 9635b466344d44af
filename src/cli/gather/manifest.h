#pragma once

#include "base/result.h"
#include "cli/session/session.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::cli {

// One object of a file.
struct Manifest {
  std::string file;
  std::size_t document = 1;  // in the file, from 1
  std::string api_version;
  std::string kind;
  std::string ns;    // empty when it names none
  std::string name;  // empty with generateName
  std::string body;  // JSON

  // "jobs.yaml: document 2, AppWrapper team/train".
  std::string where() const;
};

// The objects that could be read, and the problems of the rest: each error names file and document.
struct Manifests {
  std::vector<Manifest> objects;
  std::vector<Error> errors;
};

// YAML documents or JSON; Lists are taken apart.
Manifests parse_manifests(std::string_view text, const std::string& file);

// Files, directories (their *.yaml, *.yml and *.json, in order of name), "-" for standard input.
Manifests read_manifests(Session& session, const std::vector<std::string>& files);

}  // namespace codeflare::cli
