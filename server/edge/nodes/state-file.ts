import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { readFile, rename, writeFile } from 'node:fs/promises'

/** A text that is kept sealed on disk (AES-256-GCM), because it has private keys. */
export interface StateFile {
  /** Undefined if there is none, or one of another key. */
  read(): Promise<string | undefined>
  write(text: string): Promise<void>
}

const iv_bytes = 12
const tag_bytes = 16

export function createStateFile(path: string, key: Uint8Array): StateFile {
  return {
    async read() {
      try {
        const bytes = await readFile(path)
        const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, iv_bytes))
        decipher.setAuthTag(bytes.subarray(iv_bytes, iv_bytes + tag_bytes))
        return Buffer.concat([decipher.update(bytes.subarray(iv_bytes + tag_bytes)), decipher.final()]).toString()
      } catch {
        return undefined
      }
    },
    async write(text) {
      const iv = randomBytes(iv_bytes)
      const cipher = createCipheriv('aes-256-gcm', key, iv)
      const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      await writeFile(`${path}.new`, Buffer.concat([iv, cipher.getAuthTag(), sealed]), { mode: 0o600, flush: true })
      await rename(`${path}.new`, path)
    },
  }
}
