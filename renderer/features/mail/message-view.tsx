import { ArrowLeft, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import type { MailMessageDetails } from '../../../server/contract/mail.ts'
import { useMailDownload } from '../../api/downloads.ts'
import { useDeleteMailMessage, useMailMessage } from '../../api/mail.ts'
import { Button } from '../../components/button.tsx'
import { DownloadButton } from '../../components/download-button.tsx'
import { ProblemView, SkeletonRows } from '../../components/feedback.tsx'
import { SegmentedControl } from '../../components/segmented-control.tsx'
import { RelativeTime } from '../../components/time.tsx'
import { toApiError } from '../../lib/api-error.ts'
import { formatBytes } from '../../lib/format.ts'
import { sanitizeForDisplay } from '../../lib/sanitize-for-display.ts'
import styles from './mail.module.css'

type Part = 'html' | 'text' | 'headers'

/** One caught message. */
export function MessageView({ slug, id, onDeleted }: { slug: string; id: string; onDeleted: () => void }) {
  const { data: message, error, refetch } = useMailMessage(slug, id)
  return (
    <div className="stack">
      <Link href={`/projects/${slug}/mail`} className={styles.back}>
        <ArrowLeft size={15} aria-hidden /> All messages
      </Link>
      {message ? (
        <Message slug={slug} message={message} onDeleted={onDeleted} />
      ) : error ? (
        <ProblemView problem={toApiError(error)} onRetry={() => void refetch()} />
      ) : (
        <SkeletonRows rows={4} height={56} />
      )}
    </div>
  )
}

function Message({ slug, message, onDeleted }: { slug: string; message: MailMessageDetails; onDeleted: () => void }) {
  const { id, from, to, subject, received_at, files, is_shortened } = message
  const remove = useDeleteMailMessage({ successMessage: 'Deleted the message.', onSuccess: onDeleted })
  const download = useMailDownload(slug, id)
  return (
    <article className="card" aria-labelledby="subject">
      <header className={`card-header ${styles.head}`}>
        <h2 id="subject">{sanitizeForDisplay(subject) || 'No subject'}</h2>
        <span className="row">
          <DownloadButton load={download.source} name={`${id}.eml`} label="Download the message" />
          <Button icon={Trash2} busy={remove.isPending} onClick={() => remove.mutate({ params: { slug, message: id } })}>
            Delete
          </Button>
        </span>
      </header>
      <dl className={`card-body ${styles.facts}`}>
        <dt className="text-subtle">From</dt>
        <dd>{sanitizeForDisplay(from) || 'No sender'}</dd>
        <dt className="text-subtle">To</dt>
        <dd>{sanitizeForDisplay(to.join(', '))}</dd>
        <dt className="text-subtle">Received</dt>
        <dd>
          <RelativeTime at={received_at} />
        </dd>
      </dl>
      {is_shortened && <p className={`text-muted ${styles.note}`}>This message is too long to be shown as a whole. Download it instead.</p>}
      <MessageParts message={message} />
      {files.length > 0 && (
        <section className={styles.files} aria-labelledby="attachments">
          <h3 id="attachments">Attachments</h3>
          <ul>
            {files.map(({ index, name, content_type, size_bytes }) => (
              <li key={index} className={styles.file}>
                <span className="truncate">{sanitizeForDisplay(name)}</span>
                <span className="text-subtle truncate">
                  {sanitizeForDisplay(content_type)}, {formatBytes(size_bytes)}
                </span>
                <DownloadButton load={download.attachment(index)} name={toFileName(name)} label={`Download ${sanitizeForDisplay(name)}`} />
              </li>
            ))}
          </ul>
        </section>
      )}
    </article>
  )
}

/** A file name from a message, without folders and control characters. */
const toFileName = (name: string): string => sanitizeForDisplay(name.replace(/^.*[\\/]/, '')) || 'attachment'

function MessageParts({ message: { subject, html, text, headers } }: { message: MailMessageDetails }) {
  const parts: { value: Part; text: string }[] = [
    ...(html === null ? [] : [{ value: 'html' as const, text: 'HTML' }]),
    ...(text === null && html !== null ? [] : [{ value: 'text' as const, text: 'Text' }]),
    { value: 'headers', text: 'Headers' },
  ]
  const [part, setPart] = useState<Part>(html === null ? 'text' : 'html')
  return (
    <>
      <div className={styles.parts}>
        <SegmentedControl label="Part of the message" value={part} choices={parts} onChange={setPart} />
      </div>
      {part === 'html' && html !== null && (
        // Without scripts and origin; the policy in the document allows no requests. A link opens a new window.
        <iframe
          className={styles.frame}
          title={`Message “${sanitizeForDisplay(subject)}”`}
          sandbox="allow-popups allow-popups-to-escape-sandbox"
          referrerPolicy="no-referrer"
          srcDoc={html}
        />
      )}
      {part === 'text' && (
        <pre className={styles.text} tabIndex={0}>
          {sanitizeForDisplay(text ?? '') || 'This message has no text.'}
        </pre>
      )}
      {part === 'headers' && (
        <dl className={styles.headers}>
          {headers.map(({ name, value }, index) => (
            <div key={index}>
              <dt className="text-subtle">{sanitizeForDisplay(name)}</dt>
              <dd className="mono">{sanitizeForDisplay(value)}</dd>
            </div>
          ))}
        </dl>
      )}
    </>
  )
}
