import { ArrowDown } from 'lucide-react'
import { type CSSProperties, memo, useEffect, useLayoutEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react'
import { clockTime } from '../../ui/format.ts'
import { levelOf } from './log-level.ts'
import { createLogRows, lineHeight } from './log-rows.ts'
import { type LogFilter, type LogLine, type LogStore, shownColumns } from './log-store.ts'
import { spansOf } from './terminal-line.ts'
import { useFollow } from './use-follow.ts'

interface Props {
  store: LogStore
  filter: LogFilter
  wrap: boolean
  showTime: boolean
  follow: boolean
  onFollowChange: (follow: boolean) => void
  /** How many lines the filter lets through. */
  onCount: (count: number) => void
  label: string
  /** A line to bring into view; a new object does it again. */
  reveal: { line: LogLine } | null
}

const overscan = 12

/** A log of any length: only the lines in view exist on the page. */
export function LogView({ store, filter, wrap, showTime, follow, onFollowChange, onCount, label, reveal }: Props) {
  const version = useSyncExternalStore(store.subscribe, store.version)
  const scroller = useRef<HTMLDivElement>(null)
  const probe = useRef<HTMLSpanElement>(null)
  const [size, setSize] = useState({ width: 0, height: 0, character: 8 })
  const [scrollTop, setScrollTop] = useState(0)
  const [seen, setSeen] = useState(0)

  const digits = Math.max(3, String(store.lines.at(-1)?.number ?? 0).length)
  const gutter = (digits + (showTime ? 13 : 0) + 3) * size.character
  const columns = wrap && size.width > 0 ? Math.max(20, Math.floor((size.width - gutter - 24) / size.character)) : null
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

  const { onScroll, ...intents } = useFollow(scroller, follow, onFollowChange, setScrollTop)
  useLayoutEffect(() => {
    const element = scroller.current
    if (follow && element) element.scrollTop = element.scrollHeight
  }, [follow, version, list, size])
  useEffect(() => {
    if (follow) setSeen(list.rows.length)
    onCount(list.rows.length)
  }, [follow, version, list, onCount])
  useLayoutEffect(() => {
    if (!reveal || !scroller.current) return
    const index = list.rows.indexOf(reveal.line)
    if (index < 0) return
    scroller.current.scrollTop = Math.max(0, list.top(index) - scroller.current.clientHeight / 3)
    // The log may be below what the window shows.
    scroller.current.scrollIntoView({ block: 'nearest' })
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- only when asked: the rows change all the time
  }, [reveal])

  const first = Math.max(0, list.at(scrollTop) - overscan)
  const last = Math.min(list.rows.length, list.at(scrollTop + size.height) + overscan + 1)
  const unseen = follow ? 0 : Math.max(0, list.rows.length - seen)

  return (
    <div className={`log-view ${wrap ? 'log-wrap' : ''}`}>
      <div ref={scroller} className="log-scroller" tabIndex={0} role="region" aria-label={label} onScroll={onScroll} {...intents}>
        <span ref={probe} className="log-probe" aria-hidden>
          {'0'.repeat(100)}
        </span>
        <div style={{ height: list.height, minWidth: wrap ? undefined : gutter + 24 + list.widest * size.character }}>
          <div style={{ transform: `translateY(${list.top(first)}px)` }}>
            {list.rows.slice(first, last).map((line, index) => (
              <Row
                key={line.number}
                line={line}
                digits={digits}
                showTime={showTime}
                words={filter.words}
                marked={line === reveal?.line}
                height={list.top(first + index + 1) - list.top(first + index)}
                width={columns === null ? null : columns * size.character}
              />
            ))}
          </div>
        </div>
      </div>
      {!follow && (
        <button type="button" className="log-latest" onClick={() => onFollowChange(true)}>
          <ArrowDown size={14} aria-hidden />
          {unseen > 0 ? `${unseen.toLocaleString()} new ${unseen === 1 ? 'line' : 'lines'}` : 'To the newest'}
        </button>
      )}
    </div>
  )
}

interface RowProps {
  line: LogLine
  digits: number
  showTime: boolean
  words: string
  marked: boolean
  height: number
  width: number | null
}

const Row = memo(function Row({ line, digits, showTime, words, marked, height, width }: RowProps) {
  const style: CSSProperties = { height: Math.max(height, lineHeight) }
  return (
    <div className={`log-line ${line.source === 'system' ? 'log-system' : `log-${levelOf(line)}`} ${marked ? 'log-marked' : ''}`} style={style}>
      <span className="log-number" style={{ width: `${digits}ch` }}>
        {line.number}
      </span>
      {showTime && <span className="log-time">{line.ts ? clockTime(line.ts) : ''}</span>}
      <span className="log-text" style={width === null ? undefined : { width }}>
        {spansOf(line.text.slice(0, shownColumns)).map((span, index) => (
          <span key={index} className={span.look}>
            {words === '' ? span.text : <Highlighted text={span.text} words={words} />}
          </span>
        ))}
      </span>
    </div>
  )
})

function Highlighted({ text, words }: { text: string; words: string }) {
  const parts: React.ReactNode[] = []
  const lower = text.toLowerCase()
  let at = 0
  for (let hit = lower.indexOf(words); hit >= 0; hit = lower.indexOf(words, at)) {
    parts.push(text.slice(at, hit), <mark key={hit}>{text.slice(hit, hit + words.length)}</mark>)
    at = hit + words.length
  }
  return [...parts, text.slice(at)]
}
