{{- define "lattice.labels" -}}
app.kubernetes.io/name: lattice-operator
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "lattice.podSecurity" -}}
runAsNonRoot: true
{{- with .Values.runAsUser }}
runAsUser: {{ int64 . }}
runAsGroup: {{ int64 . }}
fsGroup: {{ int64 . }}
{{- end }}
seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "lattice.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{- /* Rules of one part, without the comment of the file. */ -}}
{{- define "lattice.access" -}}
{{ regexReplaceAllLiteral "(?m)^#.*\n" (.files.Get (printf "access/%s.yaml" .part)) "" | trimSuffix "\n" }}
{{- end }}

{{- /* Rules of the parts that these values need: made by tools/access.py. */ -}}
{{- define "lattice.rules" -}}
{{- $parts := list "leader" "events" "queue" "quota" "run" "platform" "trainingjob" "dispatch" "fences" "scale" "scale-placeholder" "scale-provisioning" "scale-machineset" "usage" "release" -}}
{{- if .Values.bind }}{{ $parts = append $parts "bind" }}{{ end -}}
{{- range $parts }}
# {{ . }}
{{ include "lattice.access" (dict "files" $.Files "part" .) }}
{{- end }}
{{- end }}
