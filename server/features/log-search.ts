import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { FoundLogLine, logSearchOperations } from '../contract/log-search.ts'
import { limits } from '../contract/limits.ts'
import { encodeCursor } from '../store/pagination.ts'
import type { LogStore } from '../store/log-store.ts'
import { canAccessProject, requireDeployment, requireProject } from './access.ts'
import type { Caller, OperationHandlers } from './context.ts'
import type { FeatureDeps } from './deps.ts'
import { findRecordAt } from './log-position.ts'
import { type ParsedLogLine, parseLogLines, presentLogLine, readChunkTime } from './log-lines.ts'
import { findLogSource, type LogSource } from './log-sources.ts'
import { parseLogTerms } from './log-terms.ts'
import { parseCursor } from './projects.ts'
import { toEnvironment } from './services.ts'

/** Parts of logs that are listed at once. */
const candidateCount = 32
/** A cursor is the number of a part and of a line in it. A part has fewer lines than this. */
const maxLines = 2 ** 17

export function createLogSearchHandlers(deps: FeatureDeps): Pick<OperationHandlers, keyof typeof logSearchOperations> {
  const { db, logs, logSearch } = deps.store

  return {
    async searchLogs({ caller }, { query: { query = '', project: slug, limit = limits.page.default, cursor, ...filters } }) {
      const only = slug === undefined ? undefined : (await db.read((tx) => requireProject(tx, caller, slug))).id
      const list = `log lines ${caller.user_id} ${slug ?? ''}`
      const terms = parseLogTerms(query)
      const since = filters.since === undefined ? -Infinity : Date.parse(filters.since)
      const isWanted = (line: ParsedLogLine) =>
        (filters.level === undefined || line.level === 'error' || line.level === filters.level) &&
        (filters.since === undefined || line.time >= filters.since) &&
        (filters.until === undefined || line.time < filters.until) &&
        terms.matches(line.text)
      const sources = createSources(caller)
      const start = parseCursor(list, cursor) ?? Number.MAX_SAFE_INTEGER
      const found: FoundLogLine[] = []
      let bytes = 0
      let before = Math.floor(start / maxLines) + 1
      for (;;) {
        const candidates = logSearch.listCandidates(terms.match, before, candidateCount)
        for (const { id, stream } of candidates) {
          before = id
          const source = sources.find(stream)
          if (!source || (only !== undefined && source.project.id !== only) || (filters.log !== undefined && source.log !== filters.log)) continue
          const chunk = logSearch.read(id)
          if (!chunk) continue
          const lines = parseLogLines(chunk)
          if ((Date.parse(lines.at(-1)?.time ?? '') || readChunkTime(chunk.body)) < since) return { lines: found, next_cursor: null }
          for (const line of lines.toReversed()) {
            const position = id * maxLines + (line.record - chunk.first)
            if (position >= start || !isWanted(line)) continue
            if (found.length === limit) return { lines: found, next_cursor: encodeCursor(list, position + 1) }
            found.push(presentFound(line, source))
          }
          bytes += chunk.body.length
          if (bytes > limits.log_search.page_bytes) return { lines: found, next_cursor: encodeCursor(list, id * maxLines) }
          await yieldToEventLoop()
        }
        if (candidates.length < candidateCount) return { lines: found, next_cursor: null }
      }
    },

    async listLogLines({ project }, { query: { branch, service, deployment, at, around, before, after, limit = 200 } }) {
      const stream =
        deployment === undefined
          ? deps.deployments.services.findLog(toEnvironment(project, branch), service)
          : (await db.read((tx) => requireDeployment(tx, project.id, deployment))).id
      const end = logs.readEnd(stream).record
      const middle = at === undefined ? around : findLineAt(logs, stream, at)
      const from = middle !== undefined ? middle - Math.floor(limit / 2) - 1 : (after ?? (before ?? end + 1) - limit - 1)
      const start = Math.max(0, Math.min(from, end - (after === undefined ? limit : 0)))
      const lines = readLines(logs, stream, start, before ?? end + 1, limit)
      return { lines, has_earlier: start > 0 && logs.readAfter(stream, 0) !== undefined, has_later: (lines.at(-1)?.record ?? start) < end }
    },
  }

  /** Sources of logs that the caller may read. */
  function createSources(caller: Caller) {
    const known = new Map<string, LogSource | undefined>()
    return {
      find(stream: string): LogSource | undefined {
        if (!known.has(stream))
          known.set(
            stream,
            db.readSync((tx) => {
              const source = findLogSource(tx, stream, deps.deployments.services)
              return source && canAccessProject(tx, caller, source.project) ? source : undefined
            }),
          )
        return known.get(stream)
      },
    }
  }
}

function presentFound(line: ParsedLogLine, { project: { id, slug, name }, ...source }: LogSource): FoundLogLine {
  return { ...presentLogLine(line), ...source, deployment_id: line.deployment_id ?? source.deployment_id, project: { id, slug, name } }
}

/** The first line of a time, or the last one before it. */
function findLineAt(logs: LogStore, stream: string, time: string): number {
  const start = findRecordAt(logs, stream, Date.parse(time))
  const chunk = logs.readAfter(stream, start)
  const lines = chunk ? parseLogLines(chunk) : []
  return lines.find((line) => line.time >= time)?.record ?? lines.at(-1)?.record ?? start
}

/** At most `limit` lines after a record and before another. */
function readLines(logs: LogStore, stream: string, start: number, before: number, limit: number) {
  const lines = []
  for (let at = start; lines.length < limit;) {
    const chunk = logs.readAfter(stream, at)
    if (!chunk || chunk.first >= before) break
    for (const line of parseLogLines(chunk)) if (line.record > at && line.record < before && lines.length < limit) lines.push(presentLogLine(line))
    at = chunk.first + chunk.records - 1
  }
  return lines
}
