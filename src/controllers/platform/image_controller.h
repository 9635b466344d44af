#pragma once

#include "controllers/platform/image_decision.h"
#include "runtime/manager.h"
#include "runtime/reconciler.h"

#include <optional>
#include <string>

namespace codeflare::controllers::platform_kinds {

// Lets nodes fetch Images (codeflare.dev/v1alpha1) before Runs need them.
class ImageReconciler final : public runtime::StoryReconciler<ImageObserved, ImageDesired> {
 public:
  ImageReconciler(const runtime::ControllerContext& context, std::string program_image);

  std::optional<ImageObserved> observe(const runtime::ObjectKey& key) const override;
  ImageDesired desired(const ImageObserved& observed, WallTime now) const override;
  runtime::Plan diff(const ImageObserved& observed, const ImageDesired& desired) const override;

 private:
  const runtime::Store& images_;
  const runtime::Store& nodes_;
  const runtime::Store& pods_;
  std::string program_image_;
};

ImageReconciler& add_image_controller(runtime::Manager& manager);

}  // namespace codeflare::controllers::platform_kinds
