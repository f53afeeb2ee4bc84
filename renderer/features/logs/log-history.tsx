import { ArrowLeft, ChevronDown, ChevronUp } from 'lucide-react'
import { useEffect, useMemo, useState } from 'react'
import type { StoredLogLine } from '../../../server/contract/log-search.ts'
import { loadLogLines, type LogName, type LogPosition, useLogLines } from '../../api/log-search.ts'
import { useClient } from '../../api/query.ts'
import { Button } from '../../components/button.tsx'
import { ProblemView, SkeletonRows } from '../../components/feedback.tsx'
import { toApiError } from '../../lib/api-error.ts'
import { formatDateTime } from '../../lib/format.ts'
import { useUi } from '../../stores/ui.ts'
import type { LogLine } from './log-line.ts'
import { LogPanel } from './log-panel.tsx'
import { createLogStore } from './log-store.ts'
import styles from './log-panel.module.css'

interface Props {
  slug: string
  name: LogName
  /** A line or a time. */
  position: LogPosition
  file: string
  onClose: () => void
}

/** A part of a log around a line or a time, and what is before and after it. */
export function LogHistory(props: Props) {
  const { slug, name, position, onClose } = props
  const { data, error, refetch } = useLogLines(slug, name, position)
  if (error)
    return (
      <>
        <ProblemView problem={toApiError(error)} onRetry={() => void refetch()} />
        <BackButton name={name} onClose={onClose} />
      </>
    )
  return data ? <LoadedHistory key={JSON.stringify(position)} {...props} first={data} /> : <SkeletonRows rows={9} height={48} />
}

interface Shown {
  lines: StoredLogLine[]
  has_earlier: boolean
  has_later: boolean
  /** The line to scroll to. */
  at: number
}

function LoadedHistory({ slug, name, position, file, onClose, first }: Props & { first: Omit<Shown, 'at'> }) {
  const client = useClient()
  const showToast = useUi((ui) => ui.showToast)
  const store = useMemo(() => createLogStore(), [])
  const [shown, setShown] = useState<Shown>(() => ({ ...first, at: findPosition(first.lines, position) }))
  const [reveal, setReveal] = useState<{ line: LogLine } | null>(null)
  const [busy, setBusy] = useState<'before' | 'after' | null>(null)

  useEffect(() => {
    store.clear()
    store.append(shown.lines.map(({ line, stream, time, deployment_id }) => ({ text: line, source: stream, ts: time, group: deployment_id })))
    const line = store.lines[shown.at]
    setReveal(line ? { line } : null)
  }, [store, shown])

  const load = async (direction: 'before' | 'after') => {
    const edge = (direction === 'before' ? shown.lines[0] : shown.lines.at(-1))?.record
    if (edge === undefined) return
    setBusy(direction)
    try {
      const page = await loadLogLines(client, slug, name, { [direction]: String(edge) })
      setShown((before) =>
        direction === 'before'
          ? { ...before, lines: [...page.lines, ...before.lines], has_earlier: page.lines.length > 0 && page.has_earlier, at: page.lines.length }
          : { ...before, lines: [...before.lines, ...page.lines], has_later: page.lines.length > 0 && page.has_later, at: before.lines.length },
      )
    } catch (error) {
      showToast({ kind: 'failed', text: toApiError(error).message, request_id: null })
    }
    setBusy(null)
  }

  const [from, to] = [shown.lines[0]?.time, shown.lines.at(-1)?.time]
  return (
    <>
      <div className={styles.logSources}>
        <BackButton name={name} onClose={onClose} />
        <Button icon={ChevronUp} disabled={!shown.has_earlier} busy={busy === 'before'} onClick={() => void load('before')}>
          Earlier lines
        </Button>
        <Button icon={ChevronDown} disabled={!shown.has_later} busy={busy === 'after'} onClick={() => void load('after')}>
          Later lines
        </Button>
      </div>
      <LogPanel
        store={store}
        label="Part of the log"
        file={file}
        requestsOf={name.deployment === undefined ? slug : null}
        reveal={reveal}
        startAtEnd={false}
        is_live={false}
        showsTimes={name.deployment === undefined}
        empty="The log has no lines here. Go back, or choose another time."
        state={from !== undefined && to !== undefined ? `${formatDateTime(from)} to ${formatDateTime(to)}` : 'No lines'}
      />
    </>
  )
}

const BackButton = ({ name, onClose }: Pick<Props, 'name' | 'onClose'>) => (
  <Button icon={ArrowLeft} onClick={onClose}>
    {name.deployment === undefined ? 'Back to live output' : 'Back to the deployment'}
  </Button>
)

/** The index of the line that was asked for, or of the first one of a time. */
function findPosition(lines: readonly StoredLogLine[], { around, at }: LogPosition): number {
  const index = lines.findIndex(({ record, time }) => (at === undefined ? record >= Number(around) : time >= at))
  return index < 0 ? lines.length - 1 : index
}
