import { readFile, rename, writeFile } from 'node:fs/promises'
import { decryptText, encryptText } from '../../lib/aes-gcm.ts'

/** A text that is kept encrypted on disk, because it has private keys. */
export interface StateFile {
  /** Undefined if there is none, or one of another key. */
  read(): Promise<string | undefined>
  write(text: string): Promise<void>
}

const purpose = Buffer.from('edge-state')

export function createStateFile(path: string, key: Uint8Array): StateFile {
  return {
    async read() {
      try {
        return decryptText(key, await readFile(path), purpose)
      } catch {
        return undefined
      }
    },
    async write(text) {
      await writeFile(`${path}.new`, encryptText(key, text, purpose), { mode: 0o600, flush: true })
      await rename(`${path}.new`, path)
    },
  }
}
