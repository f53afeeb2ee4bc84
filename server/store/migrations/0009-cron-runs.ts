/** The runs of cron services. A run that is due is claimed by its row, so that none runs twice. */
export const cronRunsSql = `
CREATE TABLE cron_runs (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  service TEXT NOT NULL,
  "trigger" TEXT NOT NULL,
  status TEXT NOT NULL,
  scheduled_at TEXT NOT NULL,
  started_at TEXT,
  finished_at TEXT,
  exit_code INTEGER,
  message TEXT,
  deployment_id TEXT
) STRICT;
CREATE UNIQUE INDEX cron_runs_due ON cron_runs (project_id, service, scheduled_at) WHERE "trigger" = 'schedule';
CREATE INDEX cron_runs_newest ON cron_runs (project_id, service, seq);
`
