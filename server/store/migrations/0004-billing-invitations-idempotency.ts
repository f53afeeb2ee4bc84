/** Subscriptions, purchased domains, invitations, email verification, idempotency keys. */
export const billingInvitationsIdempotencySql = `
ALTER TABLE accounts ADD COLUMN trial_ends_at TEXT;
ALTER TABLE accounts ADD COLUMN billing_interval TEXT NOT NULL DEFAULT 'monthly' CHECK (billing_interval IN ('monthly', 'yearly'));
ALTER TABLE accounts ADD COLUMN free_domain_credits INTEGER NOT NULL DEFAULT 0;
ALTER TABLE accounts ADD COLUMN customer_id TEXT;
ALTER TABLE accounts ADD COLUMN subscription_id TEXT;
ALTER TABLE accounts ADD COLUMN subscription_status TEXT;
ALTER TABLE accounts ADD COLUMN cancel_at TEXT;
ALTER TABLE accounts ADD COLUMN card_last4 TEXT;
ALTER TABLE accounts ADD COLUMN card_brand TEXT;

CREATE TABLE billing_events (
  id TEXT PRIMARY KEY,
  created_at TEXT NOT NULL
) STRICT;

CREATE TABLE owned_domains (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  hostname TEXT NOT NULL UNIQUE,
  registrar TEXT NOT NULL,
  reference TEXT NOT NULL,
  expires_at TEXT NOT NULL,
  auto_renew INTEGER NOT NULL,
  sealed_registrant BLOB,
  sealed_auth_code BLOB,
  transfer_requested_at TEXT,
  created_at TEXT NOT NULL,
  is_registered INTEGER NOT NULL DEFAULT 1,
  is_pointed INTEGER NOT NULL DEFAULT 1,
  project_id TEXT,
  credits_used INTEGER NOT NULL DEFAULT 0,
  last_error TEXT
) STRICT;

ALTER TABLE domains ADD COLUMN last_check_at TEXT;
ALTER TABLE domains ADD COLUMN last_check_error TEXT;
ALTER TABLE domains ADD COLUMN failed_checks INTEGER NOT NULL DEFAULT 0;
ALTER TABLE domains ADD COLUMN owned_domain_id TEXT REFERENCES owned_domains (id);

CREATE TABLE email_verifications (
  hash TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  expires_at TEXT NOT NULL
) STRICT;

CREATE TABLE invitations (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  email TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE,
  expires_at TEXT NOT NULL,
  accepted_at TEXT,
  created_at TEXT NOT NULL
) STRICT;

CREATE TABLE idempotency_keys (
  account_id TEXT NOT NULL,
  key TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  status INTEGER,
  headers TEXT,
  sealed_body BLOB,
  created_at TEXT NOT NULL,
  PRIMARY KEY (account_id, key)
) STRICT;
`
