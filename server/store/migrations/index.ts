import { logSearchSql } from './log-search.ts'
import { accountsProjectsDeploymentsSql } from './0001-accounts-projects-deployments.ts'
import { cacheDomainsAuthoritiesSql } from './0002-cache-domains-authorities.ts'
import { databasesPreviewsScreenshotsSql } from './0003-databases-previews-screenshots.ts'
import { billingInvitationsIdempotencySql } from './0004-billing-invitations-idempotency.ts'
import { remotesSql } from './0005-remotes.ts'
import { listenPortSql } from './0006-listen-port.ts'
import { deploymentSourcesSql } from './0007-deployment-sources.ts'
import { driverNamesSql } from './0008-driver-names.ts'
import { cronRunsSql } from './0009-cron-runs.ts'
import { projectOptionsSql } from './0010-project-options.ts'
import { managedServicesMailSql } from './0011-managed-services-mail.ts'
import { previewVolumesSql } from './0012-preview-volumes.ts'
import { projectVolumesSql } from './0013-project-volumes.ts'
import { forksSql } from './0014-forks.ts'
import { watchPathsSql } from './0015-watch-paths.ts'
import { databaseVersionsSql } from './0016-database-versions.ts'
import { registriesSql } from './0017-registries.ts'
import { pullRequestsSql } from './0019-pull-requests.ts'
import { publicPortsSql } from './0020-public-ports.ts'
import { projectAppsSql } from './0023-project-apps.ts'
import { tokenScopesSql } from './0024-token-scopes.ts'
import { logDrainsSql } from './0030-log-drains.ts'
import { tracingSql } from './0029-tracing.ts'
import { replicasSql } from './0031-replicas.ts'
import { autoscalingSql } from './0032-autoscaling.ts'
import { publicCertificatesSql } from './0033-public-certificates.ts'
import { sourceIdentitySql } from './0034-source-identity.ts'
import { clusterIdentitySql } from './0035-cluster-identity.ts'
import { nodeLabelsSql } from './0036-node-labels.ts'
import { requestCapturesSql } from './0026-request-captures.ts'
import { dumpNamesSql } from './0028-dump-names.ts'
import { activitySql } from './0025-activity.ts'
import { notificationsSql } from './0027-notifications.ts'

/** In order; never changed after a release. Entry n migrates the file from version n to n + 1. */
export const migrations: readonly { name: string; sql: string }[] = [
  { name: 'foundation', sql: accountsProjectsDeploymentsSql },
  { name: 'edge', sql: cacheDomainsAuthoritiesSql },
  { name: 'around', sql: databasesPreviewsScreenshotsSql },
  { name: 'account', sql: billingInvitationsIdempotencySql },
  { name: 'elsewhere', sql: remotesSql },
  { name: 'listen-port', sql: listenPortSql },
  { name: 'deployment-sources', sql: deploymentSourcesSql },
  { name: 'driver-names', sql: driverNamesSql },
  { name: 'cron-runs', sql: cronRunsSql },
  { name: 'project-options', sql: projectOptionsSql },
  { name: 'managed-services-mail', sql: managedServicesMailSql },
  { name: 'preview-volumes', sql: previewVolumesSql },
  { name: 'project-volumes', sql: projectVolumesSql },
  { name: 'forks', sql: forksSql },
  { name: 'watch-paths', sql: watchPathsSql },
  { name: 'database-versions', sql: databaseVersionsSql },
  { name: 'registries', sql: registriesSql },
  { name: 'pull-requests', sql: pullRequestsSql },
  { name: 'public-ports', sql: publicPortsSql },
  { name: 'project-apps', sql: projectAppsSql },
  { name: 'token-scopes', sql: tokenScopesSql },
  { name: 'activity', sql: activitySql },
  { name: 'request-captures', sql: requestCapturesSql },
  { name: 'notifications', sql: notificationsSql },
  { name: 'dump-names', sql: dumpNamesSql },
  { name: 'tracing', sql: tracingSql },
  { name: 'log-drains', sql: logDrainsSql },
  { name: 'replicas', sql: replicasSql },
  { name: 'autoscaling', sql: autoscalingSql },
  { name: 'public-certificates', sql: publicCertificatesSql },
  { name: 'source-identity', sql: sourceIdentitySql },
  { name: 'cluster-identity', sql: clusterIdentitySql },
  { name: 'node-labels', sql: nodeLabelsSql },
]

export const logMigrations: readonly { name: string; sql: string }[] = [
  {
    name: 'chunks',
    sql: `
CREATE TABLE chunks (
  stream TEXT NOT NULL,
  first INTEGER NOT NULL,
  records INTEGER NOT NULL,
  lines INTEGER NOT NULL,
  last_line INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  body TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX chunks_place ON chunks (stream, first);
`,
  },
  { name: 'log-search', sql: logSearchSql },
  {
    name: 'drain-progress',
    sql: `
CREATE TABLE drain_states (
  drain_id TEXT PRIMARY KEY,
  started_at TEXT NOT NULL,
  delivered INTEGER NOT NULL,
  dropped INTEGER NOT NULL,
  failures INTEGER NOT NULL,
  last_success_at TEXT,
  last_dropped_at TEXT,
  last_error TEXT,
  last_error_at TEXT
) STRICT, WITHOUT ROWID;
CREATE TABLE drain_positions (
  drain_id TEXT NOT NULL REFERENCES drain_states (drain_id) ON DELETE CASCADE,
  stream TEXT NOT NULL,
  record INTEGER NOT NULL,
  gap INTEGER NOT NULL,
  PRIMARY KEY (drain_id, stream)
) STRICT, WITHOUT ROWID;
`,
  },
]

export const metricsMigrations: readonly { name: string; sql: string }[] = [
  {
    name: 'buckets',
    sql: `
CREATE TABLE buckets (
  project_id TEXT NOT NULL,
  ts INTEGER NOT NULL,
  seconds INTEGER NOT NULL,
  requests INTEGER NOT NULL,
  status_2xx INTEGER NOT NULL,
  status_3xx INTEGER NOT NULL,
  status_4xx INTEGER NOT NULL,
  status_5xx INTEGER NOT NULL,
  bytes_out INTEGER NOT NULL,
  cold_starts INTEGER NOT NULL,
  cache_hits INTEGER NOT NULL,
  cache_misses INTEGER NOT NULL,
  cache_bypass INTEGER NOT NULL,
  latencies BLOB NOT NULL,
  cold_latencies BLOB,
  last_cold_start_at INTEGER,
  PRIMARY KEY (project_id, ts, seconds)
) STRICT, WITHOUT ROWID;
CREATE INDEX buckets_age ON buckets (seconds, ts);
`,
  },
  {
    name: 'usage',
    sql: `
CREATE TABLE usage (
  project_id TEXT NOT NULL,
  ts INTEGER NOT NULL,
  seconds INTEGER NOT NULL,
  service TEXT NOT NULL,
  samples INTEGER NOT NULL,
  cpu_sum REAL NOT NULL,
  memory_max REAL NOT NULL,
  PRIMARY KEY (project_id, ts, seconds, service)
) STRICT, WITHOUT ROWID;
CREATE INDEX usage_age ON usage (seconds, ts);
`,
  },
  {
    name: 'usage_replicas',
    sql: `
ALTER TABLE usage RENAME TO earlier_usage;
DROP INDEX usage_age;
CREATE TABLE usage (
  project_id TEXT NOT NULL,
  ts INTEGER NOT NULL,
  seconds INTEGER NOT NULL,
  service TEXT NOT NULL,
  replica INTEGER NOT NULL,
  samples INTEGER NOT NULL,
  cpu_sum REAL NOT NULL,
  memory_max REAL NOT NULL,
  PRIMARY KEY (project_id, ts, seconds, service, replica)
) STRICT, WITHOUT ROWID;
CREATE INDEX usage_age ON usage (seconds, ts);
INSERT INTO usage SELECT project_id, ts, seconds, service, 0, samples, cpu_sum, memory_max FROM earlier_usage;
DROP TABLE earlier_usage;
`,
  },
]

export const requestMigrations: readonly { name: string; sql: string }[] = [
  {
    name: 'requests',
    sql: `
CREATE TABLE projects (
  key INTEGER PRIMARY KEY,
  project_id TEXT NOT NULL UNIQUE,
  last INTEGER NOT NULL
) STRICT;
CREATE TABLE requests (
  seq INTEGER PRIMARY KEY,
  project INTEGER NOT NULL,
  id TEXT NOT NULL,
  time INTEGER NOT NULL,
  method TEXT NOT NULL,
  host TEXT NOT NULL,
  path TEXT NOT NULL,
  query TEXT,
  is_encrypted INTEGER NOT NULL,
  protocol TEXT NOT NULL,
  status INTEGER NOT NULL,
  status_class INTEGER NOT NULL,
  duration_ms REAL NOT NULL,
  wake_ms REAL NOT NULL,
  queue_ms REAL,
  app_ms REAL,
  transfer_ms REAL NOT NULL,
  bytes INTEGER NOT NULL,
  cache TEXT,
  cache_status TEXT,
  deployment_id TEXT,
  replica INTEGER,
  client_ip TEXT NOT NULL,
  user_agent TEXT,
  trace_id TEXT,
  failure TEXT,
  skipped_before INTEGER NOT NULL
) STRICT;
CREATE INDEX requests_status ON requests (project, status_class, seq, status, path);
CREATE INDEX requests_id ON requests (id);
`,
  },
  {
    name: 'trace-index',
    sql: `
CREATE INDEX requests_trace ON requests (trace_id) WHERE trace_id IS NOT NULL;
`,
  },
  {
    name: 'captures',
    sql: `
CREATE TABLE captures (
  seq INTEGER PRIMARY KEY,
  bytes INTEGER NOT NULL,
  sealed_exchange BLOB NOT NULL
) STRICT;
ALTER TABLE projects ADD COLUMN captured_bytes INTEGER NOT NULL DEFAULT 0;
`,
  },
]

export const traceMigrations: readonly { name: string; sql: string }[] = [
  {
    name: 'traces',
    sql: `
CREATE TABLE projects (
  key INTEGER PRIMARY KEY,
  project_id TEXT NOT NULL UNIQUE,
  last INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  dropped INTEGER NOT NULL
) STRICT;
CREATE TABLE spans (
  seq INTEGER PRIMARY KEY,
  project INTEGER NOT NULL,
  trace_id TEXT NOT NULL,
  span_id TEXT NOT NULL,
  parent_id TEXT,
  name TEXT NOT NULL,
  kind INTEGER NOT NULL,
  service TEXT NOT NULL,
  start_us INTEGER NOT NULL,
  duration_us INTEGER NOT NULL,
  is_error INTEGER NOT NULL,
  summary TEXT,
  details TEXT NOT NULL,
  received_at INTEGER NOT NULL,
  bytes INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX spans_trace ON spans (project, trace_id, span_id);
CREATE TABLE traces (
  seq INTEGER PRIMARY KEY,
  project INTEGER NOT NULL,
  trace_id TEXT NOT NULL,
  last_span INTEGER NOT NULL,
  start_us INTEGER NOT NULL,
  end_us INTEGER NOT NULL,
  spans INTEGER NOT NULL,
  errors INTEGER NOT NULL,
  entry_rank INTEGER NOT NULL,
  entry_us INTEGER NOT NULL,
  name TEXT NOT NULL,
  service TEXT NOT NULL,
  method TEXT,
  route TEXT,
  status INTEGER,
  branch TEXT
) STRICT;
CREATE UNIQUE INDEX traces_id ON traces (project, trace_id);
CREATE INDEX traces_last_span ON traces (last_span);
`,
  },
]
