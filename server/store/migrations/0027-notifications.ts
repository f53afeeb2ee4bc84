/** Notification targets, the outbox of notifications with its attempts, open incidents, and deploy hooks. */
export const notificationsSql = `
CREATE TABLE notification_targets (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  project_id TEXT REFERENCES projects (id) ON DELETE CASCADE,
  type TEXT NOT NULL,
  name TEXT NOT NULL,
  sealed_address BLOB NOT NULL,
  sealed_secret BLOB,
  is_trusted INTEGER NOT NULL,
  rules TEXT NOT NULL,
  project_ids TEXT,
  is_enabled INTEGER NOT NULL,
  created_at TEXT NOT NULL
) STRICT;
CREATE INDEX notification_targets_account ON notification_targets (account_id);
CREATE INDEX notification_targets_project ON notification_targets (project_id) WHERE project_id IS NOT NULL;

CREATE TABLE notification_deliveries (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  target_id TEXT NOT NULL REFERENCES notification_targets (id) ON DELETE CASCADE,
  project_id TEXT,
  event TEXT NOT NULL,
  subject TEXT NOT NULL,
  payload TEXT NOT NULL,
  status TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  tries_left INTEGER NOT NULL,
  next_attempt_at TEXT,
  created_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX notification_deliveries_subject ON notification_deliveries (target_id, event, subject);
CREATE INDEX notification_deliveries_due ON notification_deliveries (next_attempt_at) WHERE next_attempt_at IS NOT NULL;
CREATE INDEX notification_deliveries_age ON notification_deliveries (created_at);

CREATE TABLE notification_attempts (
  delivery_id TEXT NOT NULL REFERENCES notification_deliveries (id) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  at TEXT NOT NULL,
  status INTEGER,
  duration_ms INTEGER NOT NULL,
  error TEXT,
  PRIMARY KEY (delivery_id, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE notification_incidents (
  target_id TEXT NOT NULL REFERENCES notification_targets (id) ON DELETE CASCADE,
  event TEXT NOT NULL,
  subject TEXT NOT NULL,
  is_open INTEGER NOT NULL,
  is_notified INTEGER NOT NULL,
  notified_at TEXT,
  PRIMARY KEY (target_id, event, subject)
) STRICT, WITHOUT ROWID;

CREATE TABLE deploy_hooks (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  branch TEXT,
  hash TEXT NOT NULL UNIQUE,
  last4 TEXT NOT NULL,
  last_used_at TEXT,
  created_at TEXT NOT NULL
) STRICT;
CREATE INDEX deploy_hooks_project ON deploy_hooks (project_id);
`
