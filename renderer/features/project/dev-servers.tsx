import { Undo2 } from 'lucide-react'
import type { DevSession } from '../../../server/contract/dev.ts'
import { displayUrl } from '../../api/app-url.ts'
import { useDevServers, useEndDevServer } from '../../api/dev-servers.ts'
import { useInstanceSession } from '../../api/instance.ts'
import { Button } from '../../components/button.tsx'
import { StatusIcon, type StatusBadgeData } from '../../components/status.tsx'
import { ElapsedTime } from '../../components/time.tsx'
import { safeWebUrl } from '../../lib/safe-web-url.ts'
import styles from './overview.module.css'

const badges: Record<DevSession['status'], StatusBadgeData> = {
  starting: { label: 'Development server is starting', shape: 'turning', tone: 'busy' },
  running: { label: 'Development server', shape: 'disc', tone: 'cold' },
}

/** The active development servers with addresses of the project; renders nothing without any. */
export function DevServers({ slug }: { slug: string }) {
  const { data: servers } = useDevServers(slug)
  return servers?.map((server) => <DevServer key={server.id} slug={slug} server={server} />)
}

function DevServer({ slug, server }: { slug: string; server: DevSession }) {
  const isOwner = useInstanceSession().data?.user.is_instance_owner === true
  const end = useEndDevServer({ successMessage: `Switched ${server.host} back` })
  const badge = badges[server.status]
  const address = safeWebUrl(server.url)
  return (
    <section className={`card ${styles.statusNotice} tone-${badge.tone}`} aria-label={badge.label}>
      <StatusIcon badge={badge} />
      <div>
        <h2>{badge.label}</h2>
        <p className={styles.devServerFacts}>
          {address === undefined ? (
            <span>{displayUrl(server.url)}</span>
          ) : (
            <a href={address} target="_blank" rel="noreferrer noopener">
              {displayUrl(server.url)}
            </a>
          )}
          <span className="mono">{server.folder}</span>
        </p>
        <p className={`${styles.devServerFacts} text-muted`}>
          {server.branch !== null && <span>Branch {server.branch}</span>}
          {server.fork_branch !== null && <span>Own copy of production’s data</span>}
          <span>Port {server.port}</span>
          <span>
            <ElapsedTime at={server.started_at} />
          </span>
          {server.is_production_address && <span>Visitors from other machines still get the production build.</span>}
        </p>
      </div>
      {isOwner && (
        <Button icon={Undo2} busy={end.isPending} onClick={() => end.mutate({ params: { slug, session: server.id } })}>
          Switch back
        </Button>
      )}
    </section>
  )
}
