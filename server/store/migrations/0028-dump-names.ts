/** The name that a user gave a dump. */
export const dumpNamesSql = `
ALTER TABLE database_dumps ADD COLUMN name TEXT NOT NULL DEFAULT '';
`
