import { ApiError } from '../api-error.ts'
import { isUnsupported, putReportLine } from './report.ts'
import type { DumpedService, PromotionProgress, PromotionRequest, PromotionStepContext, PromotionStepHandler } from './request.ts'

const maxDumpBytes = 4 * 2 ** 30

/** Copies the data of the PostgreSQL database. */
export const copyDatabase: PromotionStepHandler = async (request, done, context) => {
  if (done.replaced_database !== undefined) return { note: 'copied' }
  const isOwn = done.made_database === true
  const dump_id = await copyDump(request, undefined, isOwn, done, context)
  if (dump_id === null) return { note: 'kept' }
  done.replaced_database = dump_id
  return { note: 'copied' }
}

/**
 * Copies a database as a dump. Data that the target had before the promotion (not `isOwn`) is kept unless the user chose to replace it. Resolves with the
 * dump of the replaced data; null when nothing was copied.
 */
export async function copyDump(
  { from, to, parts }: PromotionRequest,
  service: DumpedService | undefined,
  isOwn: boolean,
  done: PromotionProgress,
  { signal, onProgress, persist }: PromotionStepContext,
): Promise<string | null> {
  const item = service === undefined ? 'Data of the PostgreSQL database' : 'Data of MariaDB'
  const finish = (outcome: 'copied' | 'kept' | 'not_copied', note: string) => {
    done.report = putReportLine(done.report ?? [], { item, outcome, note })
    persist()
  }
  if (!isOwn && parts?.replaces_data !== true) {
    finish('kept', 'The other instance already has a database. Choose to replace data to copy it.')
    return null
  }
  const query = service === undefined ? {} : { service }
  try {
    const { dump } = await from.client.call('dumpDatabase', { params: { slug: from.slug }, query })
    const params = { slug: from.slug, id: dump.id }
    const file = await from.client.download('downloadDatabaseDump', { params }, { signal, onProgress, max_bytes: maxDumpBytes })
    // Only the instance owner may delete dumps; another user's dump stays in the list.
    await from.client.call('deleteDatabaseDump', { params: { id: dump.id } }).catch(() => {})
    onProgress(0, file.size)
    const answer = await to.client.upload('importDatabase', { params: { slug: to.slug }, query }, file, {
      type: 'application/octet-stream',
      signal,
      onProgress,
    })
    finish('copied', isOwn ? 'Copied.' : `Copied. The previous data is in the dump ${answer.dump.id}.`)
    return answer.dump.id
  } catch (error) {
    if (isUnsupported(error)) {
      finish('not_copied', 'One of the instances has no dumps. Copy the data with pg_dump and its connection strings.')
      return null
    }
    if (error instanceof ApiError && error.code === 'restore_failed') {
      finish('not_copied', error.message)
      return null
    }
    throw error
  }
}
