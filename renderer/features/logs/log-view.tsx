import { ArrowDown } from 'lucide-react'
import { type CSSProperties, memo, useEffect, useLayoutEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react'
import { Link } from 'wouter'
import { formatClockTime } from '../../lib/format.ts'
import { isStructured } from './log-fields.ts'
import { lineLevel } from './log-level.ts'
import { createLogRows, lineHeight } from './log-rows.ts'
import { type LogFilter, type LogStore, maxShownColumns } from './log-store.ts'
import type { LogLine } from './log-line.ts'
import { parseAnsi } from '../../lib/ansi.ts'
import { splitAtRequestIds } from './request-ids.ts'
import { useFollowTail } from './use-follow-tail.ts'
import './ansi.css'
import styles from './log-panel.module.css'

interface Props {
  store: LogStore
  filter: LogFilter
  wrap: boolean
  showTime: boolean
  follow: boolean
  onFollowChange: (follow: boolean) => void
  /** Number of lines that match the filter. */
  onCount: (count: number) => void
  label: string
  /** A line to scroll to; a new object scrolls again. */
  reveal: { line: LogLine } | null
  /** The project whose request log the IDs of requests lead to. */
  requestsOf: string | null
  onShowFields: (line: LogLine) => void
  /** Whether lines may still be added at the end. */
  is_live: boolean
}

const overscan = 12

/** A virtualized log of any length. */
export function LogView({ store, filter, wrap, showTime, follow, onFollowChange, onCount, label, reveal, requestsOf, onShowFields, is_live }: Props) {
  const version = useSyncExternalStore(store.subscribe, store.version)
  const scroller = useRef<HTMLDivElement>(null)
  const probe = useRef<HTMLSpanElement>(null)
  const [size, setSize] = useState({ width: 0, height: 0, character: 8 })
  const [scrollTop, setScrollTop] = useState(0)
  const [seenCount, setSeenCount] = useState(0)

  const isMeasured = size.width > 0
  const digits = Math.max(3, String(store.lines.at(-1)?.number ?? 0).length)
  const gutter = (digits + (showTime ? 13 : 0) + 3) * size.character
  const columns = wrap && isMeasured ? Math.max(20, Math.floor((size.width - gutter - 24) / size.character)) : null
  const list = useMemo(() => createLogRows(store, filter, columns), [store, filter, columns])
  list.update()

  useLayoutEffect(() => {
    const element = scroller.current
    if (!element) return
    const measure = () =>
      setSize({ width: element.clientWidth, height: element.clientHeight, character: (probe.current?.getBoundingClientRect().width ?? 800) / 100 })
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [])

  const { onScroll, ...gestureHandlers } = useFollowTail(scroller, follow, onFollowChange, setScrollTop)
  useLayoutEffect(() => {
    const element = scroller.current
    if (follow && element) element.scrollTop = element.scrollHeight
  }, [follow, version, list, size])
  useEffect(() => {
    if (follow) setSeenCount(list.rows.length)
    onCount(list.rows.length)
  }, [follow, version, list, onCount])
  useLayoutEffect(() => {
    if (!reveal || !scroller.current || !isMeasured) return
    const index = list.rows.indexOf(reveal.line)
    if (index < 0) return
    scroller.current.scrollTop = Math.max(0, list.rowTop(index) - scroller.current.clientHeight / 3)
    // The log may be below the visible area.
    scroller.current.scrollIntoView({ block: 'nearest' })
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- only on request, because the rows change constantly
  }, [reveal, isMeasured])

  const first = Math.max(0, list.rowAt(scrollTop) - overscan)
  const last = Math.min(list.rows.length, list.rowAt(scrollTop + size.height) + overscan + 1)
  const unseenCount = follow ? 0 : Math.max(0, list.rows.length - seenCount)

  return (
    <div className={`${styles.logView} ${wrap ? styles.logWrap : ''}`}>
      <div
        ref={scroller}
        className={styles.logScroller}
        data-testid="log-scroller"
        tabIndex={0}
        role="region"
        aria-label={label}
        onScroll={onScroll}
        {...gestureHandlers}
      >
        <span ref={probe} className={styles.logProbe} aria-hidden>
          {'0'.repeat(100)}
        </span>
        <div style={{ height: list.height, minWidth: wrap ? undefined : gutter + 24 + list.widest * size.character }}>
          <div style={{ transform: `translateY(${list.rowTop(first)}px)` }}>
            {list.rows.slice(first, last).map((line, index) => (
              <LogRow
                key={line.number}
                line={line}
                digits={digits}
                showTime={showTime}
                needle={filter.needle}
                marked={line === reveal?.line}
                requestsOf={requestsOf}
                onShowFields={onShowFields}
                height={list.rowTop(first + index + 1) - list.rowTop(first + index)}
                width={columns === null ? null : columns * size.character}
              />
            ))}
          </div>
        </div>
      </div>
      {!follow && is_live && (
        <button type="button" className={styles.logLatest} onClick={() => onFollowChange(true)}>
          <ArrowDown size={14} aria-hidden />
          {unseenCount > 0 ? `${unseenCount.toLocaleString()} new ${unseenCount === 1 ? 'line' : 'lines'}` : 'Jump to latest'}
        </button>
      )}
    </div>
  )
}

interface RowProps {
  line: LogLine
  digits: number
  showTime: boolean
  needle: string
  marked: boolean
  requestsOf: string | null
  onShowFields: (line: LogLine) => void
  height: number
  width: number | null
}

const LogRow = memo(function Row({ line, digits, showTime, needle, marked, requestsOf, onShowFields, height, width }: RowProps) {
  const style: CSSProperties = { height: Math.max(height, lineHeight) }
  return (
    <div
      data-testid="log-line"
      data-marked={marked || undefined}
      className={`${styles.logLine} ${line.source === 'system' ? styles.logSystem : (styles[`log-${lineLevel(line)}`] ?? '')} ${marked ? styles.logMarked : ''}`}
      style={style}
    >
      <span className={styles.logNumber} style={{ width: `${digits}ch` }}>
        {line.number}
      </span>
      {showTime && <span className={styles.logTime}>{line.ts ? formatClockTime(line.ts) : ''}</span>}
      <span className={styles.logText} data-testid="log-text" style={width === null ? undefined : { width }}>
        {parseAnsi((line.summary ?? line.text).slice(0, maxShownColumns)).map((span, index) => (
          <span key={index} className={span.look}>
            {requestsOf === null ? (
              <Highlighted text={span.text} needle={needle} />
            ) : (
              <LinkedText text={span.text} needle={needle} slug={requestsOf} />
            )}
          </span>
        ))}
        {isStructured(line) && (
          <>
            {' '}
            <button type="button" className={styles.logFields} aria-label={`Fields of line ${line.number}`} onClick={() => onShowFields(line)}>
              ⋯
            </button>
          </>
        )}
      </span>
    </div>
  )
})

function LinkedText({ text, needle, slug }: { text: string; needle: string; slug: string }) {
  return splitAtRequestIds(text).map((part, index) => {
    const shown = <Highlighted key={index} text={part.text} needle={needle} />
    return part.is_id ? (
      <Link key={index} href={`/projects/${slug}/logs/requests?request=${part.text}`} className={styles.logLink}>
        {shown}
      </Link>
    ) : (
      shown
    )
  })
}

function Highlighted({ text, needle }: { text: string; needle: string }) {
  if (needle === '') return text
  const parts: React.ReactNode[] = []
  const lower = text.toLowerCase()
  let at = 0
  for (let hit = lower.indexOf(needle); hit >= 0; hit = lower.indexOf(needle, at)) {
    parts.push(text.slice(at, hit), <mark key={hit}>{text.slice(hit, hit + needle.length)}</mark>)
    at = hit + needle.length
  }
  return [...parts, text.slice(at)]
}
