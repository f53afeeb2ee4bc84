/** The schema of the first version. */
export const accountsProjectsDeploymentsSql = `
CREATE TABLE accounts (
  id TEXT PRIMARY KEY,
  plan TEXT NOT NULL CHECK (plan IN ('starter', 'basic', 'pro', 'enterprise')),
  has_payment_method INTEGER NOT NULL DEFAULT 0,
  created_at TEXT NOT NULL
) STRICT;

CREATE TABLE users (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  email TEXT NOT NULL UNIQUE,
  email_verified INTEGER NOT NULL DEFAULT 0,
  is_instance_owner INTEGER NOT NULL DEFAULT 0,
  created_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX users_one_owner ON users (is_instance_owner) WHERE is_instance_owner = 1;
CREATE INDEX users_account ON users (account_id);

CREATE TABLE team_members (
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  created_at TEXT NOT NULL,
  PRIMARY KEY (account_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX team_members_user ON team_members (user_id);

CREATE TABLE tokens (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('api', 'run')),
  name TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE,
  last4 TEXT NOT NULL,
  last_used_at TEXT,
  expires_at TEXT,
  created_at TEXT NOT NULL
) STRICT;
CREATE INDEX tokens_user ON tokens (user_id);

CREATE TABLE sessions (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  hash TEXT NOT NULL UNIQUE,
  expires_at TEXT NOT NULL,
  created_at TEXT NOT NULL
) STRICT;

CREATE TABLE sign_in_codes (
  hash TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  expires_at TEXT NOT NULL
) STRICT;

CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;

CREATE TABLE projects (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  name TEXT NOT NULL,
  slug TEXT NOT NULL,
  repo_url TEXT,
  sealed_repo_credentials BLOB,
  repo_is_trusted INTEGER NOT NULL DEFAULT 0,
  repo_branch TEXT NOT NULL,
  node_version TEXT NOT NULL,
  install_command TEXT NOT NULL,
  build_command TEXT NOT NULL,
  root_directory TEXT NOT NULL,
  memory_limit_mb INTEGER NOT NULL,
  port INTEGER,
  status TEXT NOT NULL CHECK (status IN ('created', 'building', 'live', 'failed', 'crashed', 'inactive')),
  always_warm INTEGER NOT NULL,
  is_cold INTEGER NOT NULL DEFAULT 0,
  caching_enabled INTEGER NOT NULL,
  has_purge_token INTEGER NOT NULL DEFAULT 0,
  last_request_at TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  stopped_at TEXT,
  crashed_at TEXT,
  deleted_at TEXT
) STRICT;
CREATE UNIQUE INDEX projects_slug ON projects (slug) WHERE deleted_at IS NULL;
CREATE INDEX projects_account ON projects (account_id, seq) WHERE deleted_at IS NULL;

CREATE TABLE deployments (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  project_id TEXT NOT NULL REFERENCES projects (id),
  status TEXT NOT NULL CHECK (status IN ('queued', 'building', 'deploying', 'ready', 'failed', 'canceled')),
  target TEXT NOT NULL CHECK (target IN ('production', 'preview')),
  trigger TEXT NOT NULL,
  source TEXT NOT NULL CHECK (source IN ('git', 'upload', 'folder')),
  branch TEXT,
  commit_sha TEXT,
  commit_message TEXT,
  commit_author TEXT,
  is_dirty INTEGER NOT NULL DEFAULT 0,
  parent_id TEXT,
  is_current INTEGER NOT NULL DEFAULT 0,
  url TEXT,
  error TEXT,
  framework TEXT,
  runtime TEXT NOT NULL CHECK (runtime IN ('docker', 'process')),
  image_bytes INTEGER,
  queued_ms INTEGER,
  build_ms INTEGER,
  deploy_ms INTEGER,
  created_at TEXT NOT NULL,
  started_at TEXT,
  finished_at TEXT,
  source_request TEXT NOT NULL,
  artifact TEXT,
  inputs_digest TEXT,
  attempt INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX deployments_project ON deployments (project_id, seq);
CREATE INDEX deployments_open ON deployments (project_id, seq) WHERE status IN ('queued', 'building', 'deploying');
CREATE INDEX deployments_queued ON deployments (seq) WHERE status = 'queued';
CREATE INDEX deployments_running ON deployments (seq) WHERE status IN ('building', 'deploying');
CREATE UNIQUE INDEX deployments_production ON deployments (project_id) WHERE is_current = 1 AND target = 'production';
CREATE UNIQUE INDEX deployments_preview ON deployments (project_id, branch) WHERE is_current = 1 AND target = 'preview';
CREATE INDEX deployments_current ON deployments (is_current) WHERE is_current = 1;
CREATE INDEX deployments_artifact ON deployments (project_id, seq) WHERE artifact IS NOT NULL;

CREATE TABLE deployment_steps (
  deployment_id TEXT NOT NULL REFERENCES deployments (id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  name TEXT NOT NULL,
  status TEXT NOT NULL,
  started_at TEXT,
  finished_at TEXT,
  PRIMARY KEY (deployment_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE env_vars (
  id TEXT PRIMARY KEY,
  project_id TEXT NOT NULL REFERENCES projects (id),
  key TEXT NOT NULL,
  sealed_value BLOB NOT NULL,
  environment TEXT CHECK (environment IN ('production', 'preview')),
  is_sensitive INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX env_vars_key ON env_vars (project_id, key, coalesce(environment, ''));

CREATE TABLE cleanups (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  work TEXT NOT NULL,
  created_at TEXT NOT NULL
) STRICT;
`
