#include "apiserver/kinds/podspec/checks.h"

namespace codeflare::apiserver::podspec {

namespace {

void check_key_file(const Field& item) {
  need(item, {"key", "path"});
  check_local(item, "path", item.text("path"));
  check_file_mode(item, "mode");
}

// `at` is where upstream complains: it does not say which file it is.
void check_downward_file(const Field& file, const Field& at) {
  const Field told = at.with(file.value());
  need(told, {"path"});
  check_local(told, "path", file.text("path"));
  if (file.has("fieldRef")) {
    check_field_reference(told["fieldRef"], DownwardApi::file);
    if (file.has("resourceFieldRef")) {
      at.invalid_text("", "resource",
                      "fieldRef and resourceFieldRef can not be specified simultaneously");
    }
  } else if (file.has("resourceFieldRef")) {
    check_resource_reference(told["resourceFieldRef"], DownwardApi::file);
  } else {
    at.required("", "one of fieldRef and resourceFieldRef is required");
  }
  check_file_mode(told, "mode");
}

// Paths that are written by more than one source.
class Paths {
 public:
  explicit Paths(const Field& projected) : projected_(projected) {}
  // `shown` is what the complaint names.
  void add(std::string_view path, std::string_view shown) {
    if (!path.empty() && !seen_.emplace(path).second) {
      projected_.invalid_text("", shown, "conflicting duplicate paths");
    }
  }

 private:
  const Field& projected_;
  Names seen_;
};

void check_projected_keys(const Field& source, Paths& paths) {
  need(source, {"name"});
  const Field items = source["items"];
  items.each([&](const Field& item) {
    check_key_file(item);
    paths.add(item.text("path"), source.text("name"));
  });
}

void check_token(const Field& token, const Field& projected) {
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

void check_trust_bundle(const Field& bundle) {
  const bool named = bundle.has("name");
  const bool signed_by = bundle.has("signerName");
  if (named && signed_by) {
    bundle.invalid("", "only one of name and signerName may be used");
  } else if (named) {
    if (bundle.text("name").empty()) {
      bundle.required("name", "must be a valid object name");
    }
    if (bundle.has("labelSelector")) {
      bundle.invalid("labelSelector", "labelSelector must be unset if name is specified");
    }
  } else if (signed_by) {
    if (bundle.text("signerName").empty()) {
      bundle.required("signerName", "must be a valid signer name");
    }
    if (bundle.has("labelSelector")) {
      check_selector(bundle["labelSelector"]);
    }
  } else {
    bundle.required("", "either name or signerName must be specified");
  }
  need(bundle, {"path"});
  check_local(bundle, "path", bundle.text("path"));
}

}  // namespace

void check_key_files(const Field& source, std::string_view name_key) {
  need(source, {name_key});
  check_file_mode(source, "defaultMode");
  const Field items = source["items"];
  items.each(check_key_file);
}

void check_downward_files(const Field& source) {
  check_file_mode(source, "defaultMode");
  const Field items = source["items"];
  items.each([&](const Field& file) { check_downward_file(file, source); });
}

void check_projected(const Field& projected) {
  check_file_mode(projected, "defaultMode");
  Paths paths(projected);
  const Field sources = projected["sources"];
  sources.each([&](const Field& source) {
    int kinds = 0;
    const auto visit = [&](std::string_view kind, auto check) {
      const Field field = source[kind];
      if (field.given()) {
        ++kinds;
        check(field);
      }
    };
    visit("secret", [&](const Field& field) { check_projected_keys(field, paths); });
    visit("configMap", [&](const Field& field) { check_projected_keys(field, paths); });
    visit("downwardAPI", [&](const Field& field) {
      const Field items = field["items"];
      items.each([&](const Field& file) {
        check_downward_file(file, field);
        paths.add(file.text("path"), file.text("path"));
      });
    });
    visit("clusterTrustBundle", [&](const Field& field) {
      check_trust_bundle(field);
      paths.add(field.text("path"), field.text("path"));
    });
    visit("serviceAccountToken", [&](const Field& field) { check_token(field, projected); });
    if (kinds > 1) {
      source.forbidden("", "may not specify more than 1 volume type per source");
    }
  });
}

}  // namespace codeflare::apiserver::podspec
