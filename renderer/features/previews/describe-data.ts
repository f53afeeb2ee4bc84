import type { ForkSource } from '../../../server/contract/forks.ts'
import { formatBytes } from '../../lib/format.ts'

/** Such as `notes (12 MB), PostgreSQL`. */
export function describeData(volumes: ForkSource['volumes'], hasDatabase: boolean, databaseBytes: number | null = null): string {
  const named = volumes.map(({ name, size_bytes }) => describe(name, size_bytes))
  return [...named, ...(hasDatabase ? [describe('PostgreSQL', databaseBytes)] : [])].join(', ') || 'nothing'
}

const describe = (name: string, bytes: number | null): string => (bytes === null ? name : `${name} (${formatBytes(bytes)})`)
