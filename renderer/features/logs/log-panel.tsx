import { ArrowDownToLine, Clock, Copy, Download, Pause, Search, WrapText } from 'lucide-react'
import { type ReactNode, useDeferredValue, useMemo, useState, useSyncExternalStore } from 'react'
import { recall, remember, useUi } from '../../stores/ui.ts'
import { IconButton } from '../../ui/button.tsx'
import { copyText } from '../../ui/copy.tsx'
import { type LogLine, type LogPick, type LogStore, matches, textOf } from './log-store.ts'
import { LogView } from './log-view.tsx'
import './log-panel.css'

interface Props {
  store: LogStore
  label: string
  /** Name of the file that a download makes. */
  file: string
  /** What stands in an empty log. */
  empty: ReactNode
  /** How the stream is doing. */
  state: ReactNode
  groups?: { value: string; text: string }[]
  reveal?: { line: LogLine } | null
  startAtEnd?: boolean
}

const picks = [
  { value: 'error', text: 'Errors only' },
  { value: 'warn', text: 'Warnings and errors' },
  { value: 'stdout', text: 'stdout only' },
  { value: 'stderr', text: 'stderr only' },
  { value: 'system', text: 'Homeport only' },
] as const satisfies readonly { value: LogPick; text: string }[]
const wrapKey = 'homeport.logs.wrap'
const timeKey = 'homeport.logs.time'

/** A log with its tools: search, filter, follow, wrap, times, copy, download. */
export function LogPanel({ store, label, file, empty, state, groups = [], reveal = null, startAtEnd = true }: Props) {
  const [query, setQuery] = useState('')
  const [pick, setPick] = useState<LogPick | null>(null)
  const [group, setGroup] = useState<string | null>(null)
  const [follow, setFollow] = useState(startAtEnd)
  const [wrap, setWrap] = useState(() => recall(wrapKey) !== 'no')
  const [showTime, setShowTime] = useState(() => recall(timeKey) === 'yes')
  const [shownReveal, setShownReveal] = useState(reveal)
  const [shown, setShown] = useState(0)
  const showToast = useUi((ui) => ui.showToast)
  useSyncExternalStore(store.subscribe, store.version)

  if (reveal !== shownReveal) {
    setShownReveal(reveal)
    setFollow(false)
    setQuery('')
    setPick(null)
    setGroup(null)
  }
  const words = useDeferredValue(query.toLowerCase())
  const filter = useMemo(() => ({ words, pick, group }), [words, pick, group])
  const wanted = () => store.lines.filter((line) => matches(line, filter))
  const isFiltered = words !== '' || pick !== null || group !== null
  const count = store.lines.length

  return (
    <section className="card log-panel" aria-label={label}>
      <div className="log-tools">
        <div className="search">
          <Search size={14} aria-hidden />
          <input
            className="input"
            type="search"
            placeholder="Search the log"
            aria-label="Search the log"
            value={query}
            onChange={({ target }) => setQuery(target.value)}
          />
        </div>
        <select
          className="input select"
          aria-label="Lines"
          value={pick ?? ''}
          onChange={({ target }) => setPick(picks.find(({ value }) => value === target.value)?.value ?? null)}
        >
          <option value="">All output</option>
          {picks.map(({ value, text }) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
        {groups.length > 1 && (
          <select className="input select" aria-label="Part" value={group ?? ''} onChange={({ target }) => setGroup(target.value || null)}>
            <option value="">Everything</option>
            {groups.map(({ value, text }) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        )}
        <div className="log-buttons">
          <IconButton
            icon={follow ? Pause : ArrowDownToLine}
            label={follow ? 'Pause: stay where I am' : 'Follow the newest lines'}
            pressed={follow}
            onClick={() => setFollow(!follow)}
          />
          <IconButton
            icon={WrapText}
            label="Wrap long lines"
            pressed={wrap}
            onClick={() => {
              remember(wrapKey, wrap ? 'no' : 'yes')
              setWrap(!wrap)
            }}
          />
          <IconButton
            icon={Clock}
            label="Show times"
            pressed={showTime}
            onClick={() => {
              remember(timeKey, showTime ? 'no' : 'yes')
              setShowTime(!showTime)
            }}
          />
          <IconButton
            icon={Copy}
            label={isFiltered ? 'Copy the lines shown' : 'Copy the log'}
            onClick={() => {
              const lines = wanted()
              void copyText(textOf(lines, false)).then((done) =>
                showToast(
                  done
                    ? { kind: 'done', text: `${counted(lines.length)} copied.`, request_id: null }
                    : { kind: 'failed', text: 'This browser does not let pages copy. Use Download instead.', request_id: null },
                ),
              )
            }}
          />
          <IconButton
            icon={Download}
            label={isFiltered ? 'Download the lines shown' : 'Download the log'}
            onClick={() => download(file, textOf(wanted(), true))}
          />
        </div>
      </div>
      {count === 0 ? (
        <div className="log-empty quiet">{empty}</div>
      ) : (
        <LogView
          store={store}
          filter={filter}
          wrap={wrap}
          showTime={showTime}
          follow={follow}
          onFollowChange={setFollow}
          onCount={setShown}
          label={`${label}, ${count} lines`}
          reveal={reveal}
        />
      )}
      <footer className="log-foot faint">
        <span role="status">{state}</span>
        <span>{isFiltered ? `${shown.toLocaleString()} of ${counted(count)}` : counted(count)}</span>
      </footer>
    </section>
  )
}

function download(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/plain' }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The browser reads the address when it begins to save, a moment after the click.
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}

function counted(lines: number): string {
  return `${lines.toLocaleString()} ${lines === 1 ? 'line' : 'lines'}`
}
