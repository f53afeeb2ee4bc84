/** How many replicas of a project's app run, and whether a browser stays at one of them. */
export const replicasSql = `
ALTER TABLE projects ADD COLUMN replicas INTEGER NOT NULL DEFAULT 1;
ALTER TABLE projects ADD COLUMN sticky_sessions INTEGER NOT NULL DEFAULT 0;
`
