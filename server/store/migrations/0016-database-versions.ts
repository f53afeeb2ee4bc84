/**
 * The major version of PostgreSQL that a database is on, the version that an upgrade in progress moves it to, and the version whose data is kept
 * after an upgrade. `service` of a dump: the managed service; empty for the PostgreSQL database.
 */
export const databaseVersionsSql = `
ALTER TABLE databases ADD COLUMN version INTEGER NOT NULL DEFAULT 15;
ALTER TABLE databases ADD COLUMN upgrading_to INTEGER;
ALTER TABLE databases ADD COLUMN previous_version INTEGER;
ALTER TABLE database_dumps ADD COLUMN service TEXT NOT NULL DEFAULT '';
`
