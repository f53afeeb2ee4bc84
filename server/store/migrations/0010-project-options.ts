/** Health check and processors of a project, variables that are never returned or mounted into builds, and deployments that ignore caches. */
export const projectOptionsSql = `
ALTER TABLE projects ADD COLUMN health_path TEXT NOT NULL DEFAULT '/';
ALTER TABLE projects ADD COLUMN health_timeout_s INTEGER NOT NULL DEFAULT 60;
ALTER TABLE projects ADD COLUMN cpu_limit REAL;
ALTER TABLE env_vars ADD COLUMN is_write_only INTEGER NOT NULL DEFAULT 0 CHECK (is_write_only IN (0, 1));
ALTER TABLE env_vars ADD COLUMN is_build_secret INTEGER NOT NULL DEFAULT 0 CHECK (is_build_secret IN (0, 1));
ALTER TABLE deployments ADD COLUMN skips_cache INTEGER NOT NULL DEFAULT 0 CHECK (skips_cache IN (0, 1));
`
