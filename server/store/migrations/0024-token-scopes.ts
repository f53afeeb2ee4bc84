/** What an API token may do, and the project that it is limited to. */
export const tokenScopesSql = `
ALTER TABLE tokens ADD COLUMN scope TEXT;
ALTER TABLE tokens ADD COLUMN project_id TEXT;
CREATE INDEX tokens_project ON tokens (project_id) WHERE project_id IS NOT NULL;
`
