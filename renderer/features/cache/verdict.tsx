import { Eraser } from 'lucide-react'
import type { CacheVerdict } from '../../../server/contract/network.ts'
import { useAction } from '../../api/actions.ts'
import { useUi } from '../../stores/ui.ts'
import { Button } from '../../ui/button.tsx'
import { bytes, duration, exactTime, milliseconds, seconds } from '../../ui/format.ts'
import { Prose } from '../../ui/prose.tsx'
import { Mark, type Sign } from '../../ui/status.tsx'
import { cacheSteps, explain } from './cache-status.ts'
import { purgedWords, usePurged } from './purged.ts'

const signs: Record<CacheVerdict['verdict'], Sign & { means: string }> = {
  HIT: { word: 'Hit', shape: 'disc', tone: 'live', means: 'the edge answers by itself' },
  STALE: { word: 'Stale', shape: 'dots', tone: 'busy', means: 'the edge answers with what it has, and asks the app behind it' },
  MISS: { word: 'Miss', shape: 'ring', tone: 'idle', means: 'the app is asked' },
  BYPASS: { word: 'Bypass', shape: 'dash', tone: 'cold', means: 'the app is asked, and its answer is not kept' },
}

export function Verdict({ slug, verdict, onAgain }: { slug: string; verdict: CacheVerdict; onAgain: () => void }) {
  const { stored, answer } = verdict
  const sign = signs[verdict.verdict]
  const showToast = useUi((state) => state.showToast)
  const purged = usePurged(slug)
  const purge = useAction('purgeUrls', {
    onDone(done) {
      showToast({ kind: 'done', text: purgedWords(done.purged), request_id: null })
      purged()
      onAgain()
    },
  })
  return (
    <div className="verdict">
      <div className="verdict-head">
        <div>
          <p className={`verdict-word tone-${sign.tone}`}>
            <Mark sign={sign} size={16} />
            <span>
              {sign.word}: {sign.means}
            </span>
          </p>
          <p className="quiet">
            <Prose text={verdict.why} />
          </p>
        </div>
        {stored && (
          <Button icon={Eraser} busy={purge.isPending} onClick={() => purge.mutate({ params: { slug }, body: { urls: [verdict.url] } })}>
            Purge this address
          </Button>
        )}
      </div>
      {answer && <RealAnswer answer={answer} />}
      {stored && <Stored stored={stored} />}
      <dl className="verdict-facts">
        <div className="verdict-key">
          <dt>Stored under</dt>
          <dd className="mono">{verdict.key}</dd>
        </div>
      </dl>
    </div>
  )
}

type StoredAnswer = NonNullable<CacheVerdict['stored']>

function Stored({ stored }: { stored: StoredAnswer }) {
  return (
    <>
      <Life stored={stored} />
      <dl className="verdict-facts">
        <Fact name="Answer">
          {stored.status}, {bytes(stored.bytes)}, {stored.tier === 'memory' ? 'in memory' : 'on disk'}
        </Fact>
        <Fact name="Stored">
          <time dateTime={stored.stored_at}>{exactTime(stored.stored_at)}</time>
        </Fact>
        <Fact name="Varies by">{stored.vary.length > 0 ? stored.vary.join(', ') : 'Nothing: one answer for all'}</Fact>
        <Fact name="Tags">
          {stored.tags.length === 0 ? (
            'None'
          ) : (
            <span className="tags">
              {stored.tags.map((tag) => (
                <span key={tag} className="tag">
                  {tag}
                </span>
              ))}
            </span>
          )}
        </Fact>
      </dl>
      <Headers title="Headers of the stored answer" headers={stored.headers} />
    </>
  )
}

/** The life of a stored answer on one line: how long fresh, how long usable after that, and where it is now. */
function Life({ stored }: { stored: StoredAnswer }) {
  const fresh = Math.max(0, stored.age_s + stored.fresh_for_s)
  const spans = [
    { way: 'fresh', word: 'fresh', s: fresh },
    { way: 'revalidate', word: 'usable while the app is asked', s: stored.stale_while_revalidate_s },
    { way: 'error', word: 'usable when the app fails', s: stored.stale_if_error_s },
  ].filter(({ s }) => s > 0)
  const end = spans.reduce((sum, { s }) => sum + s, 0)
  const total = Math.max(end, stored.age_s, 1)
  const over = total - end
  const state = stored.fresh_for_s >= 0 ? `fresh for another ${age(stored.fresh_for_s)}` : `stale for ${age(-stored.fresh_for_s)}`
  return (
    <div className="life">
      <p>
        {age(stored.age_s)} old, {state}
      </p>
      <div className="life-bar" aria-hidden>
        {spans.map(({ way, s }) => (
          <span key={way} className={`life-${way}`} style={{ flexGrow: s }} />
        ))}
        {over > 0 && <span className="life-over" style={{ flexGrow: over }} />}
        <span className="life-now" style={{ left: `${(Math.min(stored.age_s, total) / total) * 100}%` }} />
      </div>
      {spans.length > 0 && (
        <ul className="cache-key">
          {spans.map(({ way, word, s }) => (
            <li key={way}>
              <span className={`cache-swatch life-${way}`} aria-hidden />
              <span>
                <strong>{seconds(s)}</strong> {word}
              </span>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

function age(s: number): string {
  return s < 60 ? `${Math.round(s)} s` : duration(s * 1000)
}

function RealAnswer({ answer }: { answer: NonNullable<CacheVerdict['answer']> }) {
  return (
    <section className="stack" aria-label="The request">
      <h3>The request that was made</h3>
      <dl className="verdict-facts">
        <Fact name="Answer">
          {answer.status} in {milliseconds(answer.ms)}
        </Fact>
        <Fact name="X-Cache">{answer.x_cache ?? 'None'}</Fact>
        <Fact name="Age">{answer.age_s === null ? 'None' : `${answer.age_s} s`}</Fact>
        {answer.cache_status && (
          <div className="verdict-key">
            <dt>Cache-Status</dt>
            <dd>
              {cacheSteps(answer.cache_status).map((step) => (
                <p key={step.name}>{explain(step)}</p>
              ))}
              <p className="mono faint">{answer.cache_status}</p>
            </dd>
          </div>
        )}
      </dl>
      <Headers title="Headers of this answer" headers={answer.headers} />
    </section>
  )
}

function Headers({ title, headers }: { title: string; headers: readonly (readonly [string, string])[] }) {
  return (
    <details className="look-more">
      <summary>{title}</summary>
      <dl className="header-list" tabIndex={0} aria-label={title} role="group">
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
