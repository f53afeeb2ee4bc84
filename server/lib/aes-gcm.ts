import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

const nonce_bytes = 12
const tag_bytes = 16

/** Encrypts a text with AES-256-GCM. `associated` is authenticated with it. Layout: nonce 12, tag 16, text. */
export function encryptText(key: Uint8Array, text: string, associated: Uint8Array): Buffer {
  const nonce = randomBytes(nonce_bytes)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  cipher.setAAD(associated)
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), body])
}

/** Throws if the key, the associated data or the bytes are others. */
export function decryptText(key: Uint8Array, bytes: Buffer, associated: Uint8Array): string {
  const body = nonce_bytes + tag_bytes
  // Without a length, Node also accepts a tag of 4 bytes.
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonce_bytes), { authTagLength: tag_bytes })
  decipher.setAAD(associated)
  decipher.setAuthTag(bytes.subarray(nonce_bytes, body))
  return Buffer.concat([decipher.update(bytes.subarray(body)), decipher.final()]).toString('utf8')
}
