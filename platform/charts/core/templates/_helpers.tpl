{{- define "core.name" -}}
{{- if contains "codeflare" .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{ else }}{{ printf "%s-codeflare" (.Release.Name | trunc 40 | trimSuffix "-") }}{{ end -}}
{{- end }}

{{- define "core.labels" -}}
app.kubernetes.io/name: codeflare
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/part-of: codeflare-platform
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "core.selector" -}}
app.kubernetes.io/name: codeflare
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: controller
{{- end }}

{{- define "core.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "core.podSecurity" -}}
runAsNonRoot: true
{{- with .Values.runAsUser }}
runAsUser: {{ int64 . }}
runAsGroup: {{ int64 . }}
fsGroup: {{ int64 . }}
{{- end }}
seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "core.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{- /* Rules of one part, without the comment of the file. */ -}}
{{- define "core.access" -}}
{{ regexReplaceAllLiteral "(?m)^#.*\n" (.files.Get (printf "access/%s.yaml" .part)) "" | trimSuffix "\n" }}
{{- end }}

{{- /* Rules of the parts that these values need: made by tools/access.py. */ -}}
{{- define "core.rules" -}}
{{- $parts := list "leader" "events" "queue" "quota" "look-for-kuberay" "run" "platform" "trainingjob" "dispatch" "fences" "scale" "scale-placeholder" "scale-provisioning" "scale-machineset" "usage" "release" -}}
{{- $parts = append $parts (ternary "wrap-anything" "wrapped" .Values.wrapAnything) -}}
{{- if .Values.webhook.enabled }}{{ $parts = concat $parts (list "submitter" "submitter-check" "review" "ca-bundle" "view" "view-register") }}
{{- else }}{{ $parts = append $parts (ternary "create-anything" "create-wrapped" .Values.wrapAnything) }}{{ end -}}
{{- if .Values.queue.bind }}{{ $parts = append $parts "bind" }}{{ end -}}
{{- if .Values.global.codeflare.mcad }}{{ $parts = append $parts "legacy" }}{{ end -}}
{{- if .Values.rayClusters }}{{ $parts = concat $parts (list "raycluster" "rayjob") }}{{ end -}}
{{- range $parts }}
# {{ . }}
{{ include "core.access" (dict "files" $.Files "part" .) }}
{{- end }}
{{- end }}

{{- define "core.crdArgs" -}}
[crds, apply{{ if .Values.global.codeflare.ray }}, --ray{{ end }}{{ if .Values.global.codeflare.mcad }}, --legacy-group{{ end }}]
{{- end }}
