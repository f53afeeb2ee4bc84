/** Certificates of public names, accounts at their authorities, and what was asked of them lately. */
export const publicCertificatesSql = `
CREATE TABLE acme_accounts (
  directory TEXT PRIMARY KEY,
  sealed_key BLOB NOT NULL,
  url TEXT
) STRICT, WITHOUT ROWID;
CREATE TABLE public_certificates (
  directory TEXT NOT NULL,
  name TEXT NOT NULL,
  certificate TEXT,
  sealed_key BLOB,
  failures INTEGER NOT NULL,
  last_error TEXT,
  last_attempt_at TEXT,
  next_attempt_at TEXT,
  PRIMARY KEY (directory, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE acme_attempts (
  directory TEXT NOT NULL,
  name TEXT NOT NULL,
  kind TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT;
CREATE INDEX acme_attempts_age ON acme_attempts (directory, at);
`
