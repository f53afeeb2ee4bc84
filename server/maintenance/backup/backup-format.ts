import { z } from 'zod'

/**
 * A backup is one .tar.gz: `homeport-backup.json` first, then the ledger, logs and metrics as SQLite files, a dump of each
 * database, the files of the data folder that cannot be made again, and `end.json`. A file without its end is cut off.
 * The master key is never in it.
 */
export const backupFormat = 1

export const manifestName = 'homeport-backup.json'
export const trailerName = 'end.json'
export const mainDatabaseFile = 'homeport.db'
/** The three files of the store, as they lie in a data folder too. */
export const storeFiles = [mainDatabaseFile, 'logs.db', 'metrics.db'] as const
/** Folders of a data folder that are taken along as they are. */
export const copiedFolders = ['archives', 'sources', 'bundles', 'screenshots', 'dumps'] as const
/** Where the dumps of live databases lie, in a backup and in a folder that was restored and not yet started. */
export const databasesFolder = 'databases'
/** A folder that this lies in was restored to no end. */
export const restoringFolder = '.restoring'
/** Lies in a restored folder until its first start has done what only a running instance can do. */
export const restoredFile = 'restored.json'

const sha256 = z.string().regex(/^[0-9a-f]{64}$/)

export const manifestSchema = z.object({
  format: z.number().int(),
  homeport: z.string(),
  created_at: z.iso.datetime(),
  instance_id: z.string(),
  /** Bundles of the process runtime hold native code: they run on this alone. */
  platform: z.string(),
  arch: z.string(),
  key: z.object({
    kind: z.enum(['keychain', 'file_key']),
    /** A known word, sealed with the master key: it opens with that key alone and gives nothing of it away. */
    check: z.base64(),
  }),
  ledger_version: z.number().int(),
  counts: z.object({ projects: z.number().int(), deployments: z.number().int(), env_vars: z.number().int(), databases: z.number().int() }),
  /** What was whole before the file was begun. */
  parts: z.array(z.object({ name: z.string(), bytes: z.number().int(), sha256 })),
})
export type BackupManifest = z.output<typeof manifestSchema>

export const trailerSchema = z.object({
  entries: z.number().int(),
  /** Over all entries before it: kind, name, mode, size and content of each. */
  digest: sha256,
  /** The digest, sealed with the master key: nobody else can make a backup that this key takes for its own. */
  seal: z.base64(),
  left_out: z.array(z.string()),
})
export type BackupTrailer = z.output<typeof trailerSchema>

/** Where the two sealed values belong, so that neither opens as the other or in another backup. */
export const keyCheckColumn = (created_at: string) => ({ table: 'backup', column: 'key_check', row: created_at })
export const sealColumn = (created_at: string) => ({ table: 'backup', column: 'digest', row: created_at })
export const keyCheckText = 'homeport'

/** Where a stored artifact lies in a data folder: `PREFIX/bundles/ID/REST`; null for an image, and for what lies anywhere else. */
export function locateArtifact(artifact: string): { prefix: string; id: string; rest: string[] } | null {
  const { directory } = JSON.parse(artifact) as { directory?: unknown }
  const found = typeof directory === 'string' ? /^(.*?)[\\/]bundles[\\/](dpl_[0-9a-z]+)(?:[\\/](.*))?$/s.exec(directory) : null
  if (!found) return null
  const [, prefix = '', id = '', rest = ''] = found
  const parts = rest.split(/[\\/]/).filter((part) => part !== '' && part !== '.')
  return parts.includes('..') ? null : { prefix, id, rest: parts }
}

/** One entry's line in the digest. */
export const digestLine = (kind: string, name: string, detail: string): string => `${kind} ${JSON.stringify(name)} ${detail}\n`
