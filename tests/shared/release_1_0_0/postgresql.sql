CREATE TABLE public.accounts (
    id character varying(64) NOT NULL,
    name text NOT NULL,
    plan character varying(16) NOT NULL,
    max_pages bigint NOT NULL,
    max_draft_pages bigint,
    renewal_day integer NOT NULL,
    rate_limit character varying(32),
    is_disabled boolean NOT NULL,
    is_email_verified boolean NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT ck_accounts_max_draft_pages_counted CHECK ((max_draft_pages >= 0)),
    CONSTRAINT ck_accounts_max_pages_counted CHECK ((max_pages >= 0)),
    CONSTRAINT ck_accounts_plan_known CHECK (((plan)::text = ANY ((ARRAY['free'::character varying, 'paid'::character varying])::text[]))),
    CONSTRAINT ck_accounts_renewal_day_in_month CHECK (((renewal_day >= 1) AND (renewal_day <= 31)))
);
CREATE TABLE public.alembic_version (
    version_num character varying(32) NOT NULL
);
CREATE TABLE public.api_keys (
    id character varying(64) NOT NULL,
    account_id character varying(64) NOT NULL,
    user_id character varying(64) NOT NULL,
    digest character varying(64) NOT NULL,
    display character varying(16) NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone,
    revoked_at timestamp with time zone,
    name text
);
CREATE TABLE public.batch_chunks (
    batch_id character varying(64) NOT NULL,
    number bigint NOT NULL,
    first_index bigint NOT NULL,
    count bigint NOT NULL,
    body_offset bigint NOT NULL,
    body_length bigint NOT NULL,
    done bigint DEFAULT '0'::bigint NOT NULL,
    done_bytes bigint DEFAULT '0'::bigint NOT NULL,
    status character varying(16) NOT NULL,
    queued_at timestamp with time zone,
    succeeded bigint DEFAULT '0'::bigint NOT NULL,
    failed bigint DEFAULT '0'::bigint NOT NULL,
    pages bigint DEFAULT '0'::bigint NOT NULL,
    CONSTRAINT ck_batch_chunks_status_known CHECK (((status)::text = ANY ((ARRAY['queued'::character varying, 'running'::character varying, 'done'::character varying, 'cancelled'::character varying])::text[])))
);
CREATE TABLE public.batch_items (
    batch_id character varying(64) NOT NULL,
    index bigint NOT NULL,
    status character varying(16) NOT NULL,
    pages bigint,
    error json,
    filename text,
    part_first_index bigint,
    "offset" bigint,
    length bigint,
    crc32 bigint,
    warnings json,
    CONSTRAINT ck_batch_items_status_known CHECK (((status)::text = ANY ((ARRAY['succeeded'::character varying, 'failed'::character varying, 'cancelled'::character varying])::text[])))
);
CREATE TABLE public.batch_parts (
    batch_id character varying(64) NOT NULL,
    first_index bigint NOT NULL,
    count bigint NOT NULL,
    blob_key character varying(255),
    bytes bigint NOT NULL,
    created_at timestamp with time zone NOT NULL
);
CREATE TABLE public.batch_turns (
    account_id character varying(64) NOT NULL,
    fed_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone NOT NULL,
    jobs_fed_at timestamp with time zone
);
CREATE TABLE public.batches (
    id character varying(64) NOT NULL,
    account_id character varying(64) NOT NULL,
    workspace_id character varying(64),
    user_id character varying(64) NOT NULL,
    request_id character varying(64) NOT NULL,
    status character varying(16) NOT NULL,
    output character varying(16) NOT NULL,
    kind character varying(16) NOT NULL,
    charset character varying(32),
    header json,
    is_draft boolean NOT NULL,
    template text NOT NULL,
    pinned json NOT NULL,
    meter json NOT NULL,
    total bigint NOT NULL,
    body_key character varying(255),
    body_bytes bigint NOT NULL,
    result_key character varying(255),
    result_bytes bigint,
    created_at timestamp with time zone NOT NULL,
    started_at timestamp with time zone,
    fed_at timestamp with time zone,
    finished_at timestamp with time zone,
    expires_at timestamp with time zone,
    sweep_at timestamp with time zone,
    assembly_tries integer DEFAULT 0 NOT NULL,
    assembly_begun_at timestamp with time zone,
    error json,
    traceparent character varying(64),
    removed_at timestamp with time zone,
    CONSTRAINT ck_batches_kind_known CHECK (((kind)::text = ANY ((ARRAY['ndjson'::character varying, 'csv'::character varying])::text[]))),
    CONSTRAINT ck_batches_output_known CHECK (((output)::text = ANY ((ARRAY['files'::character varying, 'zip'::character varying, 'merged'::character varying])::text[]))),
    CONSTRAINT ck_batches_status_known CHECK (((status)::text = ANY ((ARRAY['queued'::character varying, 'running'::character varying, 'finished'::character varying, 'cancelled'::character varying])::text[])))
);
CREATE TABLE public.contents (
    sha256 character varying(64) NOT NULL,
    content text NOT NULL,
    created_at timestamp with time zone NOT NULL
);
CREATE TABLE public.font_reservations (
    id character varying(64) NOT NULL,
    workspace_id character varying(64) NOT NULL,
    name character varying(64) NOT NULL,
    bytes bigint NOT NULL,
    sha256 character varying(64) NOT NULL,
    reserved_at timestamp with time zone NOT NULL
);
CREATE TABLE public.fonts (
    workspace_id character varying(64) NOT NULL,
    name character varying(64) NOT NULL COLLATE pg_catalog."C",
    format character varying(16) NOT NULL,
    bytes bigint NOT NULL,
    sha256 character varying(64) NOT NULL,
    faces json NOT NULL,
    created_at timestamp with time zone NOT NULL,
    created_by character varying(64) NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    updated_by character varying(64) NOT NULL
);
CREATE TABLE public.idempotency_keys (
    account_id character varying(64) NOT NULL,
    call character varying(16) NOT NULL,
    key character varying(255) NOT NULL,
    fingerprint character varying(64),
    job_id character varying(64),
    batch_id character varying(64),
    holder character varying(64),
    leased_until timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL
);
CREATE TABLE public.image_reservations (
    id character varying(64) NOT NULL,
    workspace_id character varying(64) NOT NULL,
    name character varying(64) NOT NULL,
    bytes bigint NOT NULL,
    sha256 character varying(64) NOT NULL,
    reserved_at timestamp with time zone NOT NULL
);
CREATE TABLE public.images (
    workspace_id character varying(64) NOT NULL,
    name character varying(64) NOT NULL COLLATE pg_catalog."C",
    content_type character varying(64) NOT NULL,
    bytes bigint NOT NULL,
    width integer NOT NULL,
    height integer NOT NULL,
    sha256 character varying(64) NOT NULL,
    created_at timestamp with time zone NOT NULL,
    created_by character varying(64) NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    updated_by character varying(64) NOT NULL
);
CREATE TABLE public.job_slices (
    id character varying(64) NOT NULL,
    account_id character varying(64) NOT NULL,
    is_running boolean NOT NULL,
    queued_at timestamp with time zone NOT NULL
);
CREATE TABLE public.jobs (
    id character varying(64) NOT NULL,
    account_id character varying(64) NOT NULL,
    workspace_id character varying(64),
    user_id character varying(64) NOT NULL,
    status character varying(16) NOT NULL,
    lane character varying(16) NOT NULL,
    message text NOT NULL,
    is_draft boolean NOT NULL,
    template text,
    pages bigint,
    filename text,
    timings json,
    error json,
    pdf_key character varying(255),
    pdf_size bigint,
    created_at timestamp with time zone NOT NULL,
    queued_at timestamp with time zone NOT NULL,
    started_at timestamp with time zone,
    finished_at timestamp with time zone,
    expires_at timestamp with time zone,
    sweep_at timestamp with time zone,
    warnings json,
    slice_id character varying(64),
    CONSTRAINT ck_jobs_lane_known CHECK (((lane)::text = ANY ((ARRAY['interactive'::character varying, 'batch'::character varying])::text[]))),
    CONSTRAINT ck_jobs_status_known CHECK (((status)::text = ANY ((ARRAY['queued'::character varying, 'running'::character varying, 'succeeded'::character varying, 'failed'::character varying, 'cancelled'::character varying])::text[])))
);
CREATE TABLE public.slugs (
    workspace_id character varying(64) NOT NULL,
    slug character varying(64) NOT NULL COLLATE pg_catalog."C",
    template_id character varying(128) NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.tag_events (
    id bigint NOT NULL,
    template_id character varying(128) NOT NULL COLLATE pg_catalog."C",
    tag character varying(64) NOT NULL COLLATE pg_catalog."C",
    action character varying(16) NOT NULL,
    version bigint,
    previous_version bigint,
    at timestamp with time zone NOT NULL,
    by character varying(64) NOT NULL,
    CONSTRAINT ck_tag_events_action_known CHECK (((action)::text = ANY ((ARRAY['created'::character varying, 'moved'::character varying, 'removed'::character varying])::text[])))
);
CREATE SEQUENCE public.tag_events_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.tag_events_id_seq OWNED BY public.tag_events.id;
CREATE TABLE public.tags (
    template_id character varying(128) NOT NULL COLLATE pg_catalog."C",
    tag character varying(64) NOT NULL COLLATE pg_catalog."C",
    version bigint NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    updated_by character varying(64) NOT NULL
);
CREATE TABLE public.templates (
    id character varying(128) NOT NULL COLLATE pg_catalog."C",
    account_id character varying(64) NOT NULL,
    name text NOT NULL,
    sha256 character varying(64) NOT NULL,
    created_at timestamp with time zone NOT NULL,
    created_by character varying(64) NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    updated_by character varying(64) NOT NULL,
    version_count bigint DEFAULT '0'::bigint NOT NULL,
    deleted_at timestamp with time zone
);
CREATE TABLE public.usage_days (
    account_id character varying(64) NOT NULL,
    day character varying(10) NOT NULL,
    allowance character varying(16) NOT NULL,
    pages bigint NOT NULL,
    calls bigint NOT NULL
);
CREATE TABLE public.usage_ledger (
    job_id character varying(64) NOT NULL,
    account_id character varying(64) NOT NULL,
    period character varying(10) NOT NULL,
    allowance character varying(16) NOT NULL,
    pages bigint NOT NULL,
    occurred_at timestamp with time zone NOT NULL,
    recorded_at timestamp with time zone NOT NULL,
    CONSTRAINT ck_usage_ledger_pages_counted CHECK ((pages >= 0))
);
CREATE TABLE public.usage_totals (
    account_id character varying(64) NOT NULL,
    period character varying(10) NOT NULL,
    allowance character varying(16) NOT NULL,
    pages bigint NOT NULL,
    calls bigint NOT NULL
);
CREATE TABLE public.users (
    id character varying(64) NOT NULL,
    account_id character varying(64) NOT NULL,
    name text NOT NULL,
    email text NOT NULL
);
CREATE TABLE public.versions (
    template_id character varying(128) NOT NULL COLLATE pg_catalog."C",
    version bigint NOT NULL,
    sha256 character varying(64) NOT NULL,
    message text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    created_by character varying(64) NOT NULL,
    CONSTRAINT ck_versions_version_counted CHECK ((version >= 1))
);
CREATE TABLE public.webhook_attempts (
    delivery_id character varying(64) NOT NULL,
    number integer NOT NULL,
    at timestamp with time zone NOT NULL,
    status integer,
    milliseconds integer NOT NULL,
    error text
);
CREATE TABLE public.webhook_deliveries (
    id character varying(64) NOT NULL,
    webhook_id character varying(64) NOT NULL,
    event character varying(32) NOT NULL,
    payload text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    next_attempt_at timestamp with time zone,
    attempts integer DEFAULT 0 NOT NULL,
    status character varying(16) NOT NULL,
    last_status integer,
    last_error text,
    leased_until timestamp with time zone,
    CONSTRAINT ck_webhook_deliveries_status_known CHECK (((status)::text = ANY ((ARRAY['pending'::character varying, 'delivered'::character varying, 'failed'::character varying])::text[])))
);
CREATE TABLE public.webhooks (
    id character varying(64) NOT NULL,
    account_id character varying(64) NOT NULL,
    url text NOT NULL,
    events json NOT NULL,
    secret text NOT NULL,
    previous_secret text,
    previous_secret_until timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    disabled_at timestamp with time zone
);
CREATE TABLE public.workspaces (
    id character varying(64) NOT NULL,
    account_id character varying(64) NOT NULL,
    created_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY public.tag_events ALTER COLUMN id SET DEFAULT nextval('public.tag_events_id_seq'::regclass);
INSERT INTO public.alembic_version VALUES ('0011');
SELECT pg_catalog.setval('public.tag_events_id_seq', 1, false);
ALTER TABLE ONLY public.alembic_version
    ADD CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num);
ALTER TABLE ONLY public.accounts
    ADD CONSTRAINT pk_accounts PRIMARY KEY (id);
ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT pk_api_keys PRIMARY KEY (id);
ALTER TABLE ONLY public.batch_chunks
    ADD CONSTRAINT pk_batch_chunks PRIMARY KEY (batch_id, number);
ALTER TABLE ONLY public.batch_items
    ADD CONSTRAINT pk_batch_items PRIMARY KEY (batch_id, index);
ALTER TABLE ONLY public.batch_parts
    ADD CONSTRAINT pk_batch_parts PRIMARY KEY (batch_id, first_index);
ALTER TABLE ONLY public.batch_turns
    ADD CONSTRAINT pk_batch_turns PRIMARY KEY (account_id);
ALTER TABLE ONLY public.batches
    ADD CONSTRAINT pk_batches PRIMARY KEY (id);
ALTER TABLE ONLY public.contents
    ADD CONSTRAINT pk_contents PRIMARY KEY (sha256);
ALTER TABLE ONLY public.font_reservations
    ADD CONSTRAINT pk_font_reservations PRIMARY KEY (id);
ALTER TABLE ONLY public.fonts
    ADD CONSTRAINT pk_fonts PRIMARY KEY (workspace_id, name);
ALTER TABLE ONLY public.idempotency_keys
    ADD CONSTRAINT pk_idempotency_keys PRIMARY KEY (account_id, call, key);
ALTER TABLE ONLY public.image_reservations
    ADD CONSTRAINT pk_image_reservations PRIMARY KEY (id);
ALTER TABLE ONLY public.images
    ADD CONSTRAINT pk_images PRIMARY KEY (workspace_id, name);
ALTER TABLE ONLY public.job_slices
    ADD CONSTRAINT pk_job_slices PRIMARY KEY (id);
ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT pk_jobs PRIMARY KEY (id);
ALTER TABLE ONLY public.slugs
    ADD CONSTRAINT pk_slugs PRIMARY KEY (workspace_id, slug);
ALTER TABLE ONLY public.tag_events
    ADD CONSTRAINT pk_tag_events PRIMARY KEY (id);
ALTER TABLE ONLY public.tags
    ADD CONSTRAINT pk_tags PRIMARY KEY (template_id, tag);
ALTER TABLE ONLY public.templates
    ADD CONSTRAINT pk_templates PRIMARY KEY (id);
ALTER TABLE ONLY public.usage_days
    ADD CONSTRAINT pk_usage_days PRIMARY KEY (account_id, day, allowance);
ALTER TABLE ONLY public.usage_ledger
    ADD CONSTRAINT pk_usage_ledger PRIMARY KEY (job_id);
ALTER TABLE ONLY public.usage_totals
    ADD CONSTRAINT pk_usage_totals PRIMARY KEY (account_id, period, allowance);
ALTER TABLE ONLY public.users
    ADD CONSTRAINT pk_users PRIMARY KEY (id);
ALTER TABLE ONLY public.versions
    ADD CONSTRAINT pk_versions PRIMARY KEY (template_id, version);
ALTER TABLE ONLY public.webhook_attempts
    ADD CONSTRAINT pk_webhook_attempts PRIMARY KEY (delivery_id, number);
ALTER TABLE ONLY public.webhook_deliveries
    ADD CONSTRAINT pk_webhook_deliveries PRIMARY KEY (id);
ALTER TABLE ONLY public.webhooks
    ADD CONSTRAINT pk_webhooks PRIMARY KEY (id);
ALTER TABLE ONLY public.workspaces
    ADD CONSTRAINT pk_workspaces PRIMARY KEY (id);
ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT uq_api_keys_digest UNIQUE (digest);
ALTER TABLE ONLY public.slugs
    ADD CONSTRAINT uq_slugs_template_id UNIQUE (template_id);
ALTER TABLE ONLY public.workspaces
    ADD CONSTRAINT uq_workspaces_account_id UNIQUE (account_id);
CREATE INDEX ix_api_keys_account_id ON public.api_keys USING btree (account_id);
CREATE INDEX ix_batch_chunks_in_flight_queued_at ON public.batch_chunks USING btree (queued_at) WHERE (((status)::text = 'running'::text) OR (((status)::text = 'queued'::text) AND (queued_at IS NOT NULL)));
CREATE INDEX ix_batch_chunks_open_batch_id ON public.batch_chunks USING btree (batch_id, number, count, done) WHERE ((status)::text = ANY ((ARRAY['queued'::character varying, 'running'::character varying])::text[]));
CREATE INDEX ix_batch_items_batch_id_status_index ON public.batch_items USING btree (batch_id, status, index);
CREATE INDEX ix_batch_parts_created_at ON public.batch_parts USING btree (created_at);
CREATE INDEX ix_batch_turns_fed_at_created_at ON public.batch_turns USING btree (fed_at, created_at);
CREATE INDEX ix_batches_account_id_status_id ON public.batches USING btree (account_id, status, id);
CREATE INDEX ix_batches_status_created_at ON public.batches USING btree (status, created_at);
CREATE INDEX ix_batches_sweep_at ON public.batches USING btree (sweep_at);
CREATE INDEX ix_batches_unfinished_account_id_fed_at ON public.batches USING btree (account_id, fed_at, created_at) WHERE ((status)::text = ANY ((ARRAY['queued'::character varying, 'running'::character varying])::text[]));
CREATE INDEX ix_font_reservations_workspace_id ON public.font_reservations USING btree (workspace_id);
CREATE INDEX ix_idempotency_keys_expires_at ON public.idempotency_keys USING btree (expires_at);
CREATE INDEX ix_image_reservations_workspace_id ON public.image_reservations USING btree (workspace_id);
CREATE INDEX ix_job_slices_account_id ON public.job_slices USING btree (account_id);
CREATE INDEX ix_jobs_account_id_status_id ON public.jobs USING btree (account_id, status, id);
CREATE INDEX ix_jobs_claimed_slice_id ON public.jobs USING btree (slice_id) WHERE (((status)::text = 'queued'::text) AND (slice_id IS NOT NULL));
CREATE INDEX ix_jobs_status_finished_at ON public.jobs USING btree (status, finished_at);
CREATE INDEX ix_jobs_status_queued_at ON public.jobs USING btree (status, queued_at);
CREATE INDEX ix_jobs_sweep_at ON public.jobs USING btree (sweep_at);
CREATE INDEX ix_jobs_waiting_account_id_queued_at ON public.jobs USING btree (account_id, queued_at, id) WHERE (((status)::text = 'queued'::text) AND ((lane)::text = 'batch'::text) AND (slice_id IS NULL));
CREATE INDEX ix_tag_events_template_id_tag_id ON public.tag_events USING btree (template_id, tag, id);
CREATE INDEX ix_templates_account_id_id ON public.templates USING btree (account_id, id);
CREATE INDEX ix_templates_account_id_name_id ON public.templates USING btree (account_id, name, id);
CREATE INDEX ix_usage_ledger_account_id_period ON public.usage_ledger USING btree (account_id, period);
CREATE INDEX ix_usage_ledger_occurred_at_job_id ON public.usage_ledger USING btree (occurred_at, job_id);
CREATE INDEX ix_users_account_id ON public.users USING btree (account_id);
CREATE INDEX ix_webhook_deliveries_created_at ON public.webhook_deliveries USING btree (created_at);
CREATE INDEX ix_webhook_deliveries_status_next_attempt_at ON public.webhook_deliveries USING btree (status, next_attempt_at);
CREATE INDEX ix_webhook_deliveries_webhook_id_created_at ON public.webhook_deliveries USING btree (webhook_id, created_at);
CREATE INDEX ix_webhooks_account_id ON public.webhooks USING btree (account_id);
ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT fk_api_keys_account_id FOREIGN KEY (account_id) REFERENCES public.accounts(id);
ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT fk_api_keys_user_id FOREIGN KEY (user_id) REFERENCES public.users(id);
ALTER TABLE ONLY public.batch_chunks
    ADD CONSTRAINT fk_batch_chunks_batch_id FOREIGN KEY (batch_id) REFERENCES public.batches(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.batch_items
    ADD CONSTRAINT fk_batch_items_batch_id FOREIGN KEY (batch_id) REFERENCES public.batches(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.batch_parts
    ADD CONSTRAINT fk_batch_parts_batch_id FOREIGN KEY (batch_id) REFERENCES public.batches(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.font_reservations
    ADD CONSTRAINT fk_font_reservations_workspace_id FOREIGN KEY (workspace_id) REFERENCES public.workspaces(id);
ALTER TABLE ONLY public.fonts
    ADD CONSTRAINT fk_fonts_created_by FOREIGN KEY (created_by) REFERENCES public.users(id);
ALTER TABLE ONLY public.fonts
    ADD CONSTRAINT fk_fonts_updated_by FOREIGN KEY (updated_by) REFERENCES public.users(id);
ALTER TABLE ONLY public.fonts
    ADD CONSTRAINT fk_fonts_workspace_id FOREIGN KEY (workspace_id) REFERENCES public.workspaces(id);
ALTER TABLE ONLY public.image_reservations
    ADD CONSTRAINT fk_image_reservations_workspace_id FOREIGN KEY (workspace_id) REFERENCES public.workspaces(id);
ALTER TABLE ONLY public.images
    ADD CONSTRAINT fk_images_created_by FOREIGN KEY (created_by) REFERENCES public.users(id);
ALTER TABLE ONLY public.images
    ADD CONSTRAINT fk_images_updated_by FOREIGN KEY (updated_by) REFERENCES public.users(id);
ALTER TABLE ONLY public.images
    ADD CONSTRAINT fk_images_workspace_id FOREIGN KEY (workspace_id) REFERENCES public.workspaces(id);
ALTER TABLE ONLY public.slugs
    ADD CONSTRAINT fk_slugs_template_id FOREIGN KEY (template_id) REFERENCES public.templates(id);
ALTER TABLE ONLY public.slugs
    ADD CONSTRAINT fk_slugs_workspace_id FOREIGN KEY (workspace_id) REFERENCES public.workspaces(id);
ALTER TABLE ONLY public.tag_events
    ADD CONSTRAINT fk_tag_events_by FOREIGN KEY (by) REFERENCES public.users(id);
ALTER TABLE ONLY public.tag_events
    ADD CONSTRAINT fk_tag_events_template_id FOREIGN KEY (template_id) REFERENCES public.templates(id);
ALTER TABLE ONLY public.tags
    ADD CONSTRAINT fk_tags_template_id FOREIGN KEY (template_id) REFERENCES public.templates(id);
ALTER TABLE ONLY public.tags
    ADD CONSTRAINT fk_tags_template_id_version FOREIGN KEY (template_id, version) REFERENCES public.versions(template_id, version);
ALTER TABLE ONLY public.tags
    ADD CONSTRAINT fk_tags_updated_by FOREIGN KEY (updated_by) REFERENCES public.users(id);
ALTER TABLE ONLY public.templates
    ADD CONSTRAINT fk_templates_account_id FOREIGN KEY (account_id) REFERENCES public.accounts(id);
ALTER TABLE ONLY public.templates
    ADD CONSTRAINT fk_templates_created_by FOREIGN KEY (created_by) REFERENCES public.users(id);
ALTER TABLE ONLY public.templates
    ADD CONSTRAINT fk_templates_sha256 FOREIGN KEY (sha256) REFERENCES public.contents(sha256);
ALTER TABLE ONLY public.templates
    ADD CONSTRAINT fk_templates_updated_by FOREIGN KEY (updated_by) REFERENCES public.users(id);
ALTER TABLE ONLY public.users
    ADD CONSTRAINT fk_users_account_id FOREIGN KEY (account_id) REFERENCES public.accounts(id);
ALTER TABLE ONLY public.versions
    ADD CONSTRAINT fk_versions_created_by FOREIGN KEY (created_by) REFERENCES public.users(id);
ALTER TABLE ONLY public.versions
    ADD CONSTRAINT fk_versions_sha256 FOREIGN KEY (sha256) REFERENCES public.contents(sha256);
ALTER TABLE ONLY public.versions
    ADD CONSTRAINT fk_versions_template_id FOREIGN KEY (template_id) REFERENCES public.templates(id);
ALTER TABLE ONLY public.webhook_attempts
    ADD CONSTRAINT fk_webhook_attempts_delivery_id FOREIGN KEY (delivery_id) REFERENCES public.webhook_deliveries(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.workspaces
    ADD CONSTRAINT fk_workspaces_account_id FOREIGN KEY (account_id) REFERENCES public.accounts(id);
