import { HttpStatus } from '../../components/http-status.tsx'
import { Link } from 'wouter'
import type { HeaderChange, JsonChange } from '../../../server/contract/json-diff.ts'
import { compareResponses } from '../../../server/contract/replay-summary.ts'
import type { OriginalResponse, ReplayedResponse } from '../../../server/contract/request-captures.ts'
import { formatLatency } from '../../lib/format.ts'
import { sanitizeForDisplay } from '../../lib/sanitize-for-display.ts'
import { CapturedMessageView } from './captured-message.tsx'
import styles from './captures.module.css'

/** Both responses to a request, and how they differ. */
export function ReplayResult({ slug, original, replayed }: { slug: string; original: OriginalResponse; replayed: ReplayedResponse }) {
  const { is_same, headers, body } = compareResponses(original, replayed)
  return (
    <section className="stack" aria-label="Result">
      <p role="status" className={styles.verdict}>
        {is_same ? 'Both responses are the same.' : 'The responses differ.'}{' '}
        {replayed.request_id !== null && <Link href={`/projects/${slug}/logs/requests?request=${replayed.request_id}`}>Open the new request</Link>}
      </p>
      {headers.length > 0 && <ChangeTable title="Headers" changes={headers.map(({ name, ...change }) => ({ ...change, path: name }))} />}
      {body.kind === 'json' && <ChangeTable title={body.is_complete ? 'JSON' : 'JSON, the first differences'} changes={body.changes} />}
      {body.kind === 'different' && <p className="text-muted">The bodies differ.</p>}
      <div className={styles.sides}>
        <Side title="Original" response={original} host={null} />
        <Side title="Replay" response={replayed} host={replayed.host} />
      </div>
    </section>
  )
}

function Side({ title, response, host }: { title: string; response: OriginalResponse; host: string | null }) {
  return (
    <div className={styles.side}>
      <p>
        <HttpStatus status={response.status} />{' '}
        <span className="text-muted">
          {formatLatency(response.duration_ms)}
          {host !== null && `, ${sanitizeForDisplay(host)}`}
        </span>
      </p>
      <CapturedMessageView title={title} message={response} />
    </div>
  )
}

function ChangeTable({ title, changes }: { title: string; changes: (Omit<HeaderChange, 'name'> & Pick<JsonChange, 'path'>)[] }) {
  return (
    <table className={styles.changes}>
      <caption>{title}</caption>
      <thead>
        <tr>
          <th scope="col">Field</th>
          <th scope="col">Original</th>
          <th scope="col">Replay</th>
        </tr>
      </thead>
      <tbody>
        {changes.map(({ path, before, after }) => (
          <tr key={path}>
            <th scope="row">{sanitizeForDisplay(path) || 'All'}</th>
            <Value text={before} tone={styles.removed} />
            <Value text={after} tone={styles.added} />
          </tr>
        ))}
      </tbody>
    </table>
  )
}

const Value = ({ text, tone }: { text: string | null; tone: string | undefined }) =>
  text === null ? <td className="text-subtle">missing</td> : <td className={tone}>{sanitizeForDisplay(text)}</td>
