import { randomBytes } from 'node:crypto'
import { chmod, link, open, readFile, rm } from 'node:fs/promises'
import type { MasterKey } from './master-key.ts'

/**
 * A file of mode 0600 with 64 hexadecimal digits. It is made once, whole or not at all, and never changed. Others may not read the one
 * in our own folder (`is_ours`), also after it was copied; who may read one that an operator named is the operator's to say.
 */
export function createFileMasterKey(path: string, { is_ours = false }: { is_ours?: boolean } = {}): MasterKey {
  return {
    kind: 'file_key',
    async read() {
      const existing = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return undefined
        throw error
      })
      if (existing !== undefined) {
        if (is_ours) await chmod(path, 0o600)
        return parseKey(existing, path)
      }
      const key = randomBytes(32)
      const temporary = `${path}.${process.pid}`
      const file = await open(temporary, 'wx', 0o600)
      try {
        await file.writeFile(`${key.toString('hex')}\n`)
        await file.sync()
      } finally {
        await file.close()
      }
      // A link fails where the file exists by now, so two first starts end with one key.
      await link(temporary, path).catch(() => {})
      await rm(temporary)
      return parseKey(await readFile(path, 'utf8'), path)
    },
  }
}

function parseKey(text: string, path: string): Uint8Array {
  const digits = text.trim()
  if (!/^[0-9a-f]{64}$/i.test(digits))
    throw new Error(`${path} is no master key: it must hold 64 hexadecimal digits. Put the right file back; nothing was changed.`)
  return Buffer.from(digits, 'hex')
}
