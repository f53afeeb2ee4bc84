import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readProcessStart } from './process-table.ts'
import { toPathSegment } from '../files.ts'

/** The record of a running process on disk, so that a crash of the platform leaves no orphan. */
export interface ProcessRecord {
  id: string
  project_id: string
  deployment_id: string
  /** null for the only or main service, and for a build. */
  service?: string | null
  pid: number
  /** Opaque; together with the pid it identifies a process uniquely, because pids are reused. */
  started: string
}

export interface ProcessRecords {
  write(record: ProcessRecord): Promise<void>
  remove(id: string): Promise<void>
  list(): Promise<ProcessRecord[]>
}

export function createProcessRecords(folder: string): ProcessRecords {
  const getFile = (id: string) => join(folder, `${toPathSegment(id)}.json`)
  return {
    async write(record) {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const temporary = `${getFile(record.id)}.half`
      await writeFile(temporary, JSON.stringify(record), { mode: 0o600 })
      await rename(temporary, getFile(record.id))
    },
    async remove(id) {
      await rm(getFile(id), { force: true })
    },
    async list() {
      const names = (await readdir(folder).catch((): string[] => [])).filter((name) => name.endsWith('.json'))
      const records = await Promise.all(names.map(async (name) => parseRecord(await readFile(join(folder, name), 'utf8').catch(() => ''))))
      return records.filter((record) => record !== undefined)
    },
  }
}

export const isRecordedProcessAlive = async (record: ProcessRecord): Promise<boolean> => (await readProcessStart(record.pid)) === record.started

function parseRecord(text: string): ProcessRecord | undefined {
  try {
    const record = JSON.parse(text) as ProcessRecord
    return Number.isInteger(record.pid) && record.pid > 1 && typeof record.id === 'string' ? record : undefined
  } catch {
    return undefined
  }
}
