export interface PublicCertificateTables {
  acme_accounts: AcmeAccountRow
  acme_attempts: AcmeAttemptRow
  public_certificates: PublicCertificateRow
}

export interface AcmeAccountRow {
  directory: string
  sealed_key: Uint8Array
  url: string | null
}

export interface PublicCertificateRow {
  directory: string
  name: string
  certificate: string | null
  sealed_key: Uint8Array | null
  failures: number
  last_error: string | null
  last_attempt_at: string | null
  next_attempt_at: string | null
}

export interface AcmeAttemptRow {
  directory: string
  name: string
  kind: 'new' | 'renewal' | 'issued' | 'failed_validation'
  /** Milliseconds since 1970. */
  at: number
}
