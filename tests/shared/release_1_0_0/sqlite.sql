BEGIN TRANSACTION;
CREATE TABLE accounts (
	id VARCHAR(64) NOT NULL, 
	name TEXT NOT NULL, 
	"plan" VARCHAR(16) NOT NULL, 
	max_pages BIGINT NOT NULL, 
	max_draft_pages BIGINT, 
	renewal_day INTEGER NOT NULL, 
	rate_limit VARCHAR(32), 
	is_disabled BOOLEAN NOT NULL, 
	is_email_verified BOOLEAN NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_accounts PRIMARY KEY (id), 
	CONSTRAINT ck_accounts_plan_known CHECK (plan IN ('free', 'paid')), 
	CONSTRAINT ck_accounts_max_draft_pages_counted CHECK (max_draft_pages >= 0), 
	CONSTRAINT ck_accounts_max_pages_counted CHECK (max_pages >= 0), 
	CONSTRAINT ck_accounts_renewal_day_in_month CHECK (renewal_day BETWEEN 1 AND 31)
);
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0011');
CREATE TABLE api_keys (
	id VARCHAR(64) NOT NULL, 
	account_id VARCHAR(64) NOT NULL, 
	user_id VARCHAR(64) NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	display VARCHAR(16) NOT NULL, 
	created_at DATETIME NOT NULL, 
	expires_at DATETIME, 
	revoked_at DATETIME, name TEXT, 
	CONSTRAINT pk_api_keys PRIMARY KEY (id), 
	CONSTRAINT fk_api_keys_account_id FOREIGN KEY(account_id) REFERENCES accounts (id), 
	CONSTRAINT fk_api_keys_user_id FOREIGN KEY(user_id) REFERENCES users (id), 
	CONSTRAINT uq_api_keys_digest UNIQUE (digest)
);
CREATE TABLE batch_chunks (
	batch_id VARCHAR(64) NOT NULL, 
	number BIGINT NOT NULL, 
	first_index BIGINT NOT NULL, 
	count BIGINT NOT NULL, 
	body_offset BIGINT NOT NULL, 
	body_length BIGINT NOT NULL, 
	done BIGINT DEFAULT '0' NOT NULL, 
	done_bytes BIGINT DEFAULT '0' NOT NULL, 
	status VARCHAR(16) NOT NULL, 
	queued_at DATETIME, 
	succeeded BIGINT DEFAULT '0' NOT NULL, 
	failed BIGINT DEFAULT '0' NOT NULL, 
	pages BIGINT DEFAULT '0' NOT NULL, 
	CONSTRAINT pk_batch_chunks PRIMARY KEY (batch_id, number), 
	CONSTRAINT ck_batch_chunks_status_known CHECK (status IN ('queued', 'running', 'done', 'cancelled')), 
	CONSTRAINT fk_batch_chunks_batch_id FOREIGN KEY(batch_id) REFERENCES batches (id) ON DELETE CASCADE
);
CREATE TABLE batch_items (
	batch_id VARCHAR(64) NOT NULL, 
	"index" BIGINT NOT NULL, 
	status VARCHAR(16) NOT NULL, 
	pages BIGINT, 
	error JSON, 
	filename TEXT, 
	part_first_index BIGINT, 
	"offset" BIGINT, 
	length BIGINT, 
	crc32 BIGINT, warnings JSON, 
	CONSTRAINT pk_batch_items PRIMARY KEY (batch_id, "index"), 
	CONSTRAINT ck_batch_items_status_known CHECK (status IN ('succeeded', 'failed', 'cancelled')), 
	CONSTRAINT fk_batch_items_batch_id FOREIGN KEY(batch_id) REFERENCES batches (id) ON DELETE CASCADE
);
CREATE TABLE batch_parts (
	batch_id VARCHAR(64) NOT NULL, 
	first_index BIGINT NOT NULL, 
	count BIGINT NOT NULL, 
	blob_key VARCHAR(255), 
	bytes BIGINT NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_batch_parts PRIMARY KEY (batch_id, first_index), 
	CONSTRAINT fk_batch_parts_batch_id FOREIGN KEY(batch_id) REFERENCES batches (id) ON DELETE CASCADE
);
CREATE TABLE batch_turns (
	account_id VARCHAR(64) NOT NULL, 
	fed_at DATETIME NOT NULL, 
	created_at DATETIME NOT NULL, jobs_fed_at DATETIME, 
	CONSTRAINT pk_batch_turns PRIMARY KEY (account_id)
);
CREATE TABLE batches (
	id VARCHAR(64) NOT NULL, 
	account_id VARCHAR(64) NOT NULL, 
	workspace_id VARCHAR(64), 
	user_id VARCHAR(64) NOT NULL, 
	request_id VARCHAR(64) NOT NULL, 
	status VARCHAR(16) NOT NULL, 
	output VARCHAR(16) NOT NULL, 
	kind VARCHAR(16) NOT NULL, 
	charset VARCHAR(32), 
	header JSON, 
	is_draft BOOLEAN NOT NULL, 
	template TEXT NOT NULL, 
	pinned JSON NOT NULL, 
	meter JSON NOT NULL, 
	total BIGINT NOT NULL, 
	body_key VARCHAR(255), 
	body_bytes BIGINT NOT NULL, 
	result_key VARCHAR(255), 
	result_bytes BIGINT, 
	created_at DATETIME NOT NULL, 
	started_at DATETIME, 
	fed_at DATETIME, 
	finished_at DATETIME, 
	expires_at DATETIME, 
	sweep_at DATETIME, assembly_tries INTEGER DEFAULT '0' NOT NULL, assembly_begun_at DATETIME, error JSON, traceparent VARCHAR(64), removed_at DATETIME, 
	CONSTRAINT pk_batches PRIMARY KEY (id), 
	CONSTRAINT ck_batches_kind_known CHECK (kind IN ('ndjson', 'csv')), 
	CONSTRAINT ck_batches_output_known CHECK (output IN ('files', 'zip', 'merged')), 
	CONSTRAINT ck_batches_status_known CHECK (status IN ('queued', 'running', 'finished', 'cancelled'))
);
CREATE TABLE contents (
	sha256 VARCHAR(64) NOT NULL, 
	content TEXT NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_contents PRIMARY KEY (sha256)
);
CREATE TABLE font_reservations (
	id VARCHAR(64) NOT NULL, 
	workspace_id VARCHAR(64) NOT NULL, 
	name VARCHAR(64) NOT NULL, 
	bytes BIGINT NOT NULL, 
	sha256 VARCHAR(64) NOT NULL, 
	reserved_at DATETIME NOT NULL, 
	CONSTRAINT pk_font_reservations PRIMARY KEY (id), 
	CONSTRAINT fk_font_reservations_workspace_id FOREIGN KEY(workspace_id) REFERENCES workspaces (id)
);
CREATE TABLE fonts (
	workspace_id VARCHAR(64) NOT NULL, 
	name VARCHAR(64) NOT NULL, 
	format VARCHAR(16) NOT NULL, 
	bytes BIGINT NOT NULL, 
	sha256 VARCHAR(64) NOT NULL, 
	faces JSON NOT NULL, 
	created_at DATETIME NOT NULL, 
	created_by VARCHAR(64) NOT NULL, 
	updated_at DATETIME NOT NULL, 
	updated_by VARCHAR(64) NOT NULL, 
	CONSTRAINT pk_fonts PRIMARY KEY (workspace_id, name), 
	CONSTRAINT fk_fonts_created_by FOREIGN KEY(created_by) REFERENCES users (id), 
	CONSTRAINT fk_fonts_updated_by FOREIGN KEY(updated_by) REFERENCES users (id), 
	CONSTRAINT fk_fonts_workspace_id FOREIGN KEY(workspace_id) REFERENCES workspaces (id)
);
CREATE TABLE idempotency_keys (
	account_id VARCHAR(64) NOT NULL, 
	call VARCHAR(16) NOT NULL, 
	"key" VARCHAR(255) NOT NULL, 
	fingerprint VARCHAR(64), 
	job_id VARCHAR(64), 
	batch_id VARCHAR(64), 
	holder VARCHAR(64), 
	leased_until DATETIME, 
	created_at DATETIME NOT NULL, 
	expires_at DATETIME NOT NULL, 
	CONSTRAINT pk_idempotency_keys PRIMARY KEY (account_id, call, "key")
);
CREATE TABLE image_reservations (
	id VARCHAR(64) NOT NULL, 
	workspace_id VARCHAR(64) NOT NULL, 
	name VARCHAR(64) NOT NULL, 
	bytes BIGINT NOT NULL, 
	sha256 VARCHAR(64) NOT NULL, 
	reserved_at DATETIME NOT NULL, 
	CONSTRAINT pk_image_reservations PRIMARY KEY (id), 
	CONSTRAINT fk_image_reservations_workspace_id FOREIGN KEY(workspace_id) REFERENCES workspaces (id)
);
CREATE TABLE images (
	workspace_id VARCHAR(64) NOT NULL, 
	name VARCHAR(64) NOT NULL, 
	content_type VARCHAR(64) NOT NULL, 
	bytes BIGINT NOT NULL, 
	width INTEGER NOT NULL, 
	height INTEGER NOT NULL, 
	sha256 VARCHAR(64) NOT NULL, 
	created_at DATETIME NOT NULL, 
	created_by VARCHAR(64) NOT NULL, 
	updated_at DATETIME NOT NULL, 
	updated_by VARCHAR(64) NOT NULL, 
	CONSTRAINT pk_images PRIMARY KEY (workspace_id, name), 
	CONSTRAINT fk_images_created_by FOREIGN KEY(created_by) REFERENCES users (id), 
	CONSTRAINT fk_images_updated_by FOREIGN KEY(updated_by) REFERENCES users (id), 
	CONSTRAINT fk_images_workspace_id FOREIGN KEY(workspace_id) REFERENCES workspaces (id)
);
CREATE TABLE job_slices (
	id VARCHAR(64) NOT NULL, 
	account_id VARCHAR(64) NOT NULL, 
	is_running BOOLEAN NOT NULL, 
	queued_at DATETIME NOT NULL, 
	CONSTRAINT pk_job_slices PRIMARY KEY (id)
);
CREATE TABLE jobs (
	id VARCHAR(64) NOT NULL, 
	account_id VARCHAR(64) NOT NULL, 
	workspace_id VARCHAR(64), 
	user_id VARCHAR(64) NOT NULL, 
	status VARCHAR(16) NOT NULL, 
	lane VARCHAR(16) NOT NULL, 
	message TEXT NOT NULL, 
	is_draft BOOLEAN NOT NULL, 
	template TEXT, 
	pages BIGINT, 
	filename TEXT, 
	timings JSON, 
	error JSON, 
	pdf_key VARCHAR(255), 
	pdf_size BIGINT, 
	created_at DATETIME NOT NULL, 
	queued_at DATETIME NOT NULL, 
	started_at DATETIME, 
	finished_at DATETIME, 
	expires_at DATETIME, 
	sweep_at DATETIME, warnings JSON, slice_id VARCHAR(64), 
	CONSTRAINT pk_jobs PRIMARY KEY (id), 
	CONSTRAINT ck_jobs_lane_known CHECK (lane IN ('interactive', 'batch')), 
	CONSTRAINT ck_jobs_status_known CHECK (status IN ('queued', 'running', 'succeeded', 'failed', 'cancelled'))
);
CREATE TABLE slugs (
	workspace_id VARCHAR(64) NOT NULL, 
	slug VARCHAR(64) NOT NULL, 
	template_id VARCHAR(128) NOT NULL, 
	CONSTRAINT pk_slugs PRIMARY KEY (workspace_id, slug), 
	CONSTRAINT fk_slugs_template_id FOREIGN KEY(template_id) REFERENCES templates (id), 
	CONSTRAINT fk_slugs_workspace_id FOREIGN KEY(workspace_id) REFERENCES workspaces (id), 
	CONSTRAINT uq_slugs_template_id UNIQUE (template_id)
);
CREATE TABLE tag_events (
	id INTEGER NOT NULL, 
	template_id VARCHAR(128) NOT NULL, 
	tag VARCHAR(64) NOT NULL, 
	action VARCHAR(16) NOT NULL, 
	version BIGINT, 
	previous_version BIGINT, 
	at DATETIME NOT NULL, 
	"by" VARCHAR(64) NOT NULL, 
	CONSTRAINT pk_tag_events PRIMARY KEY (id), 
	CONSTRAINT ck_tag_events_action_known CHECK (action IN ('created', 'moved', 'removed')), 
	CONSTRAINT fk_tag_events_template_id FOREIGN KEY(template_id) REFERENCES templates (id), 
	CONSTRAINT fk_tag_events_by FOREIGN KEY("by") REFERENCES users (id)
);
CREATE TABLE tags (
	template_id VARCHAR(128) NOT NULL, 
	tag VARCHAR(64) NOT NULL, 
	version BIGINT NOT NULL, 
	updated_at DATETIME NOT NULL, 
	updated_by VARCHAR(64) NOT NULL, 
	CONSTRAINT pk_tags PRIMARY KEY (template_id, tag), 
	CONSTRAINT fk_tags_template_id FOREIGN KEY(template_id) REFERENCES templates (id), 
	CONSTRAINT fk_tags_template_id_version FOREIGN KEY(template_id, version) REFERENCES versions (template_id, version), 
	CONSTRAINT fk_tags_updated_by FOREIGN KEY(updated_by) REFERENCES users (id)
);
CREATE TABLE templates (
	id VARCHAR(128) NOT NULL, 
	account_id VARCHAR(64) NOT NULL, 
	name TEXT NOT NULL, 
	sha256 VARCHAR(64) NOT NULL, 
	created_at DATETIME NOT NULL, 
	created_by VARCHAR(64) NOT NULL, 
	updated_at DATETIME NOT NULL, 
	updated_by VARCHAR(64) NOT NULL, version_count BIGINT DEFAULT '0' NOT NULL, deleted_at DATETIME, 
	CONSTRAINT pk_templates PRIMARY KEY (id), 
	CONSTRAINT fk_templates_account_id FOREIGN KEY(account_id) REFERENCES accounts (id), 
	CONSTRAINT fk_templates_created_by FOREIGN KEY(created_by) REFERENCES users (id), 
	CONSTRAINT fk_templates_sha256 FOREIGN KEY(sha256) REFERENCES contents (sha256), 
	CONSTRAINT fk_templates_updated_by FOREIGN KEY(updated_by) REFERENCES users (id)
);
CREATE TABLE usage_days (
	account_id VARCHAR(64) NOT NULL, 
	day VARCHAR(10) NOT NULL, 
	allowance VARCHAR(16) NOT NULL, 
	pages BIGINT NOT NULL, 
	calls BIGINT NOT NULL, 
	CONSTRAINT pk_usage_days PRIMARY KEY (account_id, day, allowance)
);
CREATE TABLE usage_ledger (
	job_id VARCHAR(64) NOT NULL, 
	account_id VARCHAR(64) NOT NULL, 
	period VARCHAR(10) NOT NULL, 
	allowance VARCHAR(16) NOT NULL, 
	pages BIGINT NOT NULL, 
	occurred_at DATETIME NOT NULL, 
	recorded_at DATETIME NOT NULL, 
	CONSTRAINT pk_usage_ledger PRIMARY KEY (job_id), 
	CONSTRAINT ck_usage_ledger_pages_counted CHECK (pages >= 0)
);
CREATE TABLE usage_totals (
	account_id VARCHAR(64) NOT NULL, 
	period VARCHAR(10) NOT NULL, 
	allowance VARCHAR(16) NOT NULL, 
	pages BIGINT NOT NULL, 
	calls BIGINT NOT NULL, 
	CONSTRAINT pk_usage_totals PRIMARY KEY (account_id, period, allowance)
);
CREATE TABLE users (
	id VARCHAR(64) NOT NULL, 
	account_id VARCHAR(64) NOT NULL, 
	name TEXT NOT NULL, 
	email TEXT NOT NULL, 
	CONSTRAINT pk_users PRIMARY KEY (id), 
	CONSTRAINT fk_users_account_id FOREIGN KEY(account_id) REFERENCES accounts (id)
);
CREATE TABLE versions (
	template_id VARCHAR(128) NOT NULL, 
	version BIGINT NOT NULL, 
	sha256 VARCHAR(64) NOT NULL, 
	message TEXT NOT NULL, 
	created_at DATETIME NOT NULL, 
	created_by VARCHAR(64) NOT NULL, 
	CONSTRAINT pk_versions PRIMARY KEY (template_id, version), 
	CONSTRAINT ck_versions_version_counted CHECK (version >= 1), 
	CONSTRAINT fk_versions_template_id FOREIGN KEY(template_id) REFERENCES templates (id), 
	CONSTRAINT fk_versions_sha256 FOREIGN KEY(sha256) REFERENCES contents (sha256), 
	CONSTRAINT fk_versions_created_by FOREIGN KEY(created_by) REFERENCES users (id)
);
CREATE TABLE webhook_attempts (
	delivery_id VARCHAR(64) NOT NULL, 
	number INTEGER NOT NULL, 
	at DATETIME NOT NULL, 
	status INTEGER, 
	milliseconds INTEGER NOT NULL, 
	error TEXT, 
	CONSTRAINT pk_webhook_attempts PRIMARY KEY (delivery_id, number), 
	CONSTRAINT fk_webhook_attempts_delivery_id FOREIGN KEY(delivery_id) REFERENCES webhook_deliveries (id) ON DELETE CASCADE
);
CREATE TABLE webhook_deliveries (
	id VARCHAR(64) NOT NULL, 
	webhook_id VARCHAR(64) NOT NULL, 
	event VARCHAR(32) NOT NULL, 
	payload TEXT NOT NULL, 
	created_at DATETIME NOT NULL, 
	next_attempt_at DATETIME, 
	attempts INTEGER DEFAULT '0' NOT NULL, 
	status VARCHAR(16) NOT NULL, 
	last_status INTEGER, 
	last_error TEXT, 
	leased_until DATETIME, 
	CONSTRAINT pk_webhook_deliveries PRIMARY KEY (id), 
	CONSTRAINT ck_webhook_deliveries_status_known CHECK (status IN ('pending', 'delivered', 'failed'))
);
CREATE TABLE "webhooks" (
	id VARCHAR(64) NOT NULL, 
	account_id VARCHAR(64) NOT NULL, 
	url TEXT NOT NULL, 
	events JSON NOT NULL, 
	secret TEXT NOT NULL, 
	previous_secret TEXT, 
	previous_secret_until DATETIME, 
	created_at DATETIME NOT NULL, 
	disabled_at DATETIME, 
	CONSTRAINT pk_webhooks PRIMARY KEY (id)
);
CREATE TABLE workspaces (
	id VARCHAR(64) NOT NULL, 
	account_id VARCHAR(64) NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_workspaces PRIMARY KEY (id), 
	CONSTRAINT fk_workspaces_account_id FOREIGN KEY(account_id) REFERENCES accounts (id), 
	CONSTRAINT uq_workspaces_account_id UNIQUE (account_id)
);
CREATE INDEX ix_usage_ledger_account_id_period ON usage_ledger (account_id, period);
CREATE INDEX ix_users_account_id ON users (account_id);
CREATE INDEX ix_api_keys_account_id ON api_keys (account_id);
CREATE INDEX ix_image_reservations_workspace_id ON image_reservations (workspace_id);
CREATE INDEX ix_templates_account_id_id ON templates (account_id, id);
CREATE INDEX ix_tag_events_template_id_tag_id ON tag_events (template_id, tag, id);
CREATE INDEX ix_batches_status_created_at ON batches (status, created_at);
CREATE INDEX ix_batches_sweep_at ON batches (sweep_at);
CREATE INDEX ix_idempotency_keys_expires_at ON idempotency_keys (expires_at);
CREATE INDEX ix_jobs_status_finished_at ON jobs (status, finished_at);
CREATE INDEX ix_jobs_status_queued_at ON jobs (status, queued_at);
CREATE INDEX ix_jobs_sweep_at ON jobs (sweep_at);
CREATE INDEX ix_webhook_deliveries_created_at ON webhook_deliveries (created_at);
CREATE INDEX ix_webhook_deliveries_status_next_attempt_at ON webhook_deliveries (status, next_attempt_at);
CREATE INDEX ix_webhook_deliveries_webhook_id_created_at ON webhook_deliveries (webhook_id, created_at);
CREATE INDEX ix_batch_items_batch_id_status_index ON batch_items (batch_id, status, "index");
CREATE INDEX ix_batch_parts_created_at ON batch_parts (created_at);
CREATE INDEX ix_batch_turns_fed_at_created_at ON batch_turns (fed_at, created_at);
CREATE INDEX ix_batches_unfinished_account_id_fed_at ON batches (account_id, fed_at, created_at) WHERE status IN ('queued', 'running');
CREATE INDEX ix_batch_chunks_open_batch_id ON batch_chunks (batch_id, number, count, done) WHERE status IN ('queued', 'running');
CREATE INDEX ix_batch_chunks_in_flight_queued_at ON batch_chunks (queued_at) WHERE status = 'running' OR status = 'queued' AND queued_at IS NOT NULL;
CREATE INDEX ix_usage_ledger_occurred_at_job_id ON usage_ledger (occurred_at, job_id);
CREATE INDEX ix_webhooks_account_id ON webhooks (account_id);
CREATE INDEX ix_jobs_account_id_status_id ON jobs (account_id, status, id);
CREATE INDEX ix_batches_account_id_status_id ON batches (account_id, status, id);
CREATE INDEX ix_templates_account_id_name_id ON templates (account_id, name, id);
CREATE INDEX ix_job_slices_account_id ON job_slices (account_id);
CREATE INDEX ix_jobs_waiting_account_id_queued_at ON jobs (account_id, queued_at, id) WHERE status = 'queued' AND lane = 'batch' AND slice_id IS NULL;
CREATE INDEX ix_jobs_claimed_slice_id ON jobs (slice_id) WHERE status = 'queued' AND slice_id IS NOT NULL;
CREATE INDEX ix_font_reservations_workspace_id ON font_reservations (workspace_id);
COMMIT;
