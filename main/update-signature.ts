import { createPublicKey, verify } from 'node:crypto'

/** Of an entry of the update feed, what decides which bytes are put in place. */
interface UpdateFeedEntry {
  version: string
  files: readonly { url: string; sha512: string }[]
}

/** The text that a releaser signs: the version too, so that an old file is not given out as a new one. */
export function signedPayload({ version, files }: UpdateFeedEntry): string {
  return JSON.stringify(['homeport update 1', version, files.map(({ url, sha512 }) => [url, sha512])])
}

/** Where the signature stands in the feed, beside the fields of electron-builder. */
export const signatureField = 'homeport_signature'

/** Whether whoever has the private half of `key` (Ed25519, SPKI in base64) announced exactly these files. Whatever is odd is not. */
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

/** Throws for what is no public key of Ed25519. */
export function parsePublicKey(base64: string) {
  const key = createPublicKey({ key: Buffer.from(base64, 'base64'), format: 'der', type: 'spki' })
  if (key.asymmetricKeyType !== 'ed25519') throw new Error('This is no public key of Ed25519.')
  return key
}

/** Each file by its own sum: electron-updater would also take a weaker one, or one for all of them. */
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
