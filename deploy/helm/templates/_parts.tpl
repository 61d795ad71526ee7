{{/* What is fixed about each process: its command, ports, secrets and way of stopping. Values say how many and how large. */}}
{{- define "pressroom.parts" -}}
{{- $budget := int .Values.settings.PRESSROOM_RENDER_BUDGET }}
{{- $admin := .Values.settings.PRESSROOM_ADMIN_PORT }}
# In an outage of a store a front answers 503 itself, so only its startup probe checks the stores: without them a new
# release does not replace the old one.
front:
  command: [gunicorn, -c, "python:api.gunicorn_conf", --bind, "0.0.0.0:8000"{{ with $admin }}, --bind, "0.0.0.0:{{ . }}"{{ end }}, --worker-tmp-dir, /dev/shm, "api.wsgi:app"]
  ports: {http: 8000{{ with $admin }}, admin: {{ . }}{{ end }}}
  secrets: [stores, keys]
  started: /readyz
  grace: {{ add $budget 40 }}
  drain: 10
  tmp: 4Gi
  spread: true
worker:
  command: [python, -m, workers.farm.main]
  ports: {metrics: 9101}
  secrets: [stores]
  queues: interactive,preview,validate
  grace: {{ add $budget 30 }}
  tmp: 1Gi
  spread: true
batch:
  command: [python, -m, workers.farm.main]
  ports: {metrics: 9101}
  secrets: [stores]
  queues: batch
  grace: {{ add $budget 30 }}
  tmp: 1Gi
  spread: true
# Records usage events in the ledger. Exactly one: it exports the metrics of the whole farm.
counter:
  command: [python, -m, workers.counter.main]
  ports: {metrics: 9102}
  secrets: [stores]
  single: true
  grace: 30
  tmp: 64Mi
# Requeues lost jobs and deletes expired data. One is enough.
maintenance:
  command: [python, -m, workers.maintenance.main]
  ports: {metrics: 9103}
  secrets: [stores]
  grace: 30
  tmp: 64Mi
webhooks:
  command: [python, -m, workers.webhooks.main]
  ports: {metrics: 9104}
  secrets: [stores, keys]
  public: true
  grace: 60
  tmp: 64Mi
# Downloads remote images: the internet, but no secrets and no stores.
fetcher:
  command: [python, -m, workers.fetcher.main]
  ports: {metrics: 9105, asks: 9106}
  secrets: []
  public: true
  grace: 60
  tmp: 2Gi
  spread: true
{{- if .Values.signer.enabled }}
# Signs finished files for workers. It alone has the keys of accounts, and reaches no store.
signer:
  command: [python, -m, workers.signer.main]
  ports: {metrics: 9107, signatures: 9108}
  secrets: []
  apart: true
  public: {{ ne .Values.signer.timestampUrl "" }}
  grace: 60
  tmp: 1Gi
  spread: true
{{- end }}
{{- end }}

{{- define "pressroom.image" -}}
{{- with .Values.image -}}
{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end }}
{{- end }}

{{- define "pressroom.labels" -}}
app.kubernetes.io/name: pressroom
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{/* Pods run as the image's user, on a file system that they cannot write. */}}
{{- define "pressroom.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "pressroom.container" -}}
image: {{ include "pressroom.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- end }}

{{/* The pods of a process: of one shard, where there are several. */}}
{{- define "pressroom.selector" -}}
app.kubernetes.io/component: {{ .name }}
{{- if .shard }}
pressroom/shard: {{ .shard | quote }}
{{- end }}
{{- end }}

{{/* A Prometheus selector of queues, and of the shard where there are several. */}}
{{- define "pressroom.queues" -}}
{queue=~{{ .queues | replace "," "|" | quote }}{{ with .shard }},shard={{ . | quote }}{{ end }}}
{{- end }}
