/** The records of the API, as far as the page reads them (/docs describes them all). */

import type { SourceEntry } from "./api";

/** What a key may be used for, in the order of the page. */
export const SCOPES = ["read", "render", "templates", "account"] as const;

export type Scope = (typeof SCOPES)[number];

export interface User {
  id: string;
  name: string;
  email: string;
}

export interface Account {
  id: string;
  user: User;
  key_id: string;
  scopes: Scope[];
  plan: "free" | "paid";
  has_workspace: boolean;
  rate_limit?: { requests: number; window_seconds: number };
}

export interface Session {
  opened_at: string;
  expires_at: string;
}

export interface Template {
  id: string;
  name: string;
  slug?: string;
  versions: number;
  sha256: string;
  created_at: string;
  created_by: User;
  updated_at: string;
  updated_by: User;
}

export interface TemplateWithContent extends Template {
  content: string;
}

export interface Key {
  id: string;
  display: string;
  name?: string;
  scopes: Scope[];
  user: User;
  created_at: string;
  expires_at?: string;
  revoked_at?: string;
  is_own: boolean;
}

export interface Usage {
  pagesGenerated: number;
  apiCalls: number;
  maxPagesGenerated: number;
  startDate: string;
  endDate: string;
  draft?: { pagesGenerated: number; apiCalls: number };
  maxDraftPagesGenerated?: number;
  overagePages?: number;
}

export interface UsageDays {
  startDate: string;
  endDate: string;
  days: { date: string; pagesGenerated: number; apiCalls: number; draft: { pagesGenerated: number } }[];
}

export interface UsageTemplate {
  template?: string;
  name?: string;
  pagesGenerated: number;
  apiCalls: number;
  draft: { pagesGenerated: number };
}

export interface UsageTemplates {
  templates: UsageTemplate[];
  has_more: boolean;
}

export interface Webhook {
  id: string;
  url: string;
  events: string[];
  created_at: string;
  disabled_at?: string;
}

export interface Delivery {
  id: string;
  event: string;
  status: string;
  created_at: string;
  next_attempt_at?: string;
  attempts: { at: string; milliseconds: number; status?: number; error?: string }[];
}

export interface Version {
  version: number;
  sha256: string;
  message: string;
  created_at: string;
  created_by: User;
}

export interface Tag {
  tag: string;
  version: number;
  updated_at: string;
  updated_by: User;
}

export interface StoredFile {
  name: string;
  bytes: number;
  updated_at: string;
}

export interface Image extends StoredFile {
  content_type: string;
  width: number;
  height: number;
}

export interface Font extends StoredFile {
  faces: { family: string; style: string }[];
}

/** The error body in records of jobs and documents. */
export interface ErrorBody {
  statusCode: number;
  message: string;
  stackTrace?: SourceEntry[];
}

export interface Warning {
  code: string;
  message: string;
  count: number;
}

export interface Job {
  id: string;
  status: string;
  draft: boolean;
  template?: string;
  pages?: number;
  error?: ErrorBody;
  warnings?: Warning[];
  created_at: string;
}

export interface Batch {
  id: string;
  status: string;
  total: number;
  queued: number;
  running: number;
  succeeded: number;
  failed: number;
  cancelled: number;
  pages: number;
  error?: ErrorBody;
  created_at: string;
  expires_at?: string;
}

export interface BatchItem {
  index: number;
  job_id: string;
  status: string;
  pages?: number;
  error?: ErrorBody;
  warnings?: Warning[];
}

export interface Finding {
  message: string;
  source?: SourceEntry;
}

/** The box of an element on a page, in points from the upper left corner of the sheet. */
export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
  source: SourceEntry;
}

export interface Preview {
  pages: number;
  findings: { valid: boolean; errors: Finding[]; warnings: Finding[] };
  page?: number;
  width?: number;
  height?: number;
  file?: { content_type: string; data: string };
  boxes?: Box[];
}

/** What a page is given: the account, the address, and what to call after a change of language. */
export interface PageProps {
  account: Account;
  route: string[];
  onLanguage: () => void;
}
