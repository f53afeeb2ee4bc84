/** What a deployment of a folder or an archive is called, and the files of the last one of each project, as JSON of path and digest. */
export const sourceIdentitySql = `
ALTER TABLE deployments ADD COLUMN source_name TEXT;
ALTER TABLE deployments ADD COLUMN source_bytes INTEGER;
ALTER TABLE deployments ADD COLUMN files_changed INTEGER;
CREATE TABLE source_files (
  project_id TEXT PRIMARY KEY REFERENCES projects (id) ON DELETE CASCADE,
  digests TEXT NOT NULL
) STRICT, WITHOUT ROWID;
`
