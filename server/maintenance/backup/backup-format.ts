import { z } from 'zod'

/**
 * A backup is one .tar.gz: `homeport-backup.json` first, then the main database, logs and metrics as SQLite files, a dump of each database, the files
 * of the data folder that cannot be recreated, and `end.json`. A file without this end is truncated. The master key is never part of a backup.
 * In format 1, which a restore still reads, `schema_version` was called `ledger_version`.
 */
export const backupFormat = 2

export const manifestName = 'homeport-backup.json'
export const trailerName = 'end.json'
export const mainDatabaseFile = 'homeport.db'
/** The three files of the store, with the same names as in a data folder. */
export const storeFiles = [mainDatabaseFile, 'logs.db', 'metrics.db'] as const
/** Folders of a data folder that are copied unchanged. */
export const copiedFolders = ['archives', 'sources', 'bundles', 'screenshots', 'dumps', 'volume-snapshots'] as const
/** The folder with dumps of live databases, in a backup and in a restored folder before its first start. */
export const databasesFolder = 'databases'
/** The files of volumes as `{runtime}/{volume}.tar`, in a backup and in a restored folder before its first start. */
export const volumesFolder = 'volume-archives'
/** Exists in a folder while a restore is incomplete. */
export const restoringFolder = '.restoring'
/** Exists in a restored folder until the first start has completed the restore. */
export const restoredFile = 'restored.json'

const sha256 = z.string().regex(/^[0-9a-f]{64}$/)

const currentManifest = z.object({
  format: z.number().int(),
  homeport: z.string(),
  created_at: z.iso.datetime(),
  instance_id: z.string(),
  /** Bundles of the process runtime contain native code and run only on this platform. */
  platform: z.string(),
  arch: z.string(),
  key: z.object({
    kind: z.enum(['keychain', 'file_key']),
    /** A known value encrypted with the master key: only this key opens it, and it reveals nothing about the key. */
    check: z.base64(),
  }),
  schema_version: z.number().int(),
  counts: z.object({ projects: z.number().int(), deployments: z.number().int(), env_vars: z.number().int(), databases: z.number().int() }),
  /** Files that were complete before the backup file was started. */
  parts: z.array(z.object({ name: z.string(), bytes: z.number().int(), sha256 })),
})
export const manifestSchema = z.preprocess(upgradeManifest, currentManifest)
export type BackupManifest = z.output<typeof manifestSchema>

export const trailerSchema = z.object({
  entries: z.number().int(),
  /** Digest of all previous entries: kind, name, mode, size and content. */
  digest: sha256,
  /** The digest encrypted with the master key, so that only the owner of the key can create a backup that passes verification. */
  seal: z.base64(),
  left_out: z.array(z.string()),
})
export type BackupTrailer = z.output<typeof trailerSchema>

/** The context of the two encrypted values, so that neither can be used as the other or in another backup. */
export const keyCheckColumn = (created_at: string) => ({ table: 'backup', column: 'key_check', row: created_at })
export const sealColumn = (created_at: string) => ({ table: 'backup', column: 'digest', row: created_at })
export const keyCheckText = 'homeport'

/** The position of a stored artifact in a data folder: `PREFIX/bundles/ID/REST`; null for an image and for any other path. */
export function locateArtifact(artifact: string): { prefix: string; id: string; rest: string[] } | null {
  const { directory } = JSON.parse(artifact) as { directory?: unknown }
  const found = typeof directory === 'string' ? /^(.*?)[\\/]bundles[\\/](dpl_[0-9a-z]+)(?:[\\/](.*))?$/s.exec(directory) : null
  if (!found) return null
  const [, prefix = '', id = '', rest = ''] = found
  const parts = rest.split(/[\\/]/).filter((part) => part !== '' && part !== '.')
  return parts.includes('..') ? null : { prefix, id, rest: parts }
}

/** The line of one entry in the digest. */
export const digestLine = (kind: string, name: string, detail: string): string => `${kind} ${JSON.stringify(name)} ${detail}\n`

function upgradeManifest(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('ledger_version' in value)) return value
  const { ledger_version: schema_version, ...rest } = value
  return { schema_version, ...rest }
}
