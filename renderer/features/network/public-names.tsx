import type { PublicCertificate, PublicNames } from '../../../server/contract/network.ts'
import { Prose } from '../../components/prose.tsx'
import { type StatusBadgeData, StatusText } from '../../components/status.tsx'
import { formatDate, formatDateTime } from '../../lib/format.ts'
import styles from './page.module.css'

const badges: Record<PublicCertificate['status'], StatusBadgeData> = {
  issued: { label: 'Issued', shape: 'disc', tone: 'live' },
  pending: { label: 'Ordering', shape: 'dots', tone: 'busy' },
  failed: { label: 'Failed', shape: 'diamond', tone: 'fail' },
}

const describeTimes = ({ expires_at, next_attempt_at }: PublicCertificate): string =>
  [
    ...(expires_at === null ? [] : [`valid until ${formatDate(expires_at)}`]),
    ...(next_attempt_at === null ? [] : [`next attempt ${formatDateTime(next_attempt_at)}`]),
  ].join(', ')

/** The apps domain and the certificates of public names, when the operator configured either. */
export function PublicNamesCard({ names }: { names: PublicNames }) {
  if (names.apps_domain === null && names.authority === null) return null
  return (
    <section className="card" aria-labelledby="public-names">
      <header className="card-header">
        <h2 id="public-names">Public names</h2>
      </header>
      {names.apps_domain !== null && (
        <div className={styles.networkRow}>
          <span className="text-subtle">Apps domain</span>
          <span className="mono">{names.apps_url?.replace('://', '://NAME.')}</span>
        </div>
      )}
      <div className={styles.networkRow}>
        <span className="text-subtle">Authority</span>
        {names.authority === null ? (
          <span>
            None, so browsers warn. Start Homeport with <code>--acme-email</code>
          </span>
        ) : (
          <div>
            <span>{URL.parse(names.authority)?.hostname ?? names.authority}</span>
            <span className="text-subtle">
              {names.challenge === 'dns-01' ? 'One wildcard certificate, by DNS' : 'One certificate for each name, by HTTP'}
            </span>
          </div>
        )}
      </div>
      {names.certificates.map((certificate) => (
        <div className={styles.networkRow} key={certificate.name}>
          <StatusText badge={badges[certificate.status]} />
          <div>
            <span className="mono">{certificate.name}</span>
            <span className="text-subtle">{describeTimes(certificate)}</span>
            {certificate.last_error !== null && (
              <p className="text-muted">
                <Prose text={certificate.last_error} />
              </p>
            )}
          </div>
        </div>
      ))}
    </section>
  )
}
