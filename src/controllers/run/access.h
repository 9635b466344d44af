#pragma once

#include "runtime/access.h"

namespace codeflare::controllers::runs {

inline constexpr runtime::Right kRights[] = {
    {"list watch", "codeflare.dev",
     "applications datasets platformreposecrets runpolicies runs runsizeconfigurations",
     "Runs and what they refer to"},
    {"patch", "codeflare.dev", "runs/status", "status of Runs"},
    {"update", "codeflare.dev", "runs/finalizers", "owner of objects with blockOwnerDeletion"},
    {"list watch create patch delete", "workload.codeflare.dev", "appwrappers",
     "the AppWrapper of a Run"},
    {"delete", "codeflare.dev", "runs", "Runs that finished long ago (ttlSecondsAfterFinished)"},
    {"create", "batch", "jobs", "Jobs of Runs"},
    {"create", "", "configmaps services", "code, data and Services of Runs"},
    {"create", "ray.io", "rayjobs", "RayJobs of Runs"},
    {"get create", "", "secrets", "Secrets of data sets and repositories, copied for Runs"},
    {"list watch", "", "pods", "pods of Runs"},
    {"get", "", "pods/log", "progress of Runs"},
    {"list watch", "", "namespaces", "namespaces that policies select"},
};

}  // namespace codeflare::controllers::runs
