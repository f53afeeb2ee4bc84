import { CopyButton } from '../../components/copy.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { formatDateTime } from '../../lib/format.ts'
import { sanitizeForDisplay } from '../../lib/sanitize-for-display.ts'
import { parseLogFields } from './log-fields.ts'
import type { LogLine } from './log-line.ts'
import styles from './fields-dialog.module.css'

/** The fields of a structured line. */
export function FieldsDialog({ line, onClose }: { line: LogLine; onClose: () => void }) {
  const fields = parseLogFields(line)
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={line.ts === null ? `Line ${line.number}` : `Line of ${formatDateTime(line.ts)}`}
      {...(fields.length === 0 && { description: 'This line is no valid JSON.' })}
    >
      <dl className={styles.fields}>
        {fields.map(({ name, value }, index) => (
          <div key={index} className={styles.field}>
            <dt className="mono">{sanitizeForDisplay(name)}</dt>
            <dd className="mono">
              <span>{sanitizeForDisplay(value)}</span>
              <CopyButton text={value} label={`Copy ${sanitizeForDisplay(name)}`} />
            </dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
