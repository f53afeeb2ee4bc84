/** The certificate authority and the password of the registry of a cluster, as encrypted JSON. At most one row, with the id `cluster`. */
export const clusterIdentitySql = `
CREATE TABLE cluster_identities (
  id TEXT PRIMARY KEY,
  sealed_identity BLOB NOT NULL
) STRICT, WITHOUT ROWID;
`
