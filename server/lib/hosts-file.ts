import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { access, chmod, chown, open, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/**
 * A block of lines in the hosts file, between marks that name the instance. The rest of the file stays unchanged, byte for byte: the file is read and
 * written as bytes (latin1), and removing the block restores the previous content.
 */
export interface HostsBlock {
  begin: string
  end: string
  lines: string[]
}

export function createHostsBlock(instance: string, names: readonly string[]): HostsBlock {
  const lines = names.filter((name) => /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/.test(name)).map((name) => `127.0.0.1 ${name}`)
  return { begin: `# homeport begin ${instance}`, end: '# homeport end', lines }
}

/** Parses the output of `formatHostsBlock`. Throws on anything else, because an administrator may be about to write it. */
export function parseHostsBlock(text: string): HostsBlock {
  const [first = '', ...rest] = text.trimEnd().split('\n')
  const instance = /^# homeport begin ([a-z0-9]+)$/.exec(first)?.[1]
  const names = rest.slice(0, -1).map((line) => /^127\.0\.0\.1 (\S+)$/.exec(line)?.[1] ?? '')
  const block = createHostsBlock(instance ?? '', names)
  if (instance === undefined || formatHostsBlock(block) !== text) throw new Error('The input is not a valid block for the hosts file.')
  return block
}

export const formatHostsBlock = (block: HostsBlock): string => `${[block.begin, ...block.lines, block.end].join('\n')}\n`

/** The file's text with the block added or replaced. A block without lines is removed. */
export function applyHostsBlock(text: string, block: HostsBlock): string {
  const position = findBlock(text, block)
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const lines = [block.begin, ...block.lines, block.end].join(eol)
  if (position) {
    const before = text.slice(0, position.start)
    const after = text.slice(position.end)
    if (block.lines.length > 0) return before + lines + (position.closed ? eol : '') + after
    // The file had no line end at its end, so the line end before the block was added with it.
    return (position.closed ? before : before.replace(/\r?\n$/, '')) + after
  }
  if (block.lines.length === 0) return text
  if (text === '' || text.endsWith('\n')) return text + lines + eol
  return text + eol + lines
}

/** The position of the block. `closed`: a line end follows it. A line that is not part of the block ends it, even if the end mark is missing. */
function findBlock(text: string, block: HostsBlock): { start: number; end: number; closed: boolean } | undefined {
  const lines = text.split('\n')
  let at = 0
  let start: number | undefined
  for (const [i, line] of lines.entries()) {
    const trimmedLine = line.replace(/\r$/, '')
    const next = at + line.length + 1
    if (start === undefined) {
      if (trimmedLine === block.begin) start = at
    } else if (trimmedLine === block.end) {
      const closed = i < lines.length - 1
      return { start, end: closed ? next : text.length, closed }
    } else if (!/^127\.0\.0\.1 [a-z0-9.-]+$/.test(trimmedLine)) return { start, end: at, closed: true }
    at = next
  }
  return start === undefined ? undefined : { start, end: text.length, closed: text.endsWith('\n') }
}

export async function readHostsFile(path: string): Promise<string> {
  try {
    return await readFile(path, 'latin1')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return ''
    throw error
  }
}

export async function isWritable(path: string): Promise<boolean> {
  return access(path, constants.W_OK).then(
    () => true,
    () => false,
  )
}

/** Whether the file has exactly this block. */
export async function isHostsFileInSync(path: string, block: HostsBlock): Promise<boolean> {
  const text = await readHostsFile(path).catch(() => '')
  return applyHostsBlock(text, block) === text
}

/** Writes the block, or removes it if it has no lines. False: nothing had to be changed. */
export async function writeHostsBlock(path: string, block: HostsBlock): Promise<boolean> {
  const text = await readHostsFile(path)
  const updated = applyHostsBlock(text, block)
  if (updated === text) return false
  await replaceFile(path, updated)
  return true
}

/** Atomic if the folder allows it, so that no reader sees a partial file. */
async function replaceFile(path: string, text: string): Promise<void> {
  const target = await realpath(path).catch(() => path)
  const temporary = join(dirname(target), `.homeport-hosts-${randomBytes(6).toString('hex')}`)
  try {
    const before = await stat(target).catch(() => undefined)
    const file = await open(temporary, 'wx', 0o600)
    try {
      await file.writeFile(text, 'latin1')
      await file.sync()
    } finally {
      await file.close()
    }
    await chmod(temporary, before ? before.mode & 0o7777 : 0o644)
    if (before && process.platform !== 'win32') await chown(temporary, before.uid, before.gid)
    await rename(temporary, target)
  } catch (error) {
    await rm(temporary, { force: true })
    // If the folder is not writable, or the file is bind-mounted into a container, the file can only be overwritten.
    const code = error instanceof Error && 'code' in error ? error.code : ''
    if (code !== 'EACCES' && code !== 'EPERM' && code !== 'EBUSY' && code !== 'EXDEV') throw error
    await writeFile(target, text, 'latin1')
  }
}
