{{- /* What several resources have in common. */ -}}
{{- define "labels" -}}
{app.kubernetes.io/part-of: shelfsync, app.kubernetes.io/component: {{ . }}}
{{- end }}

{{- /* The name of a chain's resource: shelfsync-receiver, or shelfsync-receiver-north. Names of Kubernetes have no underscore. */ -}}
{{- define "named" -}}
{{ .name }}{{ if .chain }}-{{ .chain | replace "_" "-" }}{{ end }}
{{- end }}

{{- /* The chains as receivers and alerts see them: their names, or one without a name. */ -}}
{{- define "chains" -}}
{{ .Values.chains | default (list "") | toJson }}
{{- end }}

{{- define "pod" -}}
automountServiceAccountToken: false
securityContext: {runAsNonRoot: true, runAsUser: 50000, runAsGroup: 50000, fsGroup: 50000, seccompProfile: {type: RuntimeDefault}}
{{- end }}

{{- define "restricted" -}}
allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}
{{- end }}
