/** The records of the API, written by `make records` from its description. */

export interface Confirmation {
  status: string;
}

export interface Dependent {
  id: string;
  name: string;
}

export interface DependentList {
  templates: Array<Dependent>;
  has_more: boolean;
}

export interface SlugList {
  slugs: Array<Slug>;
}

export interface FontFace {
  index: number;
  family: string;
  style: string;
  weight: FontRange;
  stretch: FontRange;
  italic: boolean;
  glyphs: number;
  characters: number;
  color_glyphs: number;
  axes: Array<FontAxis>;
}

export interface FontRange {
  min: number;
  max: number;
}

export interface FontAxis {
  tag: string;
  min: number;
  default: number;
  max: number;
}

export interface Findings {
  valid: boolean;
  errors: Array<Finding>;
  warnings: Array<Finding>;
  leftOut?: { errors: number; warnings: number; };
}

export interface InvoiceReport {
  valid: boolean | null;
  errors: Array<InvoiceFinding>;
  warnings: Array<InvoiceFinding>;
  checked_by: Array<RulePack>;
  note?: string;
  specification: string;
  file?: string;
  profile?: string;
  syntax: "cii" | "ubl";
  number?: string;
}

export interface RulePack {
  pack: string;
  version: string;
  date: string;
}

export interface InvoiceFinding {
  rule: string;
  path: string;
  element: string;
  message: string;
  severity: "error" | "warning";
}

export interface FormReport {
  fields: Array<FormField>;
  xfa: boolean;
}

export interface FormField {
  name: string;
  type: "text" | "checkbox" | "radio" | "select" | "list" | "button" | "signature" | "unknown";
  value: string | Array<string> | null;
  required: boolean;
  read_only: boolean;
  signed?: boolean;
  options?: Array<FieldOption>;
  label?: string;
  page?: number;
  max_length?: number;
}

export interface FieldOption {
  value: string;
  label: string;
}

export interface Start {
  name: string;
  docs: string;
  openapi: string;
}

export interface Health {
  status: string;
  parts?: Record<string, "up" | "down">;
}

export interface PlanTagRequest {
  version: number;
}

export interface TagRequest {
  version: number;
  guarded?: boolean;
}

export interface Preview {
  pages: number;
  findings: Findings;
  page?: number;
  width?: number;
  height?: number;
  file?: PreviewFile;
  boxes?: Array<PreviewBox>;
  boxes_left_out?: number;
}

export interface KeyList {
  keys: Array<Key>;
}

export interface NewAccounts {
  accounts: Array<NewAccount>;
}

export interface CreatedAccounts {
  accounts: Array<CreatedAccount>;
}

export interface CreatedAccount {
  id: string;
  is_new: boolean;
  reference?: string;
  key_id?: string;
  key?: string;
}

export interface Queue {
  name: string;
  waiting: number;
  running: number;
  is_drained: boolean;
}

export interface QueueChange {
  is_drained: boolean;
}

export interface FarmStatus {
  healthy: boolean;
  problems: Array<string>;
  queues: Array<Queue>;
}

export interface Session {
  opened_at: string;
  expires_at: string;
}

export interface SignIn {
  provider: string | null;
}

export interface UserRef {
  id: string;
  name: string;
  email: string;
}

export interface Template {
  id: string;
  name: string;
  versions: number;
  sha256: string;
  created_at: string;
  created_by: UserRef;
  updated_at: string;
  updated_by: UserRef;
  slug?: string;
}

export interface SavedTemplate {
  id: string;
  name: string;
  versions: number;
  sha256: string;
  created_at: string;
  created_by: UserRef;
  updated_at: string;
  updated_by: UserRef;
  slug?: string;
  findings: { errors: number; warnings: number; validate: string; } | null;
}

export interface TemplateWithContent {
  id: string;
  name: string;
  versions: number;
  sha256: string;
  created_at: string;
  created_by: UserRef;
  updated_at: string;
  updated_by: UserRef;
  slug?: string;
  content: string;
}

export interface TemplateList {
  templates: Array<Template>;
  next_cursor?: string;
}

export interface Version {
  version: number;
  sha256: string;
  message: string;
  created_at: string;
  created_by: UserRef;
  cases_sha256?: string;
}

export interface PublishedVersion {
  version: number;
  sha256: string;
  message: string;
  created_at: string;
  created_by: UserRef;
  cases_sha256?: string;
  findings: { errors: number; warnings: number; validate: string; } | null;
}

export interface VersionWithContent {
  version: number;
  sha256: string;
  message: string;
  created_at: string;
  created_by: UserRef;
  cases_sha256?: string;
  content: string;
  approvals?: Array<Approval>;
  built_on?: Array<string>;
  links?: Record<string, string | null>;
}

export interface Approval {
  key_id: string;
  approved_at: string;
  approved_by: UserRef;
  cases_passed?: number;
}

export interface CasesReport {
  sha256: string;
  passed: number;
  failed: number;
}

export interface ApprovalRequest {
  cases?: CasesReport;
}

export interface StoredCases {
  bytes: number;
  sha256?: string;
}

export interface Approvals {
  approvals: Array<Approval>;
}

export interface VersionList {
  versions: Array<Version>;
  has_more: boolean;
}

export interface TagPointer {
  tag: string;
  version: number;
}

export interface Tag {
  tag: string;
  version: number;
  updated_at: string;
  updated_by: UserRef;
  guarded?: boolean;
}

export interface TagList {
  tags: Array<Tag>;
  has_more: boolean;
}

export interface TagEvent {
  action: "created" | "moved" | "removed";
  version: number | null;
  at: string;
  by: UserRef;
  previous_version?: number;
}

export interface TagHistory {
  events: Array<TagEvent>;
  has_more: boolean;
}

export interface TagRemoval {
  tag: string;
  removed: boolean;
}

export interface Slug {
  slug: string;
  template_id: string;
}

export interface SlugAvailability {
  slug: string;
  available: boolean;
  template_id?: string;
}

export interface Image {
  name: string;
  bytes: number;
  sha256: string;
  created_at: string;
  created_by: UserRef;
  updated_at: string;
  updated_by: UserRef;
  content_type: string;
  width: number;
  height: number;
}

export interface ImageList {
  images: Array<Image>;
  next_cursor?: string;
  usage: { total_bytes: number; count: number; };
}

export interface Font {
  name: string;
  bytes: number;
  sha256: string;
  created_at: string;
  created_by: UserRef;
  updated_at: string;
  updated_by: UserRef;
  format: string;
  faces: Array<FontFace>;
}

export interface FontList {
  fonts: Array<Font>;
  next_cursor?: string;
  usage: { total_bytes: number; count: number; };
}

export interface Usage {
  startDate: string;
  endDate: string;
  pagesGenerated: number;
  apiCalls: number;
  maxPagesGenerated: number;
  draft?: { pagesGenerated: number; apiCalls: number; };
  maxDraftPagesGenerated?: number;
  overagePages?: number;
  cpuSeconds: number;
  maxCpuSeconds?: number;
}

export interface Finding {
  message: string;
  source?: { tagName: string; origin?: "template" | "payload"; lineStart: number; lineEnd: number; columnStart: number; columnEnd: number; };
}

export interface RenderWarning {
  code: string;
  message: string;
  count: number;
  source?: { tagName: string; origin?: "template" | "payload"; lineStart: number; lineEnd: number; columnStart: number; columnEnd: number; };
}

export interface StackTraceEntry {
  tagName: string;
  origin?: "template" | "payload";
  lineStart: number;
  lineEnd: number;
  columnStart: number;
  columnEnd: number;
  message?: string;
}

export interface Error {
  statusCode: number;
  message: string;
  timestamp: string;
  stackTrace?: Array<StackTraceEntry>;
  data?: { code?: "ERR_QUOTA_EXCEEDED" | "ERR_DRAFT_QUOTA_EXCEEDED" | "ERR_CPU_QUOTA_EXCEEDED" | "ERR_RATE_LIMITED" | "ERR_RENDER_TIMEOUT" | "ERR_TEMPLATE_NOT_FOUND" | "ERR_TEMPLATE_EMPTY" | "ERR_SLUG_TAKEN" | "ERR_SLUG_INVALID" | "ERR_SLUG_NOT_ASSIGNED" | "ERR_WORKSPACE_UNRESOLVED" | "ERR_KEY_REVOKED" | "ERR_KEY_EXPIRED" | "ERR_KEY_SCOPE" | "ERR_ACCOUNT_DISABLED" | "ERR_EMAIL_NOT_VERIFIED" | "ERR_PREVIEW_SUPERSEDED" | "ERR_TEMPLATE_IN_USE"; cap?: number; usage?: number; };
}

export interface RenameRequest {
  name: string;
}

export interface PublishRequest {
  message?: string;
}

export interface SlugRequest {
  slug: string;
  template?: string;
  template_id?: string;
}

export interface FontRequest {
  name: string;
  data?: string;
  source_url?: string;
}

export interface ImageRequest {
  name: string;
  data?: string;
  source_url?: string;
}

export interface PreviewRequest {
  template: string;
  payload?: Record<string, unknown> | string | null;
  payload_type?: "application/json" | "text/csv" | "text/markdown";
  flow?: string | null;
  page?: number | null;
  scale?: number | null;
  format?: "png" | "webp" | "pdf" | null;
  session?: string | null;
}

export interface PreviewFile {
  content_type: "image/png" | "image/webp" | "application/pdf";
  data: string;
  width?: number;
  height?: number;
  scale?: number;
}

export interface PreviewBox {
  x: number;
  y: number;
  width: number;
  height: number;
  source: { tagName: string; origin?: "template" | "payload"; lineStart: number; lineEnd: number; columnStart: number; columnEnd: number; };
  loop?: Array<{ name: string; row: number; }>;
}

export interface Account {
  id: string;
  user: UserRef;
  key_id: string;
  scopes: Array<"read" | "render" | "templates" | "account">;
  plan: "free" | "paid";
  has_workspace: boolean;
  rate_limit?: RateLimit;
  max_cpu_seconds?: number;
}

export interface RateLimit {
  requests: number;
  window_seconds: number;
}

export interface Costs {
  startDate: string;
  endDate: string;
  cpuSeconds: number;
  days: Array<UsageDay>;
  templates: Array<UsageTemplate>;
  has_more: boolean;
}

export interface UsageDays {
  startDate: string;
  endDate: string;
  days: Array<UsageDay>;
}

export interface UsageDay {
  pagesGenerated: number;
  apiCalls: number;
  cpuSeconds: number;
  draft: { pagesGenerated: number; apiCalls: number; };
  date: string;
}

export interface UsageTemplates {
  startDate: string;
  endDate: string;
  templates: Array<UsageTemplate>;
  has_more: boolean;
}

export interface UsageTemplate {
  pagesGenerated: number;
  apiCalls: number;
  cpuSeconds: number;
  draft: { pagesGenerated: number; apiCalls: number; };
  template?: string;
  name?: string;
}

export interface Key {
  id: string;
  display: string;
  name?: string;
  scopes: Array<"read" | "render" | "templates" | "account">;
  user: UserRef;
  created_at: string;
  expires_at?: string;
  revoked_at?: string;
  is_own: boolean;
}

export interface KeyWithSecret {
  id: string;
  display: string;
  name?: string;
  scopes: Array<"read" | "render" | "templates" | "account">;
  user: UserRef;
  created_at: string;
  expires_at?: string;
  revoked_at?: string;
  is_own: boolean;
  key: string;
}

export interface AuditEntry {
  number: number;
  at: string;
  actor: string;
  action: string;
  subject: string;
  details: Record<string, unknown>;
  hash: string;
}

export interface AuditLog {
  entries: Array<AuditEntry>;
  next_cursor?: string;
}

export interface NewAccount {
  email: string;
  name?: string;
  reference?: string;
  plan?: "free" | "paid";
  max_pages?: number;
  max_draft_pages?: number;
  max_cpu_seconds?: number;
  renewal_day?: number;
  rate_limit?: string;
  with_workspace?: boolean;
  verified?: boolean;
}

export interface AccountInfo {
  id: string;
  name: string;
  plan: string;
  max_pages: number;
  max_draft_pages: number | null;
  max_cpu_seconds: number | null;
  renewal_day: number;
  rate_limit: string | null;
  result_hours: number | null;
  record_days: number | null;
  is_disabled: boolean;
  is_held: boolean;
  is_email_verified: boolean;
  created_at: string;
}

export interface AccountList {
  accounts: Array<AccountInfo>;
  next_cursor?: string;
}

export interface AccountChanges {
  plan?: "free" | "paid";
  max_pages?: number;
  max_draft_pages?: number;
  max_cpu_seconds?: number | null;
  rate_limit?: string;
  result_hours?: number;
  record_days?: number;
  disabled?: boolean;
  held?: boolean;
  verified?: boolean;
}

export interface KeyRequest {
  name?: string;
  expires_at?: string;
  scopes?: Array<"read" | "render" | "templates" | "account">;
}

export interface Job {
  id: string;
  status: "queued" | "running" | "succeeded" | "failed" | "cancelled";
  draft: boolean;
  created_at: string;
  template?: string;
  pages?: number;
  error?: Error;
  warnings?: Array<RenderWarning>;
  started_at?: string;
  finished_at?: string;
  expires_at?: string;
  send_at?: string;
}

export interface JobList {
  jobs: Array<Job>;
  next_cursor?: string;
}

export interface Batch {
  id: string;
  status: "queued" | "running" | "finished" | "cancelled";
  draft: boolean;
  template: string;
  total: number;
  queued: number;
  running: number;
  succeeded: number;
  failed: number;
  cancelled: number;
  pages: number;
  created_at: string;
  forecast_at?: string;
  finished_at?: string;
  expires_at?: string;
  send_at?: string;
  error?: Error;
  plan?: string;
  priority?: "express" | "normal" | "night";
  deadline?: string;
  late?: boolean;
}

export interface BatchList {
  batches: Array<Batch>;
  next_cursor?: string;
}

export interface BatchItem {
  index: number;
  job_id: string;
  status: "queued" | "running" | "succeeded" | "failed" | "cancelled";
  pages?: number;
  error?: Error;
  warnings?: Array<RenderWarning>;
  filename?: string;
}

export interface PlanSplit {
  documents?: number;
  sheets?: number;
  weight?: number;
  bytes?: number;
  value?: string;
  by_hand?: Array<PlanCondition>;
}

export interface PlanBundle {
  documents?: number;
  sheets?: number;
  weight?: number;
  bytes?: number;
  value?: string;
  cover: string;
}

export interface PlanMarks {
  type: "omr" | "datamatrix" | "code128" | "itf";
  left: number;
  top: number;
  format?: string;
  job?: string;
  inserts?: string;
  width?: number;
  height?: number;
  pitch?: number;
  clear?: number;
}

export interface PlanHold {
  warnings?: Array<string>;
  conditions?: Array<PlanCondition>;
  proof?: number;
}

export interface PlanKeep {
  result_hours?: number;
  record_days?: number;
}

export interface PlanCondition {
  value: string;
  one_of?: Array<string | number | boolean>;
  above?: number;
  below?: number;
  missing?: boolean;
}

export interface PlanInsert {
  feeder: number;
  grams?: number;
  conditions?: Array<PlanCondition>;
}

export interface PostageClass {
  name: string;
  up_to: number;
}

export interface PlanPaper {
  plain?: number;
  letterhead?: number;
  slip?: number;
}

export interface PlanWeight {
  sheet: number;
  paper?: PlanPaper;
  envelope?: number;
  classes?: Array<PostageClass>;
}

export interface Plan {
  sort?: Array<string>;
  split?: PlanSplit;
  bundle?: PlanBundle;
  household?: string;
  duplex?: boolean;
  marks?: PlanMarks;
  inserts?: Array<PlanInsert>;
  weight?: PlanWeight;
  output?: "merged" | "zip" | "archive";
  hold?: PlanHold;
  keep?: PlanKeep;
  priority?: "express" | "normal" | "night";
  index?: "csv" | "ndjson" | "xml";
  fields?: Array<string>;
}

export interface StoredPlan {
  name: string;
  version: number;
  plan: Plan;
  created_at: string;
  tags?: Array<TagPointer>;
}

export interface Plans {
  plans: Array<StoredPlan>;
}

export interface RunFile {
  number: number;
  documents: number;
  pages: number;
  sheets: number;
  covers: number;
  bytes: number;
  sha256?: string;
  value?: string | number | boolean;
}

export interface DeliveredFiles {
  pending: number;
  delivered: number;
  undelivered: number;
}

export interface RunAccount {
  asked: number;
  delivered: number;
  held: number;
  rejected: number;
  failed: number;
  cancelled: number;
  open: number;
  pages: number;
  sheets: number;
  covers: number;
  files: Array<RunFile>;
  proof?: RunFile;
  reprints?: Array<RunFile>;
  deliveries?: DeliveredFiles;
}

export interface HeldDocuments {
  documents?: Array<number>;
  reason?: string;
}

export interface Reprint {
  documents?: Array<number>;
  unit?: "documents" | "sets" | "sheets";
  first?: number;
  last?: number;
  file?: number;
  copy?: boolean;
}

export interface BatchItems {
  items: Array<BatchItem>;
  has_more: boolean;
}

export interface ErasureReceipt {
  key_sha256: string;
  jobs: number;
  batches: number;
  deliveries: number;
  at: string;
}

export interface Webhook {
  id: string;
  url: string;
  events: Array<"job.succeeded" | "job.failed" | "batch.finished">;
  created_at: string;
  disabled_at?: string;
}

export interface WebhookWithSecret {
  id: string;
  url: string;
  events: Array<"job.succeeded" | "job.failed" | "batch.finished">;
  created_at: string;
  disabled_at?: string;
  secret: string;
}

export interface WebhookRequest {
  url: string;
  events?: Array<"job.succeeded" | "job.failed" | "batch.finished">;
}

export interface Webhooks {
  webhooks: Array<Webhook>;
}

export interface Destination {
  url: string;
  name?: string;
  file?: "pdf" | "peppol";
  host_key?: string;
  mail?: Mail;
  id: string;
  kind: "s3" | "sftp" | "https" | "smtp";
  created_at: string;
}

export interface DestinationRequest {
  url: string;
  name?: string;
  file?: "pdf" | "peppol";
  host_key?: string;
  mail?: Mail;
  secret?: string;
}

export interface Mail {
  sender: string;
  recipient: string;
  subject: string;
  text: string;
  markdown?: boolean;
  link_hours?: number;
  attachment?: string;
  report_to?: string;
}

export interface Destinations {
  destinations: Array<Destination>;
}

export interface DeliveryAttempt {
  at: string;
  milliseconds: number;
  status?: number;
  error?: string;
}

export interface Delivery {
  id: string;
  kind: string;
  target_id: string;
  event: "job.succeeded" | "job.failed" | "batch.finished" | "webhook.test" | "file.test";
  status: "pending" | "delivered" | "failed";
  created_at: string;
  attempts: Array<DeliveryAttempt>;
  next_attempt_at?: string;
  source_id?: string;
  name?: string;
  error?: string;
}

export interface WebhookTest {
  webhook_id: string;
}

export interface Deliveries {
  deliveries: Array<Delivery>;
  has_more: boolean;
}
