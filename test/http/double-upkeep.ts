/** Handlers of disk, backups and sources, for the double: they answer in the contract's shapes. */
import { Readable } from 'node:stream'
import type { Handlers } from '../../server/contract/index.ts'
import type { Context } from '../../server/features/context.ts'

type UpkeepHandlers = Pick<
  Handlers<Context>,
  'getDisk' | 'cleanDisk' | 'listBackups' | 'createBackup' | 'downloadBackup' | 'deleteBackup' | 'downloadSource'
>

const sampleBackup = {
  name: 'homeport-2026-01-31T12-00-00Z.tar.gz',
  kind: 'full' as const,
  bytes: 8,
  path: '/data/backups/homeport-2026-01-31T12-00-00Z.tar.gz',
  created_at: '2026-01-31T12:00:00.000Z',
}

/** `visible` throws the 404 of a project that the caller may not see. */
export function createUpkeepHandlers(visible: (context: Context, slug: string) => unknown): UpkeepHandlers {
  return {
    getDisk: async () => ({ kinds: [], total_bytes: 0, data_dir: '/data', free_bytes: 0 }),
    listBackups: async () => ({ backups: [sampleBackup], recovered: null }),
    createBackup: async () => ({ backup: sampleBackup, left_out: [] }),
    downloadBackup: async () => Readable.from([Buffer.from('a backup')]),
    deleteBackup: async () => {},
    async downloadSource(context, { params }) {
      visible(context, params.slug)
      return Readable.from([Buffer.from('a source')])
    },
    cleanDisk: async () => ({ freed: [], freed_bytes: 0 }),
  }
}
