import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Platform, startPlatform } from '../server/index.ts'
import { keyFiles, type PlatformOptions } from '../server/options.ts'
import { createKeychain } from './keychain.ts'
import { createScreenshotter } from './screenshotter.ts'

/**
 * Starts the platform in this very process, with what only a desktop has. A folder that headless Homeport has used keeps its
 * key file, so that both can go on with it; a new one gets its key into the keychain.
 */
export async function openCity(options: PlatformOptions, write: (line: string) => void): Promise<Platform> {
  const hasFile = options.master_key_file !== null || existsSync(join(options.data_dir, keyFiles.open))
  const masterKey = hasFile ? undefined : await createKeychain(join(options.data_dir, keyFiles.sealed))
  const note =
    (level: string) =>
    (event: string, fields: Record<string, unknown> = {}) =>
      write(`${level} ${event} ${JSON.stringify(fields, showErrors)}`)
  const screenshotter = options.chromium === 'auto' ? { screenshotter: createScreenshotter() } : {}
  return startPlatform(options, {
    ...(masterKey ? { masterKey } : {}),
    ...screenshotter,
    log: { info: () => {}, warn: note('warn'), error: note('error') },
  })
}

const showErrors = (_key: string, value: unknown) => (value instanceof Error ? `${value.name}: ${value.message}` : value)
