import { safeStorage } from 'electron'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Clock, sleep, systemClock } from '../server/lib/clock.ts'
import type { MasterKey } from '../server/keys/keys.ts'

export interface KeychainOptions {
  platform?: NodeJS.Platform
  clock?: Clock
}

/**
 * The master key, sealed by the system's keychain in a file of the data folder. undefined where the keychain would only pretend: Linux
 * without a keyring seals with a key that is in Chromium's source code. The platform then keeps a key file and says so.
 */
export async function createKeychain(path: string, options: KeychainOptions = {}): Promise<MasterKey | undefined> {
  if (!(await isTrustworthy(options))) {
    if (existsSync(path)) throw new Error(notAvailable(path))
    return undefined
  }
  return { kind: 'keychain', read: () => readKey(path, options) }
}

const notAvailable = (path: string) =>
  `The key of this data folder is locked in the system’s keychain, which is not available now. Unlock it, or start Homeport in the session that it was made in; ${path} stays as it is.`

/** Asked by a sample: the name of the backend says what Electron chose, not whether the keyring opened. */
async function isTrustworthy({ platform = process.platform }: KeychainOptions): Promise<boolean> {
  if (!(await safeStorage.isAsyncEncryptionAvailable())) return false
  return platform !== 'linux' || !isSealedForAnybody(await safeStorage.encryptStringAsync('sample'))
}

/** Linux alone: `v10` marks Chromium's fallback key (components/os_crypt), `v11` and later a key of the keyring. macOS uses `v10` for its own. */
const isSealedForAnybody = (sealed: Buffer): boolean => sealed.toString('latin1', 0, 3) === 'v10'

async function readKey(path: string, options: KeychainOptions): Promise<Uint8Array> {
  if (!existsSync(path)) {
    const key = randomBytes(32)
    await wrap(path, key, options)
    // What was written is what counts: a keychain that cannot give it back shall fail now, not after data was sealed with it.
    const { key: written } = await unwrap(path, options)
    if (!key.equals(written))
      throw new Error('The system’s keychain does not give back what it was given; Homeport does not trust it with the key of your data.')
    return key
  }
  const { key, isOld } = await unwrap(path, options)
  if (isOld) await wrap(path, key, options)
  return key
}

/** A keychain that is just being unlocked says that it is temporarily unavailable. */
const pauses_ms = [500, 1_000, 2_000, 4_000]
const isTemporary = (error: unknown) => error instanceof Error && error.message.includes('temporarily unavailable')

async function unwrap(path: string, { platform = process.platform, clock = systemClock }: KeychainOptions): Promise<{ key: Buffer; isOld: boolean }> {
  const sealed = readFileSync(path)
  const open = async (pauses: readonly number[]): ReturnType<typeof safeStorage.decryptStringAsync> => {
    try {
      return await safeStorage.decryptStringAsync(sealed)
    } catch (cause) {
      const [pause_ms, ...more] = pauses
      if (isTemporary(cause) && pause_ms === undefined) throw new Error(notAvailable(path), { cause })
      if (!isTemporary(cause) || pause_ms === undefined)
        throw new Error(
          `The system’s keychain no longer opens ${path}. Without it the secrets of this data folder cannot be read; nothing was changed. Sign in as the user who made it, or put back the keychain.`,
          { cause },
        )
      await sleep(clock, pause_ms)
      return open(more)
    }
  }
  const { result: text, shouldReEncrypt } = await open(pauses_ms)
  const isOld = shouldReEncrypt || (platform === 'linux' && isSealedForAnybody(sealed))
  const key = Buffer.from(text, 'hex')
  if (key.length !== 32) throw new Error(`${path} does not hold a master key; nothing was changed.`)
  return { key, isOld }
}

/** The old file stays whole until the new one is there. */
async function wrap(path: string, key: Buffer, { platform = process.platform }: KeychainOptions): Promise<void> {
  const sealed = await safeStorage.encryptStringAsync(key.toString('hex'))
  if (platform === 'linux' && isSealedForAnybody(sealed)) throw new Error(notAvailable(path))
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const draft = `${path}.new`
  writeFileSync(draft, sealed, { mode: 0o600 })
  renameSync(draft, path)
}
