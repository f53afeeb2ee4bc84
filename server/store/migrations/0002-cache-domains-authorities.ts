/** Purges, custom domains, the local certificate authority, the owner's password. */
export const cacheDomainsAuthoritiesSql = `
CREATE TABLE purge_tokens (
  project_id TEXT PRIMARY KEY REFERENCES projects (id),
  hash TEXT NOT NULL,
  created_at TEXT NOT NULL
) STRICT;

CREATE TABLE cache_events (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  project_id TEXT NOT NULL REFERENCES projects (id),
  kind TEXT NOT NULL CHECK (kind IN ('purge_all', 'purge_tags', 'purge_urls', 'token_rotated')),
  tags TEXT NOT NULL,
  urls TEXT NOT NULL,
  purged INTEGER NOT NULL,
  source TEXT NOT NULL CHECK (source IN ('api', 'dashboard', 'webhook', 'deploy')),
  created_at TEXT NOT NULL
) STRICT;
CREATE INDEX cache_events_project ON cache_events (project_id, seq);

CREATE TABLE domains (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  project_id TEXT NOT NULL REFERENCES projects (id),
  hostname TEXT NOT NULL UNIQUE,
  status TEXT NOT NULL CHECK (status IN ('pending', 'verified', 'failed', 'transfer_requested')),
  verified_at TEXT,
  created_at TEXT NOT NULL
) STRICT;
CREATE INDEX domains_project ON domains (project_id, seq);

CREATE TABLE authorities (
  id TEXT PRIMARY KEY,
  certificate TEXT NOT NULL,
  sealed_key BLOB NOT NULL,
  created_at TEXT NOT NULL
) STRICT;

CREATE TABLE passwords (
  user_id TEXT PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  hash TEXT NOT NULL,
  created_at TEXT NOT NULL
) STRICT;
`
