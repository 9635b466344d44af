#pragma once

#include "model/labels.h"
#include "model/platform_repo_secret.h"

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace codeflare::platform {

// How much of the pattern says something about the URL, for the longest to win; nothing: it does
// not match. `url` is what Application.spec.repo says. A pattern is the beginning of a URL up to
// the end of a host, a directory or a repository; * stands for any characters but /. Without
// "http://" it is about https alone: a password would go over the wire as it is.
std::optional<std::size_t> repo_match(std::string_view pattern, std::string_view url);

// The one whose Secret a checkout of `url` in a namespace with these labels gets; null: none.
const model::PlatformRepoSecret* choose_repo_secret(
    const std::vector<model::PlatformRepoSecret>& secrets, std::string_view url,
    const model::StringMap& namespace_labels);

}  // namespace codeflare::platform
