import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** `DIR/instance.json`, which exists from the moment the platform is ready until its orderly exit. */
export interface InstanceFile {
  version: string
  pid: number
  api_url: string
  edge_url: string
  /** null while the edge has no TLS listener. */
  edge_https_url: string | null
  dashboard_url: string
  /** Works once, for a limited time; `homeport open` creates a new one. */
  sign_in_url: string
  /** The owner's bearer token for this run. */
  token: string
  runtime: { name: string; version: string | null; reason: string }
  started_at: string
}

const pathOf = (dataDir: string) => join(dataDir, 'instance.json')

/** Written atomically, readable only by its owner. */
export function writeInstanceFile(dataDir: string, instance: InstanceFile): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const temporary = join(dataDir, `.instance.${instance.pid}.json`)
  rmSync(temporary, { force: true })
  writeFileSync(temporary, `${JSON.stringify(instance, null, 2)}\n`, { mode: 0o600, flag: 'wx' })
  renameSync(temporary, pathOf(dataDir))
}

/** The content of the file, which may be stale; undefined if it is missing or invalid. */
export function readInstanceFile(dataDir: string): InstanceFile | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(pathOf(dataDir), 'utf8'))
    return isInstanceFile(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Removes the file if it belongs to this process. */
export function removeInstanceFile(dataDir: string, pid: number): void {
  if (readInstanceFile(dataDir)?.pid === pid) rmSync(pathOf(dataDir), { force: true })
}

/** Whether a process with this id exists. It may be another process that received the id later. */
export function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: the process exists and belongs to another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

function isInstanceFile(value: unknown): value is InstanceFile {
  if (typeof value !== 'object' || value === null) return false
  const { pid, api_url, token } = value as Record<string, unknown>
  return Number.isInteger(pid) && Number(pid) > 0 && typeof api_url === 'string' && URL.canParse(api_url) && typeof token === 'string'
}
