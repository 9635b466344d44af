#pragma once

#include "controllers/scale/provider.h"
#include "json/write.h"
#include "model/machine_request.h"

#include <string>

// How pods are described to autoscalers: with the requests of the work's pods, and so that only
// machines of the type will do.
namespace codeflare::controllers::scale {

// Members of a PodSpec: node selector, tolerations and one container.
void write_shape(json::Writer& w, const MachineOrder& order, const model::MachinePods& pods,
                 const std::string& image);
// Part of names of objects: lower case letters and digits, different for different types.
std::string type_suffix(const std::string& type);

}  // namespace codeflare::controllers::scale
