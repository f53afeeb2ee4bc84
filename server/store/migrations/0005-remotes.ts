/** Other instances that the dashboard can show. `sealed_token` is NULL while the token is only in memory or unknown. */
export const remotesSql = `
CREATE TABLE remotes (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  origin TEXT NOT NULL UNIQUE,
  hue INTEGER NOT NULL,
  sealed_token BLOB,
  created_at TEXT NOT NULL
) STRICT;
`
