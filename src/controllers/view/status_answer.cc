#include "controllers/view/status_answer.h"

#include "model/codec/meta.h"
#include "model/status.h"

namespace codeflare::controllers::view {

net::Response status_answer(const Error& error) {
  const model::Status status = model::to_status(error);
  return net::make_response(status.code, "application/json",
                            Bytes::from(model::to_json_text(status)));
}

}  // namespace codeflare::controllers::view
