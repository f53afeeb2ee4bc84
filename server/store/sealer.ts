import { createHash } from 'node:crypto'
import { Problem } from '../contract/errors.ts'
import { decryptText, encryptText } from '../lib/aes-gcm.ts'

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
      return Buffer.concat([Buffer.from([formatVersion]), keyId, encryptText(masterKey, text, associatedDataOf(context))])
    },
    unseal(context, sealed) {
      try {
        const bytes = Buffer.from(sealed)
        if (bytes[0] !== formatVersion || !bytes.subarray(1, 5).equals(keyId)) throw new Error('Encrypted with another format or key.')
        return decryptText(masterKey, bytes.subarray(5), associatedDataOf(context))
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
