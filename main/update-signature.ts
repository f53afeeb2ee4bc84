import { createPublicKey, verify } from 'node:crypto'

/** The part of an update feed entry that determines which files are installed. */
interface UpdateFeedEntry {
  version: string
  files: readonly { url: string; sha512: string }[]
}

/** The signed text. It includes the version, so that an old file cannot be offered as a new one. */
export function signedPayload({ version, files }: UpdateFeedEntry): string {
  return JSON.stringify(['homeport update 1', version, files.map(({ url, sha512 }) => [url, sha512])])
}

/** The feed field of the signature, next to the fields of electron-builder. */
export const signatureField = 'homeport_signature'

/** Whether the owner of the private key of `key` (Ed25519, SPKI in base64) announced exactly these files. Anything unexpected counts as invalid. */
export function verifyUpdateSignature(entry: unknown, key: string): boolean {
  try {
    if (!isUpdateFeedEntry(entry)) return false
    const signature: unknown = Reflect.get(entry, signatureField)
    if (typeof signature !== 'string') return false
    return verify(null, Buffer.from(signedPayload(entry)), parsePublicKey(key), Buffer.from(signature, 'base64'))
  } catch {
    return false
  }
}

/** Throws if the key is not an Ed25519 public key. */
export function parsePublicKey(base64: string) {
  const key = createPublicKey({ key: Buffer.from(base64, 'base64'), format: 'der', type: 'spki' })
  if (key.asymmetricKeyType !== 'ed25519') throw new Error('This is not an Ed25519 public key.')
  return key
}

/** Requires a SHA-512 per file, because electron-updater would also accept a weaker hash, or one for all files. */
export function isUpdateFeedEntry(entry: unknown): entry is UpdateFeedEntry {
  if (typeof entry !== 'object' || entry === null) return false
  const { version, files } = entry as Partial<Record<keyof UpdateFeedEntry, unknown>>
  return (
    typeof version === 'string' &&
    Array.isArray(files) &&
    files.length > 0 &&
    files.every((file: unknown) => {
      if (typeof file !== 'object' || file === null) return false
      const { url, sha512 } = file as Record<string, unknown>
      return typeof url === 'string' && typeof sha512 === 'string' && sha512 !== '' && !('sha2' in file)
    })
  )
}
