/**
 * Every change and by whom. Triggers keep it append-only: only entries before `keep_from`, which the retention moves, can be deleted. Entries outlive what
 * they are about, so they refer to no other table.
 */
export const activitySql = `
CREATE TABLE activity (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  time TEXT NOT NULL,
  account_id TEXT,
  project_id TEXT,
  project_slug TEXT,
  actor_kind TEXT NOT NULL,
  actor_id TEXT,
  actor_name TEXT NOT NULL,
  user_id TEXT,
  user_email TEXT,
  via TEXT,
  action TEXT NOT NULL,
  target_id TEXT,
  target_name TEXT,
  details TEXT NOT NULL,
  is_outcome INTEGER NOT NULL,
  client_ip TEXT,
  request_id TEXT
) STRICT;
CREATE INDEX activity_account ON activity (account_id, seq);
CREATE INDEX activity_project ON activity (project_id, seq);
CREATE TABLE activity_retention (id INTEGER PRIMARY KEY CHECK (id = 1), keep_from INTEGER NOT NULL) STRICT;
INSERT INTO activity_retention VALUES (1, 0);
CREATE TABLE activity_read (
  user_id TEXT PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  seq INTEGER NOT NULL
) STRICT;
CREATE TRIGGER activity_is_not_updated BEFORE UPDATE ON activity
BEGIN SELECT RAISE(ABORT, 'The activity log is append-only.'); END;
CREATE TRIGGER activity_is_not_replaced BEFORE INSERT ON activity
WHEN EXISTS (SELECT 1 FROM activity WHERE seq = NEW.seq OR id = NEW.id)
BEGIN SELECT RAISE(ABORT, 'The activity log is append-only.'); END;
CREATE TRIGGER activity_is_not_deleted BEFORE DELETE ON activity
WHEN OLD.seq >= (SELECT keep_from FROM activity_retention)
BEGIN SELECT RAISE(ABORT, 'The activity log is append-only.'); END;
`
