import { RotateCw } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import type { CapturedExchange } from '../../../server/contract/request-captures.ts'
import type { LoggedRequest } from '../../../server/contract/requests.ts'
import { useDeployment } from '../../api/deployments.ts'
import { useHarDownload } from '../../api/downloads.ts'
import { useInstanceSession } from '../../api/instance.ts'
import { useCapturedRequest } from '../../api/request-captures.ts'
import { useLoggedRequest } from '../../api/requests.ts'
import { Button } from '../../components/button.tsx'
import { CopyButton, CopyText } from '../../components/copy.tsx'
import { numberedTitle } from '../../components/deployment-line.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { DownloadButton } from '../../components/download-button.tsx'
import { DurationBar } from '../../components/duration-bar.tsx'
import { ProblemView, SkeletonRows } from '../../components/feedback.tsx'
import { HttpStatus } from '../../components/http-status.tsx'
import { toApiError } from '../../lib/api-error.ts'
import { formatBytes, formatDateTime, formatLatency } from '../../lib/format.ts'
import { sanitizeForDisplay } from '../../lib/sanitize-for-display.ts'
import { CapturedMessageView } from './captured-message.tsx'
import { toCurl } from './curl.ts'
import { cacheLabels, explainCacheStatus, failureLabels } from './labels.ts'
import { ReplayForm } from './replay-form.tsx'
import styles from './requests.module.css'

/** Everything that is known of a request. */
export function RequestDialog({ slug, id, onClose }: { slug: string; id: string; onClose: () => void }) {
  const { data, error, refetch } = useLoggedRequest(id)
  const { data: captured } = useCapturedRequest(slug, id, data?.is_captured === true)
  const [replayed, setReplayed] = useState<string | null>(null)
  const isReplaying = data && captured && replayed === id
  return (
    <Dialog open onOpenChange={onClose} title={data ? `${isReplaying ? 'Replay ' : ''}${data.method} ${data.path}` : 'Request'}>
      {error && <ProblemView problem={toApiError(error)} onRetry={() => void refetch()} />}
      {!data && !error && <SkeletonRows rows={6} height={32} />}
      {isReplaying ? (
        <ReplayForm slug={slug} request={data} captured={captured} onBack={() => setReplayed(null)} />
      ) : (
        data && <RequestDetails slug={slug} request={data} captured={captured ?? null} onReplay={() => setReplayed(id)} />
      )}
    </Dialog>
  )
}

function DeploymentLink({ slug, id }: { slug: string; id: string }) {
  const { data: deployment } = useDeployment(slug, id)
  return <Link href={`/projects/${slug}/deployments/${id}`}>{deployment ? numberedTitle(deployment) : `…${id.slice(-6)}`}</Link>
}

interface DetailsProps {
  slug: string
  request: LoggedRequest
  captured: CapturedExchange | null
  onReplay: () => void
}

function RequestDetails({ slug, request, captured, onReplay }: DetailsProps) {
  const instance = useInstanceSession().data?.instance
  const curl = toCurl(request, { edge_url: instance?.edge_url ?? null, edge_https_url: instance?.edge_https_url ?? null }, captured?.request)
  const har = useHarDownload(slug)
  const filterLink = (name: string, value: string) => `/projects/${slug}/logs/requests?${new URLSearchParams({ [name]: value })}`
  const { status, failure, query, cache, cache_status, deployment_id, replica, user_agent } = request
  return (
    <div className="stack">
      <Timing request={request} />
      <dl className={styles.details}>
        <Detail name="Status">
          <HttpStatus status={status} />
          {failure !== null && <span className="text-muted"> {failureLabels[failure]}</span>}
        </Detail>
        <Detail name="Time">{formatDateTime(request.time)}</Detail>
        <Detail name="Host">
          <Link href={filterLink('host', request.host)}>{sanitizeForDisplay(request.host)}</Link>{' '}
          <span className="text-subtle">
            {request.scheme}, {request.protocol}
          </span>
        </Detail>
        {query !== null && (
          <Detail name="Query">
            <code>{sanitizeForDisplay(query)}</code>
          </Detail>
        )}
        <Detail name="Cache">
          {cache === null ? 'Not used' : cacheLabels[cache]}
          {explainCacheStatus(cache_status) !== null && <span className="text-subtle"> {explainCacheStatus(cache_status)}</span>}
        </Detail>
        <Detail name="Body">{formatBytes(request.bytes)}</Detail>
        <Detail name="Deployment">{deployment_id === null ? 'None' : <DeploymentLink slug={slug} id={deployment_id} />}</Detail>
        {replica !== null && (
          <Detail name="Replica">
            <Link href={filterLink('replica', String(replica))}>{replica}</Link>
          </Detail>
        )}
        <Detail name="Client">
          <Link href={filterLink('client_ip', request.client_ip)}>{request.client_ip}</Link> <span className="text-subtle">shortened</span>
        </Detail>
        <Detail name="User agent">{user_agent === null ? 'None' : sanitizeForDisplay(user_agent)}</Detail>
        <Detail name="Request ID">
          <CopyText text={request.id} />
        </Detail>
        <Detail name="Trace ID">
          <CopyText text={request.trace_id} />
        </Detail>
        <Detail name="Trace">
          <Link href={`/projects/${slug}/logs/traces/${request.trace_id}`}>Show trace</Link>
        </Detail>
      </dl>
      {captured && (
        <>
          <CapturedMessageView title="Request" message={captured.request} />
          <CapturedMessageView title="Response" message={captured.response} />
        </>
      )}
      <div className={styles.curl}>
        <code>{sanitizeForDisplay(curl)}</code>
        <CopyButton text={curl} label="Copy as curl" />
      </div>
      <div className={styles.chips}>
        {captured && (
          <Button kind="primary" icon={RotateCw} onClick={onReplay}>
            Replay…
          </Button>
        )}
        <DownloadButton load={har.ofRequest(request, captured)} name={`${request.id}.har`} text="Download HAR" />
      </div>
    </div>
  )
}

function Timing({ request: { duration_ms, wake_ms, queue_ms, app_ms, transfer_ms } }: { request: LoggedRequest }) {
  const phases = [
    { name: 'Wake', ms: wake_ms },
    { name: 'Queue', ms: queue_ms ?? 0 },
    { name: 'App', ms: app_ms ?? 0 },
    { name: 'Transfer', ms: transfer_ms },
  ].filter(({ ms }) => ms >= 0.05)
  return (
    <section className={styles.timing} aria-label="Duration">
      <p>
        <strong>{formatLatency(duration_ms)}</strong>{' '}
        <span className="text-muted">{phases.map(({ name, ms }) => `${name.toLowerCase()} ${formatLatency(ms)}`).join(', ')}</span>
      </p>
      {phases.length > 1 && <DurationBar label="Duration" segments={phases.map((phase) => ({ ...phase, state: 'done' }))} />}
    </section>
  )
}

function Detail({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  )
}
