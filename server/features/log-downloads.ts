import { stripVTControlCharacters } from 'node:util'
import type { BuildLogLine, RuntimeStateEvent } from '../contract/deployments.ts'
import type { LogStore } from '../store/log-store.ts'
import type { OperationHandlers } from './context.ts'
import type { FeatureDeps } from './deps.ts'
import { toEnvironment } from './services.ts'

type LogDownloadHandlers = Pick<OperationHandlers, 'downloadRuntimeLog' | 'downloadBuildLog'>
type Format = 'text' | 'ndjson'

export function createLogDownloadHandlers(deps: FeatureDeps): LogDownloadHandlers {
  const { logs } = deps.store
  return {
    async downloadRuntimeLog({ project }, { query: { branch, service, format } }) {
      return readLog(logs, deps.deployments.services.findLog(toEnvironment(project, branch), service), format)
    },

    async downloadBuildLog({ deployment }, { query: { format } }) {
      return readLog(logs, deployment.id, format)
    },
  }
}

/** A log up to its current end, one chunk of the store at a time and at the pace of the reader. */
async function* readLog(logs: LogStore, stream: string, format: Format = 'text'): AsyncGenerator<Uint8Array> {
  const end = logs.readEnd(stream).record
  for (let at = 0; at < end;) {
    const chunk = logs.readAfter(stream, at)
    if (!chunk) return
    const dropped = chunk.first - at - 1
    const records = chunk.body.split('\n').slice(Math.max(0, -dropped), end - chunk.first + 1)
    const missing =
      dropped <= 0
        ? ''
        : format === 'ndjson'
          ? `{"dropped":${dropped}}\n`
          : `--- ${dropped} records were removed, because the log was too large ---\n`
    yield Buffer.from(missing + (format === 'ndjson' ? records.map((record) => `${record}\n`) : records.map(formatRecord)).join(''))
    at = chunk.first + chunk.records - 1
  }
}

/** Steps have no lines of their own: the lines of each step follow it. */
function formatRecord(json: string): string {
  const record = JSON.parse(json) as Pick<BuildLogLine, 'ts'> & Partial<Pick<BuildLogLine, 'line'> & Pick<RuntimeStateEvent, 'state' | 'exit_code'>>
  if (record.line !== undefined) return `${record.ts}  ${stripVTControlCharacters(record.line)}\n`
  if (record.state === undefined) return ''
  return `${record.ts}  --- ${record.state}${typeof record.exit_code === 'number' ? ` (exit code ${record.exit_code})` : ''} ---\n`
}
