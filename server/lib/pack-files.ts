import { spawn } from 'node:child_process'
import { PassThrough, type Readable } from 'node:stream'

/** A tar stream of these files of a folder. None of them is a symlink. */
export function packFiles(folder: string, names: readonly string[]): Readable {
  const child = spawn('tar', ['-C', folder, '-cf', '-', ...names], { stdio: ['ignore', 'pipe', 'pipe'] })
  // Reading starts here, because Node discards unread output when the program ends.
  const archive = child.stdout.pipe(new PassThrough(), { end: false })
  let text = ''
  child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()))
  child.once('error', (error) => archive.destroy(error))
  child.once('close', (code) => (code === 0 ? archive.end() : archive.destroy(new Error(`tar ended with ${code}: ${text.slice(0, 500)}`))))
  return archive
}
