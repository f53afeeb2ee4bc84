import { ArrowDownToLine, Braces, Clock, Copy, Download, FileDown, FileText, Pause, Search, WrapText } from 'lucide-react'
import { type ReactNode, useDeferredValue, useEffect, useMemo, useState, useSyncExternalStore } from 'react'
import { readPreference, writePreference, useUi } from '../../stores/ui.ts'
import type { LoadFile, LogFormat } from '../../api/downloads.ts'
import { IconButton } from '../../components/button.tsx'
import { Menu, MenuItem } from '../../components/menu.tsx'
import { formatBytes } from '../../lib/format.ts'
import { useDebouncedValue } from '../../lib/use-debounced-value.ts'
import { useQueryParams } from '../../lib/use-query-params.ts'
import { saveFile } from '../../lib/save-file.ts'
import { copyText } from '../../components/copy.tsx'
import { type LogOutputFilter, type LogStore, matchesFilter, formatLines } from './log-store.ts'
import { FieldsDialog } from './fields-dialog.tsx'
import type { LogLine } from './log-line.ts'
import { LogView } from './log-view.tsx'
import styles from './log-panel.module.css'

interface Props {
  store: LogStore
  label: string
  /** File name of the download. */
  file: string
  /** Text of an empty log. */
  empty: ReactNode
  /** Connection state of the stream. */
  state: ReactNode
  groups?: { value: string; text: string }[]
  reveal?: { line: LogLine } | null
  startAtEnd?: boolean
  /** Loads the whole log; null where the instance cannot send it. */
  download?: ((format: LogFormat) => LoadFile) | null
  /** The project whose request log the IDs of requests lead to; null where there is none. */
  requestsOf?: string | null
  /** Whether lines may still be added at the end. */
  is_live?: boolean
  /** Whether timestamps are on until the user chooses. */
  showsTimes?: boolean
}

const outputOptions = [
  { value: 'error', text: 'Errors only' },
  { value: 'warn', text: 'Warnings and errors' },
  { value: 'stdout', text: 'stdout only' },
  { value: 'stderr', text: 'stderr only' },
  { value: 'system', text: 'Homeport only' },
] as const satisfies readonly { value: LogOutputFilter; text: string }[]
const findOutput = (text: string | null): LogOutputFilter | null => outputOptions.find(({ value }) => value === text)?.value ?? null
const wrapKey = 'homeport.logs.wrap'
const timeKey = 'homeport.logs.time'
/** Where timestamps leave room for the lines. */
const wideEnough = '(min-width: 640px)'

/** A log with search, filter, follow, wrap, timestamps, copy and download. */
export function LogPanel({
  store,
  label,
  file,
  empty,
  state,
  groups = [],
  reveal = null,
  startAtEnd = true,
  download = null,
  requestsOf = null,
  is_live = true,
  showsTimes = false,
}: Props) {
  const { params, change } = useQueryParams()
  const [query, setQuery] = useState(params.get('search') ?? '')
  const [output, setOutput] = useState<LogOutputFilter | null>(() => findOutput(params.get('output')))
  const [group, setGroup] = useState<string | null>(null)
  const [follow, setFollow] = useState(startAtEnd)
  const [wrap, setWrap] = useState(() => readPreference(wrapKey) !== 'no')
  const [showTime, setShowTime] = useState(() => (readPreference(timeKey) ?? (showsTimes && matchMedia(wideEnough).matches ? 'yes' : 'no')) === 'yes')
  const [shownReveal, setShownReveal] = useState(reveal)
  const [shownCount, setShownCount] = useState(0)
  const [fieldsLine, setFieldsLine] = useState<LogLine | null>(null)
  const showToast = useUi((ui) => ui.showToast)
  useSyncExternalStore(store.subscribe, store.version)

  if (reveal !== shownReveal) {
    setShownReveal(reveal)
    setFollow(false)
    setQuery('')
    setOutput(null)
    setGroup(null)
  }
  const needle = useDeferredValue(query.toLowerCase())
  const settledQuery = useDebouncedValue(query)
  useEffect(() => {
    if (settledQuery !== (params.get('search') ?? '') || output !== findOutput(params.get('output'))) change({ search: settledQuery, output })
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- other parameters of the address do not matter
  }, [settledQuery, output])
  const filter = useMemo(() => ({ needle, output, group }), [needle, output, group])
  const matchingLines = () => store.lines.filter((line) => matchesFilter(line, filter))
  const isFiltered = needle !== '' || output !== null || group !== null
  const count = store.lines.length

  return (
    <section className={`card ${styles.logPanel}`} data-testid="log-panel" aria-label={label}>
      <div className={styles.logTools}>
        <div className="search">
          <Search size={14} aria-hidden />
          <input
            className="input"
            type="search"
            placeholder="Search log"
            aria-label="Search log"
            value={query}
            onChange={({ target }) => setQuery(target.value)}
          />
        </div>
        <select className="input select" aria-label="Log level" value={output ?? ''} onChange={({ target }) => setOutput(findOutput(target.value))}>
          <option value="">All output</option>
          {outputOptions.map(({ value, text }) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
        {groups.length > 1 && (
          <select className="input select" aria-label="Log section" value={group ?? ''} onChange={({ target }) => setGroup(target.value || null)}>
            <option value="">Everything</option>
            {groups.map(({ value, text }) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        )}
        <div className={styles.logButtons}>
          {is_live && (
            <IconButton
              icon={follow ? Pause : ArrowDownToLine}
              label={follow ? 'Stop following' : 'Follow new lines'}
              pressed={follow}
              onClick={() => setFollow(!follow)}
            />
          )}
          <IconButton
            icon={WrapText}
            label="Wrap long lines"
            pressed={wrap}
            onClick={() => {
              writePreference(wrapKey, wrap ? 'no' : 'yes')
              setWrap(!wrap)
            }}
          />
          <IconButton
            icon={Clock}
            label="Show timestamps"
            pressed={showTime}
            onClick={() => {
              writePreference(timeKey, showTime ? 'no' : 'yes')
              setShowTime(!showTime)
            }}
          />
          <IconButton
            icon={Copy}
            label={isFiltered ? 'Copy filtered lines' : 'Copy log'}
            onClick={() => {
              const lines = matchingLines()
              void copyText(formatLines(lines, false)).then((done) =>
                showToast(
                  done
                    ? { kind: 'done', text: `${lineCountLabel(lines.length)} copied.`, request_id: null }
                    : { kind: 'failed', text: 'The browser does not allow copying here. Use Download instead.', request_id: null },
                ),
              )
            }}
          />
          <IconButton
            icon={Download}
            label={isFiltered ? 'Download filtered lines' : 'Download log'}
            onClick={() => saveFile(new Blob([formatLines(matchingLines(), true)], { type: 'text/plain' }), file)}
          />
          {download && <WholeLogMenu download={download} file={file} />}
        </div>
      </div>
      {count === 0 ? (
        <div className={`${styles.logEmpty} text-muted`}>{empty}</div>
      ) : (
        <LogView
          requestsOf={requestsOf}
          store={store}
          filter={filter}
          wrap={wrap}
          showTime={showTime}
          follow={follow}
          onFollowChange={setFollow}
          onCount={setShownCount}
          label={`${label}, ${count} lines`}
          reveal={reveal}
          onShowFields={setFieldsLine}
          is_live={is_live}
        />
      )}
      <footer className={`${styles.logFoot} text-subtle`} data-testid="log-foot">
        <span role="status">{state}</span>
        <span>{isFiltered ? `${shownCount.toLocaleString()} of ${lineCountLabel(count)}` : lineCountLabel(count)}</span>
      </footer>
      {fieldsLine && <FieldsDialog line={fieldsLine} onClose={() => setFieldsLine(null)} />}
    </section>
  )
}

/** Downloads every stored line, regardless of how many are loaded. */
function WholeLogMenu({ download, file }: { download: (format: LogFormat) => LoadFile; file: string }) {
  const [received_bytes, setReceived] = useState<number | null>(null)
  const save = async (format: LogFormat) => {
    setReceived(0)
    const blob = await download(format)(setReceived)
    setReceived(null)
    if (blob) saveFile(blob, format === 'text' ? file : file.replace(/log$/, 'ndjson'))
  }
  return (
    <Menu
      trigger={<IconButton icon={FileDown} label={received_bytes === null ? 'Download full log' : `Downloading, ${formatBytes(received_bytes)}`} />}
    >
      <MenuItem icon={FileText} disabled={received_bytes !== null} onSelect={() => void save('text')}>
        Full log as text
      </MenuItem>
      <MenuItem icon={Braces} disabled={received_bytes !== null} onSelect={() => void save('ndjson')}>
        Full log as NDJSON
      </MenuItem>
    </Menu>
  )
}

function lineCountLabel(lines: number): string {
  return `${lines.toLocaleString()} ${lines === 1 ? 'line' : 'lines'}`
}
