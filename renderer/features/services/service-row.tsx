import { Play, RotateCw, ScrollText, SquareTerminal } from 'lucide-react'
import { Link } from 'wouter'
import { serviceKindLabels } from '../../../server/contract/labels.ts'
import type { Service } from '../../../server/contract/services.ts'
import { displayUrl } from '../../api/app-url.ts'
import { useRestartService, useRunCronService } from '../../api/services.ts'
import { Button } from '../../components/button.tsx'
import { CopyButton } from '../../components/copy.tsx'
import { StatusBadge } from '../../components/status.tsx'
import { formatDateTime } from '../../lib/format.ts'
import { safeWebUrl } from '../../lib/safe-web-url.ts'
import { sanitizeForDisplay } from '../../lib/sanitize-for-display.ts'
import { serviceBadge } from './service-badge.ts'
import styles from './services.module.css'

/** One service: its kind, address, status and actions. */
export function ServiceRow({ slug, branch, service }: { slug: string; branch: string | null; service: Service }) {
  const { name, kind, status, restarts, last_exit_code } = service
  const environment = branch === null ? '' : `&branch=${encodeURIComponent(branch)}`
  const search = service.is_main ? environment.slice(1) : `service=${encodeURIComponent(name)}${environment}`
  return (
    <li className={`card-row ${styles.service}`}>
      <div className={styles.serviceName}>
        <strong className="truncate">{name}</strong>
        <span className="text-subtle">{serviceKindLabels[kind]}</span>
      </div>
      <div className={styles.serviceFacts}>
        <ServiceAddress service={service} />
        {service.ports.map((one) => (
          <PortAddress key={one.port} name={name} port={one} />
        ))}
        <span className="text-subtle">{describe(service)}</span>
        {service.replicas.length > 0 && <Replicas service={service} />}
      </div>
      <div className={styles.serviceState}>
        <StatusBadge badge={serviceBadge(status)} />
        {restarts > 0 && (
          <span className="text-subtle">
            {restarts} {restarts === 1 ? 'restart' : 'restarts'}, last exit code {last_exit_code ?? 'unknown'}
          </span>
        )}
      </div>
      <div className={styles.serviceActions}>
        <ServiceAction slug={slug} branch={branch} service={service} />
        <Link href={`/projects/${slug}/logs?${search}`} className="icon-button" title={`Log of ${name}`} aria-label={`Log of ${name}`}>
          <ScrollText size={16} aria-hidden />
        </Link>
        <Link href={`/projects/${slug}/terminal?${search}`} className="icon-button" title={`Terminal of ${name}`} aria-label={`Terminal of ${name}`}>
          <SquareTerminal size={16} aria-hidden />
        </Link>
      </div>
    </li>
  )
}

function Replicas({ service: { name, replicas } }: { service: Service }) {
  return (
    <ul className={styles.replicas} aria-label={`Replicas of ${name}`}>
      {replicas.map((one) => (
        <li key={one.replica}>
          <StatusBadge badge={serviceBadge(one.status)} />
          <span className="text-subtle">
            {[
              `Replica ${one.replica}`,
              one.node === null ? null : `on ${sanitizeForDisplay(one.node)}`,
              one.in_flight === null ? null : `${one.in_flight} open ${one.in_flight === 1 ? 'request' : 'requests'}`,
              one.memory_mb === null ? null : `${Math.round(one.memory_mb)} MB`,
              one.restarts === 0 ? null : `${one.restarts} ${one.restarts === 1 ? 'restart' : 'restarts'}`,
              one.is_ejected ? 'failing, gets no requests' : null,
            ]
              .filter((fact) => fact !== null)
              .join(' · ')}
          </span>
        </li>
      ))}
    </ul>
  )
}

function ServiceAddress({ service: { name, url, internal_url } }: { service: Service }) {
  if (url === null) return internal_url === null ? null : <span className="mono truncate">{internal_url}</span>
  return (
    <span className={styles.serviceAddress}>
      <a className="mono truncate" href={safeWebUrl(url)} target="_blank" rel="noreferrer noopener">
        {displayUrl(url)}
      </a>
      <CopyButton text={url} label={`Copy URL of ${name}`} />
    </span>
  )
}

function PortAddress({ name, port: { port, url } }: { name: string; port: Service['ports'][number] }) {
  if (url === null) return <span className="text-subtle">Port {port}: another service or a preview has its address.</span>
  return (
    <span className={styles.serviceAddress}>
      <a className="mono truncate" href={safeWebUrl(url)} target="_blank" rel="noreferrer noopener">
        {displayUrl(url)}
      </a>
      <CopyButton text={url} label={`Copy URL of port ${port} of ${name}`} />
    </span>
  )
}

function ServiceAction({ slug, branch, service: { name, kind, is_main, status } }: { slug: string; branch: string | null; service: Service }) {
  const restart = useRestartService({ successMessage: `Restarted ${name}` })
  const run = useRunCronService({
    successMessage: ({ run: { status: outcome } }) => (outcome === 'skipped' ? `${name} is still running` : `Started ${name}`),
  })
  if (is_main) return null
  if (kind === 'cron')
    return branch === null ? (
      <Button icon={Play} busy={run.isPending} onClick={() => run.mutate({ params: { slug, name } })}>
        Run now
      </Button>
    ) : null
  return (
    <Button
      icon={RotateCw}
      busy={restart.isPending}
      disabled={status === 'asleep'}
      onClick={() => restart.mutate({ params: { slug, name }, query: branch === null ? {} : { branch } })}
    >
      Restart
    </Button>
  )
}

/** The line below the address. */
function describe({ kind, status, image, command, schedule, time_zone, next_run_at, volumes, depends_on, health_check }: Service): string {
  const facts = [
    kind === 'cron' && schedule !== null ? `${schedule} (${time_zone ?? 'UTC'})` : null,
    kind === 'cron' && status === 'stopped' ? 'only in production' : next_run_at === null ? null : `next ${formatDateTime(next_run_at)}`,
    image ?? command,
    ...volumes.map((volume) => `${volume.name} at ${volume.path}`),
    depends_on.length === 0 ? null : `after ${depends_on.join(', ')}`,
    health_check && `healthy within ${health_check.timeout_s} s`,
  ]
  return facts.filter((fact) => fact !== null).join(' · ')
}
