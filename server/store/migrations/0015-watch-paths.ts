/** Pushes that change nothing that a project watches are not deployed; the last one of each branch is shown. */
export const watchPathsSql = `
ALTER TABLE projects ADD COLUMN watch_paths TEXT NOT NULL DEFAULT '[]';

CREATE TABLE skipped_pushes (
  project_id TEXT NOT NULL REFERENCES projects (id),
  branch TEXT NOT NULL,
  commit_sha TEXT NOT NULL,
  commit_message TEXT NOT NULL,
  base_id TEXT NOT NULL,
  changed_files INTEGER NOT NULL,
  skipped_at TEXT NOT NULL,
  PRIMARY KEY (project_id, branch)
) STRICT;
`
