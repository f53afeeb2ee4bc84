/** The port that a deployment's app listens on, if it differs from PORT. */
export const listenPortSql = `
ALTER TABLE deployments ADD COLUMN listen_port INTEGER;
`
