/** Credentials for pulling the images of a project. */
export const registriesSql = `
CREATE TABLE registries (
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  host TEXT NOT NULL,
  username TEXT NOT NULL,
  sealed_password BLOB NOT NULL,
  created_at TEXT NOT NULL,
  PRIMARY KEY (project_id, host)
) STRICT, WITHOUT ROWID;
`
