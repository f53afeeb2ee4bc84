import { safeStorage } from 'electron'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { MasterKey } from '../server/keys/keys.ts'

/**
 * The master key, wrapped by the system's keychain into a file of the data folder. undefined where the keychain would only
 * pretend (Linux without a keyring scrambles with a password that everybody knows): the platform then keeps a key file and says so.
 */
export async function createKeychain(path: string): Promise<MasterKey | undefined> {
  if (!(await isTrustworthy())) {
    if (existsSync(path))
      throw new Error(
        `The key of this data folder is locked in the system’s keychain, which is not available now. Unlock it, or start Homeport in the session that it was made in; ${path} stays as it is.`,
      )
    return undefined
  }
  return { kind: 'keychain', read: () => readKey(path) }
}

async function isTrustworthy(): Promise<boolean> {
  if (!(await safeStorage.isAsyncEncryptionAvailable())) return false
  if (process.platform !== 'linux') return true
  const backend = safeStorage.getSelectedStorageBackend()
  return backend !== 'basic_text' && backend !== 'unknown'
}

async function readKey(path: string): Promise<Uint8Array> {
  if (!existsSync(path)) {
    const key = randomBytes(32)
    await wrap(path, key)
    // What was written is what counts: a keychain that cannot give it back shall fail now, not after data was sealed with it.
    const { key: written } = await unwrap(path)
    if (!key.equals(written))
      throw new Error('The system’s keychain does not give back what it was given; Homeport does not trust it with the key of your data.')
    return key
  }
  const { key, isOld } = await unwrap(path)
  if (isOld) await wrap(path, key)
  return key
}

async function unwrap(path: string): Promise<{ key: Buffer; isOld: boolean }> {
  let text: string
  let isOld: boolean
  try {
    const { result, shouldReEncrypt } = await safeStorage.decryptStringAsync(readFileSync(path))
    text = result
    isOld = shouldReEncrypt
  } catch (cause) {
    throw new Error(
      `The system’s keychain no longer opens ${path}. Without it the secrets of this data folder cannot be read; nothing was changed. Sign in as the user who made it, or put back the keychain.`,
      { cause },
    )
  }
  const key = Buffer.from(text, 'hex')
  if (key.length !== 32) throw new Error(`${path} does not hold a master key; nothing was changed.`)
  return { key, isOld }
}

/** The old file stays whole until the new one is there. */
async function wrap(path: string, key: Buffer): Promise<void> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const draft = `${path}.new`
  writeFileSync(draft, await safeStorage.encryptStringAsync(key.toString('hex')), { mode: 0o600 })
  renameSync(draft, path)
}
