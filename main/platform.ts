import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Platform, startPlatform } from '../server/index.ts'
import { systemClock } from '../server/lib/clock.ts'
import type { Log } from '../server/lib/log.ts'
import { masterKeyFiles, type PlatformOptions } from '../server/options.ts'
import { createKeychain } from './keychain.ts'
import { resolveShellEnvironment } from './shell-environment.ts'
import { createScreenshotter } from './screenshotter.ts'

/**
 * Starts the platform in this process, with the features of the desktop. A folder that headless Homeport has used keeps its key file, so that both
 * can use it; a new folder stores its key in the keychain.
 */
export async function startEmbeddedPlatform(options: PlatformOptions, log: Log): Promise<Platform> {
  const hasFile = options.master_key_file !== null || existsSync(join(options.data_dir, masterKeyFiles.open))
  const [masterKey, environment] = await Promise.all([
    hasFile ? undefined : createKeychain(join(options.data_dir, masterKeyFiles.sealed)),
    resolveShellEnvironment({ environment: options.environment, clock: systemClock }),
  ])
  const screenshotter = options.chromium === 'auto' ? { screenshotter: createScreenshotter() } : {}
  return startPlatform(
    { ...options, environment },
    {
      ...(masterKey ? { masterKey } : {}),
      ...screenshotter,
      // Info-level entries are dropped.
      log: { ...log, info: () => {} },
    },
  )
}
