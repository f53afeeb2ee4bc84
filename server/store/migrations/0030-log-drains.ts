/** Where the logs of projects are sent. What was delivered is in the file of the logs. */
export const logDrainsSql = `
CREATE TABLE log_drains (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  sealed_address BLOB NOT NULL,
  sealed_headers BLOB,
  sealed_secret BLOB,
  format TEXT NOT NULL,
  sources TEXT NOT NULL,
  environments TEXT NOT NULL,
  is_trusted INTEGER NOT NULL,
  is_enabled INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  started_at TEXT NOT NULL,
  created_at TEXT NOT NULL
) STRICT;
CREATE INDEX log_drains_project ON log_drains (project_id);
`
