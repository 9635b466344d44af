#include "node/agent/pod_inputs.h"

namespace codeflare::node {

namespace {

void add_container(PodNeeds& needs, const model::Container& container) {
  for (const model::EnvFromSource& from : container.env_from) {
    if (from.config_map_ref) {
      needs.config_maps.insert(from.config_map_ref->name);
    }
    if (from.secret_ref) {
      needs.secrets.insert(from.secret_ref->name);
    }
  }
  for (const model::EnvVar& variable : container.env) {
    if (variable.value_from && variable.value_from->config_map_key_ref) {
      needs.config_maps.insert(variable.value_from->config_map_key_ref->name);
    }
    if (variable.value_from && variable.value_from->secret_key_ref) {
      needs.secrets.insert(variable.value_from->secret_key_ref->name);
    }
  }
}

void add_projection(PodNeeds& needs, const model::VolumeProjection& source) {
  if (source.config_map) {
    needs.config_maps.insert(source.config_map->name);
  }
  if (source.secret) {
    needs.secrets.insert(source.secret->name);
  }
  if (source.service_account_token) {
    needs.tokens.insert(
        {.audience = source.service_account_token->audience,
         .expiration_seconds = source.service_account_token->expiration_seconds.value_or(3600)});
  }
}

}  // namespace

PodNeeds needs_of(const model::PodSpec& spec) {
  PodNeeds needs;
  for (const auto* list : {&spec.init_containers, &spec.containers}) {
    for (const model::Container& container : *list) {
      add_container(needs, container);
    }
  }
  for (const model::Volume& volume : spec.volumes) {
    if (volume.config_map) {
      needs.config_maps.insert(volume.config_map->name);
    }
    if (volume.secret) {
      needs.secrets.insert(volume.secret->secret_name);
    }
    if (volume.persistent_volume_claim) {
      needs.claims.insert(volume.persistent_volume_claim->claim_name);
    }
    if (volume.projected) {
      for (const model::VolumeProjection& source : volume.projected->sources) {
        add_projection(needs, source);
      }
    }
  }
  return needs;
}

}  // namespace codeflare::node
