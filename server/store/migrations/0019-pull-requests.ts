/** Previews of pull requests, from the refs of the forge. */
export const pullRequestsSql = `
ALTER TABLE watches ADD COLUMN pull_requests INTEGER NOT NULL DEFAULT 0;
ALTER TABLE watches ADD COLUMN pull_request_secrets INTEGER NOT NULL DEFAULT 0;
ALTER TABLE watches ADD COLUMN knows_pull_requests INTEGER NOT NULL DEFAULT 0;
ALTER TABLE watches ADD COLUMN has_merge_refs INTEGER NOT NULL DEFAULT 0;
`
