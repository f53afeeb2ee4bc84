/**
 * Removes the lists of runtime names from the tables, because `contract/runtimes.ts` has the only one. SQLite drops a column's CHECK with the column,
 * which keeps rows, indexes and references without a copy of the table.
 */
export const driverNamesSql = `
ALTER TABLE deployments ADD COLUMN runtime_name TEXT NOT NULL DEFAULT '';
UPDATE deployments SET runtime_name = runtime;
ALTER TABLE deployments DROP COLUMN runtime;
ALTER TABLE deployments RENAME COLUMN runtime_name TO runtime;
ALTER TABLE databases ADD COLUMN driver_name TEXT NOT NULL DEFAULT '';
UPDATE databases SET driver_name = driver;
ALTER TABLE databases DROP COLUMN driver;
ALTER TABLE databases RENAME COLUMN driver_name TO driver;
`
