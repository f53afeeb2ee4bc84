/** Volumes that a project has without a configuration file, and the files of its apps that a new version would lose. */
export const projectVolumesSql = `
CREATE TABLE project_volumes (
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  service TEXT NOT NULL,
  path TEXT NOT NULL,
  is_file INTEGER NOT NULL CHECK (is_file IN (0, 1)),
  begins_with TEXT,
  created_at TEXT NOT NULL,
  removed_at TEXT,
  PRIMARY KEY (project_id, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE unsaved_files (
  id TEXT PRIMARY KEY,
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  service TEXT NOT NULL,
  path TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('database', 'uploads', 'files')),
  is_file INTEGER NOT NULL CHECK (is_file IN (0, 1)),
  files INTEGER NOT NULL,
  bytes INTEGER,
  volume TEXT NOT NULL,
  found_at TEXT NOT NULL,
  dismissed_at TEXT,
  UNIQUE (project_id, service, path)
) STRICT, WITHOUT ROWID;
`
