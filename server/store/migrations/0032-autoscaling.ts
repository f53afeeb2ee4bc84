/** Autoscaling of a project's app: its range as JSON, and the latest changes to the number of replicas. */
export const autoscalingSql = `
ALTER TABLE projects ADD COLUMN autoscaling TEXT;
CREATE TABLE scaling_decisions (
  seq INTEGER PRIMARY KEY,
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  time TEXT NOT NULL,
  "from" INTEGER NOT NULL,
  "to" INTEGER NOT NULL,
  reason TEXT NOT NULL,
  concurrency REAL NOT NULL,
  target_concurrency INTEGER NOT NULL,
  recommended INTEGER NOT NULL
) STRICT;
CREATE INDEX scaling_decisions_newest ON scaling_decisions (project_id, seq);
`
