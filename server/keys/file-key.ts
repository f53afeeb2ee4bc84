import { randomBytes } from 'node:crypto'
import { chmod, link, open, readFile, rm } from 'node:fs/promises'
import type { MasterKey } from './master-key.ts'

/**
 * The master key in a file of mode 0600 with 64 hexadecimal digits. The file is created once, atomically, and never changed. With `is_ours` the file
 * is in the data folder and its permissions are enforced, even if it was copied there. The operator controls the permissions of any other file.
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
      // A hard link fails if the file exists, so two concurrent first starts use the same key.
      await link(temporary, path).catch(() => {})
      await rm(temporary)
      return parseKey(await readFile(path, 'utf8'), path)
    },
  }
}

function parseKey(text: string, path: string): Uint8Array {
  const digits = text.trim()
  if (!/^[0-9a-f]{64}$/i.test(digits))
    throw new Error(`${path} is not a master key: it must contain 64 hexadecimal digits. Nothing was changed. Restore the correct file.`)
  return Buffer.from(digits, 'hex')
}
