import { Eraser } from 'lucide-react'
import type { Project } from '../../../server/contract/projects.ts'
import { useAction } from '../../api/actions.ts'
import { problemFrom } from '../../api/problem.ts'
import { useMetrics } from '../../api/queries.ts'
import { Button } from '../../ui/button.tsx'
import { ProblemView, Skeleton } from '../../ui/feedback.tsx'
import { SwitchField } from '../../ui/field.tsx'
import { bytes, percent } from '../../ui/format.ts'

/** How much of a day the cache answered, what it holds, and its switch. */
export function Summary({ project, onPurgeAll }: { project: Project; onPurgeAll: () => void }) {
  const { data, error, refetch } = useMetrics(project.slug, '24h')
  const change = useAction('updateProject', {
    onDone: () => void refetch(),
  })
  const cache = data?.cache
  const isOn = change.isPending ? (change.variables.body.caching_enabled ?? project.caching_enabled) : project.caching_enabled
  return (
    <section className="card cache-sum" aria-label="Edge cache">
      <div>
        {error && <ProblemView problem={problemFrom(error)} onRetry={() => void refetch()} />}
        {cache ? <Ratio cache={cache} /> : !error && <Skeleton height={92} />}
      </div>
      <div>
        <SwitchField
          label="Keep answers at the edge"
          hint={
            isOn
              ? 'What the app marks as cacheable is answered without it, also while it sleeps.'
              : 'Every request goes to the app, and nothing is kept. Switch it on to answer from here again.'
          }
          checked={isOn}
          onChange={(caching_enabled) => change.mutate({ params: { slug: project.slug }, body: { caching_enabled } })}
        />
        <Button icon={Eraser} onClick={onPurgeAll}>
          Purge everything…
        </Button>
      </div>
    </section>
  )
}

interface Counts {
  hits: number
  misses: number
  bypass: number
  hit_ratio: number | null
  objects: number
  bytes: number
}

function Ratio({ cache }: { cache: Counts }) {
  const ways = [
    { name: cache.hits === 1 ? 'hit' : 'hits', way: 'hit', count: cache.hits },
    { name: cache.misses === 1 ? 'miss' : 'misses', way: 'miss', count: cache.misses },
    { name: 'bypass', way: 'bypass', count: cache.bypass },
  ]
  const isEmpty = cache.hits + cache.misses + cache.bypass === 0
  return (
    <>
      <p className="cache-ratio">
        <strong>{cache.hit_ratio === null ? 'No figure yet' : percent(cache.hit_ratio)}</strong>
        <span className="quiet">{cache.hit_ratio === null ? 'no requests in the last 24 h' : 'hit rate (last 24 h)'}</span>
      </p>
      <div className="cache-ways" aria-hidden>
        {!isEmpty && ways.map(({ way, count }) => count > 0 && <span key={way} className={`cache-way-${way}`} style={{ flexGrow: count }} />)}
      </div>
      <ul className="cache-key">
        {ways.map(({ name, way, count }) => (
          <li key={way}>
            <span className={`cache-swatch cache-way-${way}`} aria-hidden />
            <span>
              <strong>{count.toLocaleString()}</strong> {name}
            </span>
          </li>
        ))}
        <li className="cache-stored">
          <span>
            Stored now: <strong>{cache.objects.toLocaleString()}</strong> {cache.objects === 1 ? 'answer' : 'answers'},{' '}
            <strong>{bytes(cache.bytes)}</strong>
          </span>
        </li>
      </ul>
    </>
  )
}
