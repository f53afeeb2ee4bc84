/**
 * Branches with their own copy of the data of another environment. `copied` is null until the first copy is complete; `undo` is set during a
 * copy, and says how to restore the replaced data.
 */
export const forksSql = `
CREATE TABLE forks (
  project_id TEXT NOT NULL REFERENCES projects (id),
  branch TEXT NOT NULL,
  copied TEXT,
  undo TEXT,
  PRIMARY KEY (project_id, branch)
) STRICT, WITHOUT ROWID;
`
