import { safeStorage } from 'electron'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Clock, sleep, systemClock } from '../server/lib/clock.ts'
import type { MasterKey } from '../server/keys/master-key.ts'

export interface KeychainOptions {
  platform?: NodeJS.Platform
  clock?: Clock
}

/**
 * The master key, encrypted by the system's keychain in a file of the data folder. undefined if the keychain is not secure: Linux without a keyring
 * encrypts with a key from Chromium's source code. The platform then uses a key file and reports that.
 */
export async function createKeychain(path: string, options: KeychainOptions = {}): Promise<MasterKey | undefined> {
  if (!(await isKeychainSecure(options))) {
    if (existsSync(path)) throw new Error(unavailableMessage(path))
    return undefined
  }
  return { kind: 'keychain', read: () => readKey(path, options) }
}

const unavailableMessage = (path: string) =>
  `The key of this data folder is in the system’s keychain, which is currently not available. Unlock the keychain, or start Homeport in the session that created the key. ${path} was not changed.`

/** Tested with a sample, because the backend name says what Electron chose and not whether the keyring opened. */
async function isKeychainSecure({ platform = process.platform }: KeychainOptions): Promise<boolean> {
  if (!(await safeStorage.isAsyncEncryptionAvailable())) return false
  return platform !== 'linux' || !isSealedWithFallbackKey(await safeStorage.encryptStringAsync('sample'))
}

/**
 * On Linux, `v10` marks Chromium's fallback key (components/os_crypt), and `v11` and later a key of the keyring. macOS uses `v10` for its own key.
 */
const isSealedWithFallbackKey = (sealed: Buffer): boolean => sealed.toString('latin1', 0, 3) === 'v10'

async function readKey(path: string, options: KeychainOptions): Promise<Uint8Array> {
  if (!existsSync(path)) {
    const key = randomBytes(32)
    await sealKey(path, key, options)
    // Reads the key back, so that a keychain that cannot decrypt it fails now and not after data was encrypted with it.
    const { key: written } = await unsealKey(path, options)
    if (!key.equals(written))
      throw new Error('The system’s keychain returned a different key than the one that was stored, so Homeport cannot use it for your data.')
    return key
  }
  const { key, needsReseal } = await unsealKey(path, options)
  if (needsReseal) await sealKey(path, key, options)
  return key
}

/** A keychain that is being unlocked reports that it is temporarily unavailable. */
const retryDelays_ms = [500, 1_000, 2_000, 4_000]
const isTemporary = (error: unknown) => error instanceof Error && error.message.includes('temporarily unavailable')

async function unsealKey(
  path: string,
  { platform = process.platform, clock = systemClock }: KeychainOptions,
): Promise<{ key: Buffer; needsReseal: boolean }> {
  const sealed = readFileSync(path)
  const decryptWithRetries = async (delays: readonly number[]): ReturnType<typeof safeStorage.decryptStringAsync> => {
    try {
      return await safeStorage.decryptStringAsync(sealed)
    } catch (cause) {
      const [delay_ms, ...remaining] = delays
      if (isTemporary(cause) && delay_ms === undefined) throw new Error(unavailableMessage(path), { cause })
      if (!isTemporary(cause) || delay_ms === undefined)
        throw new Error(
          `The system’s keychain can no longer decrypt ${path}, so the secrets of this data folder cannot be read. Nothing was changed. Sign in as the user who created it, or restore the keychain.`,
          { cause },
        )
      await sleep(clock, delay_ms)
      return decryptWithRetries(remaining)
    }
  }
  const { result: text, shouldReEncrypt } = await decryptWithRetries(retryDelays_ms)
  const needsReseal = shouldReEncrypt || (platform === 'linux' && isSealedWithFallbackKey(sealed))
  const key = Buffer.from(text, 'hex')
  if (key.length !== 32) throw new Error(`${path} does not contain a master key. Nothing was changed.`)
  return { key, needsReseal }
}

/** Written atomically, so that the old file remains until the new one is complete. */
async function sealKey(path: string, key: Buffer, { platform = process.platform }: KeychainOptions): Promise<void> {
  const sealed = await safeStorage.encryptStringAsync(key.toString('hex'))
  if (platform === 'linux' && isSealedWithFallbackKey(sealed)) throw new Error(unavailableMessage(path))
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const temporaryPath = `${path}.new`
  writeFileSync(temporaryPath, sealed, { mode: 0o600 })
  renameSync(temporaryPath, path)
}
