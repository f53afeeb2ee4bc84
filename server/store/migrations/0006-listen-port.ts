/** The port that a deployment's app listens on, when that is not the one that it was told. */
export const listenPortSql = `
ALTER TABLE deployments ADD COLUMN listen_port INTEGER;
`
