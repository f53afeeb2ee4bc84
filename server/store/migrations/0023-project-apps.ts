/** Apps of a repository that are deployed as services without a configuration file, as a JSON list of folders. */
export const projectAppsSql = `
ALTER TABLE projects ADD COLUMN apps TEXT NOT NULL DEFAULT '[]';
`
