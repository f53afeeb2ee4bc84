import { Eraser } from 'lucide-react'
import { usePurgeUrls } from '../../api/edge-cache.ts'
import type { CacheInspectionResult } from '../../../server/contract/network.ts'
import { Button } from '../../components/button.tsx'
import { formatBytes, formatDuration, formatDateTime, formatLatency, formatSeconds } from '../../lib/format.ts'
import { Prose } from '../../components/prose.tsx'
import { StatusIcon, type StatusBadgeData } from '../../components/status.tsx'
import { parseCacheStatus, describeCacheMember } from './cache-status.ts'
import { purgeSummary } from './purge-summary.ts'
import styles from './page.module.css'

const cacheStatusBadges: Record<CacheInspectionResult['cache_status'], StatusBadgeData & { meaning: string }> = {
  HIT: { label: 'Hit', shape: 'disc', tone: 'live', meaning: 'served by the edge' },
  STALE: { label: 'Stale', shape: 'dots', tone: 'busy', meaning: 'served by the edge while it revalidates with the app' },
  MISS: { label: 'Miss', shape: 'ring', tone: 'idle', meaning: 'served by the app' },
  BYPASS: { label: 'Bypass', shape: 'dash', tone: 'cold', meaning: 'served by the app and not stored' },
}

export function InspectionResult({ slug, inspection, onAgain }: { slug: string; inspection: CacheInspectionResult; onAgain: () => void }) {
  const { stored, answer } = inspection
  const badge = cacheStatusBadges[inspection.cache_status]
  const purge = usePurgeUrls({ successMessage: purgeSummary, onSuccess: onAgain })
  return (
    <div className={styles.result}>
      <div className={styles.resultHead}>
        <div>
          <p className={`${styles.resultTitle} tone-${badge.tone}`}>
            <StatusIcon badge={badge} size={16} />
            <span>
              {badge.label}: {badge.meaning}
            </span>
          </p>
          <p className="text-muted">
            <Prose text={inspection.why} />
          </p>
        </div>
        {stored && (
          <Button icon={Eraser} busy={purge.isPending} onClick={() => purge.mutate({ params: { slug }, body: { urls: [inspection.url] } })}>
            Purge this URL
          </Button>
        )}
      </div>
      {answer && <LiveResponse answer={answer} />}
      {stored && <StoredResponseDetails stored={stored} />}
      <dl className={styles.resultFacts}>
        <div className={styles.resultKey}>
          <dt>Cache key</dt>
          <dd className="mono">{inspection.key}</dd>
        </div>
      </dl>
    </div>
  )
}

type StoredResponse = NonNullable<CacheInspectionResult['stored']>

function StoredResponseDetails({ stored }: { stored: StoredResponse }) {
  return (
    <>
      <FreshnessBar stored={stored} />
      <dl className={styles.resultFacts}>
        <Fact name="Response">
          {stored.status}, {formatBytes(stored.bytes)}, {stored.tier === 'memory' ? 'in memory' : 'on disk'}
        </Fact>
        <Fact name="Stored">
          <time dateTime={stored.stored_at}>{formatDateTime(stored.stored_at)}</time>
        </Fact>
        <Fact name="Varies by">{stored.vary.length > 0 ? stored.vary.join(', ') : 'Nothing: one response for all requests'}</Fact>
        <Fact name="Tags">
          {stored.tags.length === 0 ? (
            'None'
          ) : (
            <span className={styles.tags}>
              {stored.tags.map((tag) => (
                <span key={tag} className={styles.tag} data-testid="tag">
                  {tag}
                </span>
              ))}
            </span>
          )}
        </Fact>
      </dl>
      <Headers title="Stored response headers" headers={stored.headers} />
    </>
  )
}

/** The lifetime of a stored response on a scale: fresh, usable after that, and its current age. */
function FreshnessBar({ stored }: { stored: StoredResponse }) {
  const fresh = Math.max(0, stored.age_s + stored.fresh_for_s)
  const phases = [
    { way: 'fresh', word: 'fresh', s: fresh },
    { way: 'revalidate', word: 'usable during revalidation', s: stored.stale_while_revalidate_s },
    { way: 'error', word: 'usable when the app fails', s: stored.stale_if_error_s },
  ].filter(({ s }) => s > 0)
  const usable_s = phases.reduce((sum, { s }) => sum + s, 0)
  const total = Math.max(usable_s, stored.age_s, 1)
  const expired_s = total - usable_s
  const state = stored.fresh_for_s >= 0 ? `fresh for another ${formatAge(stored.fresh_for_s)}` : `stale for ${formatAge(-stored.fresh_for_s)}`
  return (
    <div className={styles.ttl}>
      <p>
        {formatAge(stored.age_s)} old, {state}
      </p>
      <div className={styles.ttlBar} aria-hidden>
        {phases.map(({ way, s }) => (
          <span key={way} className={styles[`ttl-${way}`]} style={{ flexGrow: s }} />
        ))}
        {expired_s > 0 && <span className={styles.ttlOver} style={{ flexGrow: expired_s }} />}
        <span className={styles.ttlNow} style={{ left: `${(Math.min(stored.age_s, total) / total) * 100}%` }} />
      </div>
      {phases.length > 0 && (
        <ul className={styles.cacheLegend} data-testid="cache-legend">
          {phases.map(({ way, word, s }) => (
            <li key={way}>
              <span className={`${styles.cacheSwatch} ${styles[`ttl-${way}`]}`} aria-hidden />
              <span>
                <strong>{formatSeconds(s)}</strong> {word}
              </span>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

function formatAge(s: number): string {
  return Math.round(s) < 60 ? `${Math.round(s)} s` : formatDuration(s * 1000)
}

function LiveResponse({ answer }: { answer: NonNullable<CacheInspectionResult['answer']> }) {
  return (
    <section className="stack" aria-label="Test request">
      <h3>Test request</h3>
      <dl className={styles.resultFacts}>
        <Fact name="Response">
          {answer.status} in {formatLatency(answer.ms)}
        </Fact>
        <Fact name="X-Cache">{answer.x_cache ?? 'None'}</Fact>
        <Fact name="Age">{answer.age_s === null ? 'None' : `${answer.age_s} s`}</Fact>
        {answer.cache_status && (
          <div className={styles.resultKey}>
            <dt>Cache-Status</dt>
            <dd>
              {parseCacheStatus(answer.cache_status).map((step) => (
                <p key={step.name}>{describeCacheMember(step)}</p>
              ))}
              <p className="mono text-subtle">{answer.cache_status}</p>
            </dd>
          </div>
        )}
      </dl>
      <Headers title="Response headers" headers={answer.headers} />
    </section>
  )
}

function Headers({ title, headers }: { title: string; headers: readonly (readonly [string, string])[] }) {
  return (
    <details className="disclosure">
      <summary>{title}</summary>
      <dl className={styles.headerList} tabIndex={0} aria-label={title} role="group">
        {headers.map(([name, value], index) => (
          <div key={index}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </details>
  )
}

function Fact({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
