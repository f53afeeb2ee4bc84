/** The name that a user gave a dump. The list of reasons is in the contract only (0008 explains the way). */
export const dumpNamesSql = `
ALTER TABLE database_dumps ADD COLUMN name TEXT NOT NULL DEFAULT '';
ALTER TABLE database_dumps ADD COLUMN dump_reason TEXT NOT NULL DEFAULT 'manual';
UPDATE database_dumps SET dump_reason = reason;
ALTER TABLE database_dumps DROP COLUMN reason;
ALTER TABLE database_dumps RENAME COLUMN dump_reason TO reason;
`
