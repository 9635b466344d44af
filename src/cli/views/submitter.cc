#include "cli/views/submitter.h"

#include "json/parse.h"
#include "json/value.h"
#include "model/key_map.h"
#include "queue/marks.h"

namespace codeflare::cli {

std::string submitter_of(const model::AppWrapper& wrapper) {
  const std::string_view record =
      model::find_or_empty(wrapper.metadata.annotations, queue::kUserAnnotation);
  const Result<json::Document> parsed = json::parse(record);
  return parsed ? std::string(parsed->root.string_or_empty("username")) : std::string();
}

}  // namespace codeflare::cli
