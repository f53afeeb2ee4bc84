import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { ChevronDown, ChevronRight } from 'lucide-react'
import { type CSSProperties, memo, type RefObject, useCallback, useLayoutEffect, useMemo, useRef, useState } from 'react'
import type { TraceLogLine, TraceSpan } from '../../../server/contract/traces.ts'
import { formatLatency } from '../../lib/format.ts'
import { getLogMessage } from '../../lib/log-message.ts'
import { sanitizeForDisplay } from '../../lib/sanitize-for-display.ts'
import { listRows, type SpanNode, type WaterfallRow } from './waterfall-rows.ts'
import styles from './waterfall.module.css'

const rowHeight = 30
/** Deeper spans are not indented further. */
const maxIndent = 14

interface Props {
  nodes: SpanNode[]
  duration_ms: number
  onSelect: (spanId: string) => void
}

/** The spans of a trace over time. Only the rows in view are in the document. */
export function Waterfall({ nodes, duration_ms, onSelect }: Props) {
  const [collapsed, setCollapsed] = useState<ReadonlySet<string>>(new Set())
  const toggle = useCallback(
    (spanId: string) =>
      setCollapsed((before) => {
        const next = new Set(before)
        if (!next.delete(spanId)) next.add(spanId)
        return next
      }),
    [],
  )
  const rows = useMemo(() => listRows(nodes, collapsed), [nodes, collapsed])
  // A select callback that changes with each render would render every row again.
  const latest = useRef(onSelect)
  useLayoutEffect(() => void (latest.current = onSelect))
  const select = useCallback((spanId: string) => latest.current(spanId), [])

  return (
    <section className={`card ${styles.waterfall}`} aria-label="Waterfall">
      <Axis duration_ms={duration_ms} />
      <Rows rows={rows} duration_ms={duration_ms} onToggle={toggle} onSelect={select} />
    </section>
  )
}

interface RowsProps {
  rows: readonly WaterfallRow[]
  duration_ms: number
  onToggle: (spanId: string) => void
  onSelect: (spanId: string) => void
}

function Rows(props: RowsProps) {
  const list = useRef<HTMLUListElement>(null)
  const [top, setTop] = useState(0)
  // Not read while the page scrolls, because that needs a layout.
  useLayoutEffect(() => setTop(list.current?.offsetTop ?? 0))
  return <VirtualRows {...props} list={list} top={top} />
}

function VirtualRows({ rows, duration_ms, onToggle, onSelect, list, top }: RowsProps & { list: RefObject<HTMLUListElement | null>; top: number }) {
  const virtualizer = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => rowHeight,
    overscan: 12,
    scrollMargin: top,
    getItemKey: (index) => rows[index]?.key ?? index,
  })
  return (
    <ul ref={list} className={styles.rows} data-rows style={{ height: virtualizer.getTotalSize() }} aria-label="Spans">
      {virtualizer.getVirtualItems().map((item) => {
        const row = rows[item.index]
        if (!row) return null
        return (
          <li
            key={item.key}
            aria-setsize={rows.length}
            aria-posinset={item.index + 1}
            style={{ height: rowHeight, transform: `translateY(${item.start - virtualizer.options.scrollMargin}px)` }}
          >
            <Row row={row} duration_ms={duration_ms} onToggle={onToggle} onSelect={onSelect} />
          </li>
        )
      })}
    </ul>
  )
}

const ticks = [0, 0.25, 0.5, 0.75, 1]

function Axis({ duration_ms }: { duration_ms: number }) {
  return (
    <div className={`text-subtle ${styles.axis}`} aria-hidden>
      <span>Span</span>
      <div className={styles.ticks}>
        {ticks.map((part) => (
          <span key={part}>{formatLatency(duration_ms * part)}</span>
        ))}
      </div>
    </div>
  )
}

interface RowProps {
  row: WaterfallRow
  duration_ms: number
  onToggle: (spanId: string) => void
  onSelect: (spanId: string) => void
}

const Row = memo(function Row({ row, duration_ms, onToggle, onSelect }: RowProps) {
  const style = { '--indent': Math.min(row.depth, maxIndent) } as CSSProperties
  if (row.kind === 'log') return <LogRow log={row.log} duration_ms={duration_ms} style={style} />
  const { span, is_collapsed, hidden, has_children } = row
  const label = sanitizeForDisplay(span.name)
  return (
    <div className={styles.row} style={style}>
      {has_children ? (
        <button
          type="button"
          className={styles.toggle}
          aria-expanded={!is_collapsed}
          aria-label={`${is_collapsed ? 'Expand' : 'Collapse'} ${label}`}
          onClick={() => onToggle(span.span_id)}
        >
          {is_collapsed ? <ChevronRight size={14} aria-hidden /> : <ChevronDown size={14} aria-hidden />}
        </button>
      ) : (
        <span className={styles.toggle} />
      )}
      <button type="button" className={styles.span} onClick={() => onSelect(span.span_id)}>
        <span className={`truncate ${styles.name} ${span.is_error ? styles.failed : ''}`}>
          {span.kind === 'edge' && <span className={styles.tag}>edge</span>} {label}
          {hidden > 0 && <span className="text-subtle"> +{hidden.toLocaleString()}</span>}
          {span.kind !== 'edge' && span.summary !== null && (
            <span className={`text-subtle ${styles.summary}`}> {sanitizeForDisplay(span.summary)}</span>
          )}
        </span>
        <Bar span={span} duration_ms={duration_ms} />
      </button>
    </div>
  )
})

const percent = (part: number, whole: number): number => (whole <= 0 ? 0 : Math.min(100, Math.max(0, (part / whole) * 100)))

function Bar({ span, duration_ms }: { span: TraceSpan; duration_ms: number }) {
  const left = percent(span.start_ms, duration_ms)
  const width = Math.min(100 - left, percent(span.duration_ms, duration_ms))
  const isLabelBefore = left + width > 80
  const label = isLabelBefore ? { right: `${100 - left}%` } : { left: `${left + width}%` }
  return (
    <span className={styles.track}>
      <span
        className={`${styles.bar} ${styles[`kind-${span.kind}`] ?? ''} ${span.is_error ? styles.barFailed : ''}`}
        style={{ left: `${left}%`, width: `${width}%` }}
      >
        {span.phases.map(({ name, duration_ms: ms }) => (
          <span key={name} className={styles[`phase-${name}`]} style={{ flexGrow: ms }} title={`${name} ${formatLatency(ms)}`} />
        ))}
      </span>
      <span
        className={`${styles.time} ${isLabelBefore && left < 12 ? styles.timeInside : ''}`}
        style={isLabelBefore && left < 12 ? { right: 0 } : label}
      >
        {formatLatency(span.duration_ms)}
      </span>
    </span>
  )
}

function LogRow({ log, duration_ms, style }: { log: TraceLogLine; duration_ms: number; style: CSSProperties }) {
  return (
    <div className={`${styles.row} ${styles.log}`} style={style}>
      <span className={styles.toggle} />
      <span className={`mono truncate ${styles.line}`} title={sanitizeForDisplay(log.line)}>
        {sanitizeForDisplay(getLogMessage(log.line))}
      </span>
      <span className={styles.track} aria-hidden>
        <span className={styles.mark} style={{ left: `${percent(log.start_ms, duration_ms)}%` }} />
      </span>
    </div>
  )
}
