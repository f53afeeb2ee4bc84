import type { CapturedMessage } from '../../../server/contract/request-captures.ts'
import { limits } from '../../../server/contract/limits.ts'
import { CopyButton } from '../../components/copy.tsx'
import { sanitizeForDisplay } from '../../lib/sanitize-for-display.ts'
import styles from './captures.module.css'

/** Headers and body of a request or a response. */
export function CapturedMessageView({ title, message }: { title: string; message: CapturedMessage }) {
  return (
    <section className={styles.message} aria-label={title}>
      <h3>{title}</h3>
      <details>
        <summary>
          {message.headers.length} {message.headers.length === 1 ? 'header' : 'headers'}
        </summary>
        <dl className={styles.headers}>
          {message.headers.map(([name, value], index) => (
            <div key={index}>
              <dt>{sanitizeForDisplay(name)}</dt>
              <dd>{sanitizeForDisplay(value)}</dd>
            </div>
          ))}
        </dl>
      </details>
      <CapturedBodyView message={message} />
    </section>
  )
}

const omissions = {
  stream: 'The body is an event stream, which is not captured.',
  unreadable: 'The body was not captured, because its encoding cannot be read and secrets in it could not be masked.',
}

function CapturedBodyView({ message: { body, encoding, is_truncated, omitted } }: { message: CapturedMessage }) {
  if (omitted !== null) return <p className="text-muted">{omissions[omitted]}</p>
  if (body === null) return <p className="text-muted">No body</p>
  if (encoding === 'base64') return <p className="text-muted">The body is not text. The HAR file has its bytes.</p>
  const text = formatJson(body)
  return (
    <>
      <div className={styles.body}>
        <pre tabIndex={0} aria-label="Body">
          {sanitizeForDisplay(text)}
        </pre>
        <CopyButton text={body} label="Copy body" />
      </div>
      {is_truncated && <p className="text-muted">Only the first {limits.request_capture.body_bytes / 1024} kB were captured.</p>}
    </>
  )
}

/** Indented if it is JSON, else as sent. */
export function formatJson(text: string): string {
  if (!/^\s*[[{]/.test(text)) return text
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
