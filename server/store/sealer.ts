import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import { Problem } from '../contract/errors.ts'

/**
 * Encrypts secret columns with AES-256-GCM. Table, column and row are authenticated with the value, so that a ciphertext moved elsewhere cannot be
 * decrypted. Layout: version 1, key id 4, nonce 12, tag 16, text.
 */
export interface Sealer {
  seal(context: EncryptionContext, text: string): Uint8Array
  /** Throws `decryption_failed`. Never returns another row's value. */
  unseal(context: EncryptionContext, sealed: Uint8Array): string
}

export interface EncryptionContext {
  table: string
  column: string
  row: string
}

const formatVersion = 1

export function createSealer(masterKey: Uint8Array): Sealer {
  if (masterKey.length !== 32) throw new Error('The master key must have 32 bytes.')
  const keyId = createHash('sha256').update(masterKey).digest().subarray(0, 4)
  const associatedDataOf = (context: EncryptionContext) => Buffer.from(`${context.table}\0${context.column}\0${context.row}`)

  return {
    seal(context, text) {
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', masterKey, nonce)
      cipher.setAAD(associatedDataOf(context))
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return Buffer.concat([Buffer.from([formatVersion]), keyId, nonce, cipher.getAuthTag(), body])
    },
    unseal(context, sealed) {
      try {
        const bytes = Buffer.from(sealed)
        if (bytes[0] !== formatVersion || !bytes.subarray(1, 5).equals(keyId)) throw new Error('Encrypted with another format or key.')
        // Without a length, Node also accepts a tag of 4 bytes.
        const decipher = createDecipheriv('aes-256-gcm', masterKey, bytes.subarray(5, 17), { authTagLength: 16 })
        decipher.setAAD(associatedDataOf(context))
        decipher.setAuthTag(bytes.subarray(17, 33))
        return Buffer.concat([decipher.update(bytes.subarray(33)), decipher.final()]).toString('utf8')
      } catch (cause) {
        throw new Problem(
          'decryption_failed',
          'A stored secret cannot be decrypted with this master key. Restore the key it was stored with, or set the value again.',
          { cause },
        )
      }
    },
  }
}
