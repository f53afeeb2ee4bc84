import { readFileSync } from 'node:fs'

/** Dependencies that are part of the bundles: the first for a faster start, the others because they are much smaller there. */
export const bundledPackages = [
  'h3',
  'ignore',
  'kysely',
  'mrmime',
  'zod',
  'mailparser',
  'nodemailer',
  'sanitize-html',
  'smtp-server',
  '@modelcontextprotocol/sdk',
  'stripe',
  'yaml',
  'smol-toml',
  'croner',
  '@fastify/busboy',
  'dns-packet',
  'eventsource-parser',
  'uqr',
]

interface LockedPackage {
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
  dev?: true
}

/** For commands that @grpc/proto-loader and js-yaml have for developers. */
const neverLoaded = ['yargs', 'argparse']

/** The folders of packages that nothing loads beside the bundles: the bundled ones, and what no other dependency of ours needs. */
export function listUnneededFolders(): string[] {
  const lock = JSON.parse(readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8')) as { packages: Record<string, LockedPackage> }
  const { packages } = lock
  const ours = Object.keys(packages['']?.dependencies ?? {})
  const needed = collectFolders(packages, ours, [...bundledPackages, ...neverLoaded])
  const unneeded = [...collectFolders(packages, ours, [])].filter((folder) => !needed.has(folder))
  // In place of a nested one that is left out, electron-builder includes a development dependency of the same name.
  const namesakes = unneeded.map((folder) => `node_modules/${folder.split('node_modules/').at(-1)}`).filter((folder) => packages[folder]?.dev)
  return [...new Set([...unneeded, ...namesakes])].toSorted()
}

/** The folders of packages and of all that they depend on, as Node finds them, without some and what only those need. */
function collectFolders(packages: Record<string, LockedPackage>, names: readonly string[], without: readonly string[]): Set<string> {
  const found = new Set<string>()
  const collect = (name: string, from: string): void => {
    if (without.includes(name)) return
    const folder = resolveFolder(packages, name, from)
    if (folder === undefined || found.has(folder)) return
    found.add(folder)
    const { dependencies, optionalDependencies } = packages[folder] ?? {}
    for (const dependency of Object.keys({ ...dependencies, ...optionalDependencies })) collect(dependency, folder)
  }
  for (const name of names) collect(name, '')
  return found
}

function resolveFolder(packages: Record<string, LockedPackage>, name: string, from: string): string | undefined {
  for (let base = from; ; base = base.slice(0, Math.max(0, base.lastIndexOf('node_modules/') - 1))) {
    const folder = `${base === '' ? '' : `${base}/`}node_modules/${name}`
    if (packages[folder]) return folder
    if (base === '') return undefined
  }
}
