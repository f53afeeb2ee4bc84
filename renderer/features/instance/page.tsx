import { planLabels } from '../../../server/contract/labels.ts'
import { useInstanceSession, useInstanceUsage } from '../../api/instance.ts'
import { toApiError } from '../../lib/api-error.ts'
import { CopyButton } from '../../components/copy.tsx'
import { EmptyState, ProblemView, SkeletonRows } from '../../components/feedback.tsx'
import { useInitialLoading } from '../../lib/use-initial-loading.ts'
import { Anchor } from 'lucide-react'
import { useTitle } from '../../lib/use-title.ts'
import { RuntimeReport } from './runtime-report.tsx'
import { Doctor } from './doctor.tsx'
import { InstanceHeader } from './instance-header.tsx'
import { InstanceLoad } from './instance-load.tsx'
import { RecoveryNotice } from './recovery-notice.tsx'
import styles from './page.module.css'

/** The instance: runtime, addresses, load and health. */
export default function InstancePage() {
  useTitle('Instance')
  const session = useInstanceSession()
  const { data, error, isPending, refetch } = session
  const isOwner = data?.user.is_instance_owner ?? false
  const isLoading = useInitialLoading([session, useInstanceUsage(isOwner)])
  if (error) {
    return (
      <div className="page">
        <ProblemView problem={toApiError(error)} onRetry={() => void refetch()} />
      </div>
    )
  }
  // The load renders with the rest; health checks take longer and come last.
  if (isPending || isLoading) {
    return (
      <div className="page">
        <InstanceHeader />
        <SkeletonRows rows={6} height={80} />
      </div>
    )
  }
  if (data === null) {
    return (
      <div className="page">
        <EmptyState isPage icon={Anchor} title="No details for this instance">
          It supports the API, but it cannot be managed from this dashboard.
        </EmptyState>
      </div>
    )
  }
  const { instance, user, account } = data
  return (
    <div className="page">
      <InstanceHeader />
      <RecoveryNotice />
      {user.is_instance_owner && <InstanceLoad />}
      <div className={styles.instanceColumns}>
        <div className="card card-body stack">
          <h2>Runtime</h2>
          <RuntimeReport />
          <p className="text-subtle">
            Secrets are encrypted with a master key stored{' '}
            {instance.encryption === 'keychain' ? 'in the keychain of this machine' : 'in a file in the data folder'}.
          </p>
        </div>
        <section className="card" aria-labelledby="addresses">
          <header className="card-header">
            <h2 id="addresses">Addresses</h2>
          </header>
          <dl className={styles.addresses}>
            <Address name="API" url={instance.api_url} />
            <Address name="Apps" url={instance.edge_url} />
            {instance.edge_https_url && <Address name="Apps, HTTPS" url={instance.edge_https_url} />}
            <Address name="Dashboard" url={instance.dashboard_url} />
          </dl>
        </section>
      </div>
      {user.is_instance_owner ? (
        <Doctor />
      ) : (
        <section className="card card-body">
          <h2>Your account</h2>
          <p className="text-muted">
            {user.email}, {planLabels[account.plan]} plan. Only the owner can manage settings and people.
          </p>
        </section>
      )}
    </div>
  )
}

function Address({ name, url }: { name: string; url: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <span className="mono truncate">{url}</span>
        <CopyButton text={url} label={`Copy URL: ${name}`} />
      </dd>
    </div>
  )
}
