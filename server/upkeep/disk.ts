import { statfs } from 'node:fs/promises'
import type { CleanKind, DiskUse } from '../contract/upkeep.ts'

/** What takes which room, of ours alone, and how some of it is freed. */
export interface Disk {
  use(): Promise<{ kinds: DiskUse[]; total_bytes: number; data_dir: string; free_bytes: number }>
  clean(kinds?: readonly CleanKind[]): Promise<{ freed: Freed[]; freed_bytes: number }>
}

export interface Freed {
  kind: CleanKind
  bytes: number
  count: number
  note: string | null
}

export interface DiskDeps {
  data_dir: string
}

export function createDisk(deps: DiskDeps): Disk {
  return {
    async use() {
      const { bavail, bsize } = await statfs(deps.data_dir)
      return { kinds: [], total_bytes: 0, data_dir: deps.data_dir, free_bytes: bavail * bsize }
    },
    async clean() {
      return { freed: [], freed_bytes: 0 }
    },
  }
}
