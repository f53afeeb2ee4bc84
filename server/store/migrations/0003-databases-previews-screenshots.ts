/** Databases and their dumps, watched repositories and previews, screenshots. */
export const databasesPreviewsScreenshotsSql = `
CREATE TABLE databases (
  project_id TEXT NOT NULL REFERENCES projects (id),
  branch TEXT NOT NULL DEFAULT '',
  driver TEXT NOT NULL CHECK (driver IN ('docker', 'process')),
  db_name TEXT NOT NULL UNIQUE,
  db_user TEXT NOT NULL UNIQUE,
  sealed_password BLOB NOT NULL,
  is_ready INTEGER NOT NULL DEFAULT 0,
  created_at TEXT NOT NULL,
  PRIMARY KEY (project_id, branch)
) STRICT;

CREATE TABLE database_dumps (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  project_id TEXT NOT NULL,
  project_slug TEXT NOT NULL,
  db_name TEXT NOT NULL,
  reason TEXT NOT NULL CHECK (reason IN ('manual', 'drop', 'restore')),
  file TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  created_at TEXT NOT NULL
) STRICT;
CREATE INDEX database_dumps_project ON database_dumps (project_id, seq);

CREATE TABLE watches (
  project_id TEXT PRIMARY KEY REFERENCES projects (id),
  deploys_pushes INTEGER NOT NULL DEFAULT 1,
  previews INTEGER NOT NULL DEFAULT 1,
  preview_databases INTEGER NOT NULL DEFAULT 0,
  repo_url TEXT,
  checked_at TEXT,
  message TEXT
) STRICT;

CREATE TABLE branches (
  project_id TEXT NOT NULL REFERENCES projects (id),
  branch TEXT NOT NULL,
  commit_sha TEXT NOT NULL,
  PRIMARY KEY (project_id, branch)
) STRICT;

CREATE TABLE previews (
  project_id TEXT NOT NULL REFERENCES projects (id),
  branch TEXT NOT NULL,
  host TEXT NOT NULL UNIQUE,
  is_cold INTEGER NOT NULL DEFAULT 0,
  last_request_at TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  PRIMARY KEY (project_id, branch)
) STRICT;

CREATE INDEX deployments_of_preview ON deployments (project_id, branch, seq) WHERE target = 'preview';

CREATE TABLE screenshots (
  deployment_id TEXT NOT NULL REFERENCES deployments (id),
  variant TEXT NOT NULL CHECK (variant IN ('desktop', 'mobile')),
  bytes INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  PRIMARY KEY (deployment_id, variant)
) STRICT;
`
