/** Whether apps of a project get the address of the trace receiver, and what they send is stored. */
export const tracingSql = `
ALTER TABLE projects ADD COLUMN tracing INTEGER NOT NULL DEFAULT 1 CHECK (tracing IN (0, 1));
`
