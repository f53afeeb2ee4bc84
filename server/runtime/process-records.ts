import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startOf } from './process-table.ts'
import { pathPart } from './files.ts'

/** What is known on disk of a running process, so that a crash of the platform leaves no orphan. */
export interface ProcessRecord {
  id: string
  project_id: string
  deployment_id: string
  pid: number
  /** Opaque; with the pid it names one process for ever (a number may be given anew). */
  started: string
}

export interface ProcessRecords {
  write(record: ProcessRecord): Promise<void>
  remove(id: string): Promise<void>
  all(): Promise<ProcessRecord[]>
}

export function createProcessRecords(folder: string): ProcessRecords {
  const file = (id: string) => join(folder, `${pathPart(id)}.json`)
  return {
    async write(record) {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const half = `${file(record.id)}.half`
      await writeFile(half, JSON.stringify(record), { mode: 0o600 })
      await rename(half, file(record.id))
    },
    async remove(id) {
      await rm(file(id), { force: true })
    },
    async all() {
      const names = (await readdir(folder).catch((): string[] => [])).filter((name) => name.endsWith('.json'))
      const records = await Promise.all(names.map(async (name) => parse(await readFile(join(folder, name), 'utf8').catch(() => ''))))
      return records.filter((record) => record !== undefined)
    },
  }
}

export const isAlive = async (record: ProcessRecord): Promise<boolean> => (await startOf(record.pid)) === record.started

function parse(text: string): ProcessRecord | undefined {
  try {
    const record = JSON.parse(text) as ProcessRecord
    return Number.isInteger(record.pid) && record.pid > 1 && typeof record.id === 'string' ? record : undefined
  } catch {
    return undefined
  }
}
