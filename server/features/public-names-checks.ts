import type { DoctorCheck } from '../contract/instance.ts'
import type { PublicNames } from '../contract/network.ts'

const name = 'public names'
const shownFailures = 3
const day_ms = 24 * 3_600_000
const maxRemaining_ms = 7 * day_ms

/** The doctor's check of the apps domain and of certificates for public names; none without either. */
export function checkPublicNames(
  { apps_domain, authority, challenge, certificates }: PublicNames,
  { edge_url, now }: { edge_url: string; now: number },
): DoctorCheck[] {
  if (authority === null) {
    if (apps_domain === null) return []
    return [
      {
        name,
        status: 'warning',
        message: `Projects answer at NAME.${apps_domain}, but over HTTPS browsers warn, because no certificate authority is configured.`,
        hint: 'Start Homeport with --acme-email EMAIL --acme-accept-terms: homeport help public-names',
      },
    ]
  }
  const failing = certificates.filter(({ last_error }) => last_error !== null)
  if (failing.length > 0) {
    const isUrgent = failing.some(({ expires_at }) => expires_at === null || Date.parse(expires_at) - now < maxRemaining_ms)
    const others = failing.length - shownFailures
    const port = new URL(edge_url).port || '80'
    return [
      {
        name,
        status: isUrgent ? 'failed' : 'warning',
        message: `${failing
          .slice(0, shownFailures)
          .map(({ last_error }) => last_error)
          .join(' ')}${others > 0 ? ` And ${others} more.` : ''}`,
        hint:
          challenge === 'http-01' && port !== '80'
            ? `The certificate authority connects to port 80, and the edge listens on port ${port}: forward port 80 to it, or use --edge-port 80.`
            : 'Homeport tries again automatically. See homeport help public-names.',
      },
    ]
  }
  const issued = certificates.filter(({ status }) => status === 'issued').length
  const message = `${issued} public ${issued === 1 ? 'certificate' : 'certificates'}, renewed automatically.`
  if (authority.includes('staging'))
    return [
      {
        name,
        status: 'warning',
        message: `${message} They are from staging, so browsers do not trust them.`,
        hint: 'Use --acme-directory production when it works.',
      },
    ]
  return [{ name, status: 'ok', message, hint: null }]
}
