#pragma once

#include "queue/kinds/template_reader.h"

#include <cstdint>

namespace codeflare::queue {

// The template of the Job whose spec this is, in `times` copies.
void add_job(TemplateReader& reader, const TemplateReader::At& job_spec, std::int64_t times);

}  // namespace codeflare::queue
