#include "apiserver/kinds/podspec/checks.h"

namespace codeflare::apiserver::podspec {

namespace {

void check_key_file(const Spot& item) {
  need(item, {"key", "path"});
  check_local(item, "path", item.text("path"));
  check_file_mode(item, "mode");
}

// `at` is where upstream complains: it does not say which file it is.
void check_downward_file(const Spot& file, const Spot& at) {
  const Spot told = at.with(file.value());
  need(told, {"path"});
  check_local(told, "path", file.text("path"));
  if (file.has("fieldRef")) {
    check_field_reference(told["fieldRef"], Told::in_file);
    if (file.has("resourceFieldRef")) {
      at.invalid_text("", "resource",
                      "fieldRef and resourceFieldRef can not be specified simultaneously");
    }
  } else if (file.has("resourceFieldRef")) {
    check_resource_reference(told["resourceFieldRef"], Told::in_file);
  } else {
    at.required("", "one of fieldRef and resourceFieldRef is required");
  }
  check_file_mode(told, "mode");
}

// Paths that are written by more than one source.
class Paths {
 public:
  explicit Paths(const Spot& projected) : projected_(projected) {}
  // `shown` is what the complaint names.
  void add(std::string_view path, std::string_view shown) {
    if (!path.empty() && !seen_.emplace(path).second) {
      projected_.invalid_text("", shown, "conflicting duplicate paths");
    }
  }

 private:
  const Spot& projected_;
  Names seen_;
};

void check_projected_keys(const Spot& source, Paths& paths) {
  need(source, {"name"});
  const Spot items = source["items"];
  items.each([&](const Spot& item) {
    check_key_file(item);
    paths.add(item.text("path"), source.text("name"));
  });
}

void check_token(const Spot& token, const Spot& projected) {
  constexpr std::int64_t kSecondsMin = 600;
  constexpr std::int64_t kSecondsMax = std::int64_t{1} << 32;
  const std::int64_t seconds = token.integer("expirationSeconds").value_or(0);
  if (seconds < kSecondsMin) {
    token.invalid("expirationSeconds", std::to_string(seconds),
                  "may not specify a duration less than 10 minutes");
  }
  if (seconds > kSecondsMax) {
    token.invalid("expirationSeconds", "may not specify a duration larger than 2^32 seconds");
  }
  if (token.text("path").empty()) {
    projected.required("path");
  } else {
    check_local(projected, "path", token.text("path"));
  }
}

}  // namespace

void check_key_files(const Spot& source, std::string_view name_key) {
  need(source, {name_key});
  check_file_mode(source, "defaultMode");
  const Spot items = source["items"];
  items.each(check_key_file);
}

void check_downward_files(const Spot& source) {
  check_file_mode(source, "defaultMode");
  const Spot items = source["items"];
  items.each([&](const Spot& file) { check_downward_file(file, source); });
}

void check_projected(const Spot& projected) {
  check_file_mode(projected, "defaultMode");
  Paths paths(projected);
  const Spot sources = projected["sources"];
  sources.each([&](const Spot& source) {
    int kinds = 0;
    const auto visit = [&](std::string_view kind, auto check) {
      const Spot spot = source[kind];
      if (spot.given()) {
        ++kinds;
        check(spot);
      }
    };
    visit("secret", [&](const Spot& spot) { check_projected_keys(spot, paths); });
    visit("configMap", [&](const Spot& spot) { check_projected_keys(spot, paths); });
    visit("downwardAPI", [&](const Spot& spot) {
      const Spot items = spot["items"];
      items.each([&](const Spot& file) {
        check_downward_file(file, spot);
        paths.add(file.text("path"), file.text("path"));
      });
    });
    visit("serviceAccountToken", [&](const Spot& spot) { check_token(spot, projected); });
    if (kinds > 1) {
      source.forbidden("", "may not specify more than 1 volume type per source");
    }
  });
}

}  // namespace codeflare::apiserver::podspec
