/** On which nodes of a cluster the app of a project may run. */
export const nodeLabelsSql = `
ALTER TABLE projects ADD COLUMN node_labels TEXT NOT NULL DEFAULT '[]';
`
