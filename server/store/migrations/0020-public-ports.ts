/** Additional ports of a project's app, each with an address of its own. */
export const publicPortsSql = `
ALTER TABLE projects ADD COLUMN public_ports TEXT NOT NULL DEFAULT '[]';
`
