/** Services that a project has without a configuration file, and the email that its apps sent. */
export const managedServicesMailSql = `
CREATE TABLE managed_services (
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  sealed_password BLOB NOT NULL,
  created_at TEXT NOT NULL,
  removed_at TEXT,
  PRIMARY KEY (project_id, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE mailboxes (
  project_id TEXT PRIMARY KEY REFERENCES projects (id) ON DELETE CASCADE,
  is_enabled INTEGER NOT NULL CHECK (is_enabled IN (0, 1)),
  sealed_password BLOB NOT NULL,
  created_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE mail_messages (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  sender TEXT NOT NULL,
  recipients TEXT NOT NULL,
  subject TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  attachments INTEGER NOT NULL,
  received_at TEXT NOT NULL
) STRICT;
CREATE INDEX mail_messages_newest ON mail_messages (project_id, seq);
`
