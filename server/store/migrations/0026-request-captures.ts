/** For how long requests of a project are captured, and which: see server/contract/request-captures.ts. `until`: milliseconds since 1970. */
export const requestCapturesSql = `
CREATE TABLE request_captures (
  project_id TEXT PRIMARY KEY REFERENCES projects (id) ON DELETE CASCADE,
  until INTEGER NOT NULL,
  path TEXT,
  method TEXT,
  status TEXT,
  masked_fields TEXT NOT NULL
) STRICT, WITHOUT ROWID;
`
