import { first, run, tables } from './query.ts'
import type { Tx } from './store.ts'

const findDigests = first((projectId: string) => tables.selectFrom('source_files').select('digests').where('project_id', '=', projectId))
const deleteDigests = run((projectId: string) => tables.deleteFrom('source_files').where('project_id', '=', projectId))

/** The digests by path of the last folder or archive of a project. */
export function replaceSourceDigests(tx: Tx, projectId: string, digests: Record<string, string> | undefined): Record<string, string> | undefined {
  const before = findDigests(tx, projectId)
  deleteDigests(tx, projectId)
  if (digests) tx.run(tables.insertInto('source_files').values({ project_id: projectId, digests: JSON.stringify(digests) }))
  return before && (JSON.parse(before.digests) as Record<string, string>)
}
