/** Holds the house to its plan: who may import whom, no cycles, no long files, no reach past the doors. The plan is in server/README.md. */
import { existsSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { root } from './runner/command.ts'
import { type Import, importsOf, isCode, listFiles, withoutComments } from './runner/imports.ts'

const files = listFiles()
const code = files.filter(isCode)
const textOf = new Map(code.map((file) => [file, readFileSync(join(root, file), 'utf8')]))
const imports = code.flatMap((file) => importsOf(file, textOf.get(file)))

/**
 * Room -> what it may import: other rooms (by prefix), and packages. `type:` allows a type only.
 * A room may always import itself, and Node's own modules unless it says otherwise.
 */
const shared = ['server/contract', 'server/lib']
const drivers = {
  'server/runtime': ['dockerode', 'tar-stream', 'semver'],
  'server/source': ['tar-stream', 'yauzl'],
  'server/builder': ['semver', 'yaml'],
}
const plan: Record<string, { rooms: string[]; packages: string[]; has_node?: boolean }> = {
  'server/contract': { rooms: [], packages: ['zod'], has_node: false },
  'server/lib': { rooms: [], packages: ['ignore'] },
  'server/http': { rooms: [...shared, 'type:server/features'], packages: ['h3', 'zod', 'mrmime', '@fastify/busboy'] },
  'server/features': {
    rooms: [
      ...shared,
      'server/store',
      'server/deploy/engine.ts',
      'server/billing',
      'server/database',
      'type:server/edge',
      'type:server/mail',
      'type:server/names',
      'type:server/dns',
      'server/registrar/registrar.ts',
      'type:server/remote',
      'type:server/source',
      'type:server/runtime',
      'type:server/upkeep',
    ],
    packages: ['zod'],
  },
  'server/deploy': {
    rooms: [...shared, 'type:server/database', 'server/store', 'server/source', 'server/builder', 'server/runtime', 'server/edge'],
    packages: [],
  },
  'server/database': {
    rooms: [...shared, 'server/store', 'server/runtime/docker-connect.ts', 'server/runtime/docker-engine.ts', 'server/runtime/docker-frames.ts'],
    packages: ['pg', 'pg-copy-streams', 'dockerode'],
  },
  'server/billing': { rooms: [...shared, 'server/store', 'type:server/options.ts'], packages: ['stripe'] },
  'server/store': { rooms: shared, packages: ['kysely', 'better-sqlite3'] },
  'server/edge': { rooms: shared, packages: ['mrmime'] },
  'server/upkeep': {
    rooms: [
      ...shared,
      'server/store',
      'server/keys',
      'server/source/archive-tar.ts',
      'type:server/deploy',
      'type:server/runtime',
      'type:server/edge',
    ],
    packages: ['zod'],
  },
  'server/start': { rooms: ['server'], packages: [] },
  'server/remote': { rooms: shared, packages: ['zod'] },
  'server/lan': { rooms: shared, packages: [] },
  'server/mail': { rooms: shared, packages: ['nodemailer'] },
  'server/keys': { rooms: shared, packages: [] },
  'server/dns': { rooms: shared, packages: ['dns-packet'] },
  'server/registrar': { rooms: shared, packages: ['zod'] },
  'server/names': { rooms: shared, packages: [] },
  'server/screenshot': { rooms: shared, packages: [] },
  'server/help': { rooms: ['server/contract'], packages: [], has_node: false },
  'server/cli': { rooms: [...shared, 'server/options.ts', 'server/help'], packages: ['uqr', 'tar-stream'] },
  renderer: {
    rooms: ['server/contract', 'server/help', 'type:preload/bridge.ts', 'resources/samples/samples.json'],
    packages: ['*'],
    has_node: false,
  },
  preload: { rooms: [], packages: ['electron'], has_node: false },
  'resources/package': { rooms: ['main/update-proof.ts'], packages: ['electron-builder', '@electron/asar', 'yaml'] },
  main: {
    rooms: [
      'server/index.ts',
      'server/options.ts',
      'server/lib/clock.ts',
      'server/lib/instance-file.ts',
      'server/lib/log-file.ts',
      'server/lib/log.ts',
      'server/deploy/mask.ts',
      'server/screenshot',
      'type:server/keys/keys.ts',
      'server/cli/prepare.mjs',
      'preload/bridge.ts',
    ],
    packages: ['electron', 'electron-updater'],
  },
}
for (const [room, packages] of Object.entries(drivers)) plan[room] = { rooms: shared, packages }
const roomNames = Object.keys(plan).sort((a, b) => b.length - a.length)
const roomOf = (file: string) => roomNames.find((room) => file.startsWith(`${room}/`))

describe('who may import whom', () => {
  test('every room of server/ is in the plan', () => {
    const rooms = new Set(code.filter((file) => /^server\/[^/]+\//.test(file)).map((file) => file.split('/').slice(0, 2).join('/')))
    expect([...rooms].filter((room) => !(room in plan))).toEqual([])
  })

  test.each(Object.keys(plan))('%s', (room) => {
    const allowed = plan[room]!
    const wrong = imports.filter((one) => roomOf(one.from) === room && !isAllowed(room, allowed, one)).map((one) => `${one.from} imports ${one.to}`)
    expect(wrong).toEqual([])
  })

  test('serve.ts alone takes the composition root into the command line', () => {
    expect(
      imports.filter((one) => one.to === 'server/index.ts' && one.from.startsWith('server/') && !/^server\/(cli\/serve|index)\.ts$/.test(one.from)),
    ).toEqual([])
  })

  test('no import goes round in a circle', () => {
    expect(circles()).toEqual([])
  })

  test('every import of ours leads to a file', () => {
    expect(
      imports.filter((one) => one.is_own && !existsSync(join(root, one.to)) && !one.to.endsWith('.css')).map((one) => `${one.from} -> ${one.to}`),
    ).toEqual([])
  })
})

describe('habits', () => {
  test('no file over 400 lines (contract and migrations excused)', () => {
    const long = code
      .filter((file) => !/^server\/(contract|store\/migrations)\//.test(file))
      .map((file) => [file, textOf.get(file)!.split('\n').length] as const)
    expect(long.filter(([, lines]) => lines > 401)).toEqual([])
  })

  test('server/ reads the environment in options.ts alone', () => {
    const readers = code.filter(
      (file) => file.startsWith('server/') && /process\.env|import\.meta\.env/.test(withoutTexts(withoutComments(textOf.get(file)!))),
    )
    // The launcher runs before options.ts can be loaded: it asks npm's own variable which npm is running.
    expect(readers.filter((file) => file !== 'server/options.ts' && file !== 'server/cli/prepare.mjs')).toEqual([])
  })

  test('types are not looked away from', () => {
    const marks = /@ts-(ignore|nocheck|expect-error)|as unknown as|\bas any\b|: any\b/
    expect(code.filter((file) => !file.startsWith('test/') && marks.test(withoutComments(textOf.get(file)!)))).toEqual([])
  })

  test('modules are not mocked', () => {
    expect(
      code.filter((file) => file.startsWith('test/') && file !== 'test/architecture.test.ts' && /\bvi\.(mock|doMock)\(/.test(textOf.get(file)!)),
    ).toEqual([])
  })
})

describe('the repository', () => {
  const texts = files.filter((file) => !/\.(png|ico|icns|woff2|gz|zip|db)$/.test(file) && file !== 'test/architecture.test.ts')

  test('names no folder of a particular machine', () => {
    const marks = /\/work\/(main|shared)|\/home\/(?!me\b|user\b|node\b|you\b|app\b)[a-z][a-z0-9-]+\/|\/Users\/(?!me\b|you\b)[A-Za-z]+\//
    expect(texts.filter((file) => marks.test(readFileSync(join(root, file), 'utf8')))).toEqual([])
  })

  test('the lock file names no registry, and package.json no other source', () => {
    const lock = readFileSync(join(root, 'package-lock.json'), 'utf8')
    expect(lock.match(/"resolved":\s*"https?:[^"]*"/g) ?? []).toEqual([])
    expect(
      texts.filter(
        (file) =>
          extname(file) !== '.md' && /^(?!.*(example|localhost|127\.0\.0\.1)).*registry\s*=\s*https?:/m.test(readFileSync(join(root, file), 'utf8')),
      ),
    ).toEqual([])
  })

  test('every optional dependency is in the lock file', () => {
    const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { optionalDependencies?: Record<string, string> }>
    }
    const missing = Object.entries(packages).flatMap(([path, entry]) =>
      Object.keys(entry.optionalDependencies ?? {})
        .filter((name) => !isLocked(packages, path, name))
        .map((name) => `${path} wants ${name}`),
    )
    expect(missing).toEqual([])
  })
})

function isAllowed(room: string, allowed: { rooms: string[]; packages: string[]; has_node?: boolean }, one: Import): boolean {
  if (one.is_own) {
    if (one.to.startsWith(`${room}/`)) return true
    // The command line alone may start what it commands.
    if (one.from === 'server/cli/serve.ts' && one.to === 'server/index.ts') return true
    // It works where no instance runs.
    if (one.from === 'server/cli/restore.ts' && one.to === 'server/upkeep/restore.ts') return true
    return allowed.rooms.some((entry) => {
      const isTypeEntry = entry.startsWith('type:')
      const target = isTypeEntry ? entry.slice(5) : entry
      return (one.to === target || one.to.startsWith(`${target}/`)) && (!isTypeEntry || one.is_type_only)
    })
  }
  // How the dashboard is built is no part of what runs in a browser.
  if (one.to.startsWith('node:')) return allowed.has_node !== false || one.from === 'renderer/vite.config.ts'
  const name = one.to.startsWith('@') ? one.to.split('/').slice(0, 2).join('/') : one.to.split('/')[0]!
  // A type from a driver's library is how a room speaks of it.
  return allowed.packages.includes('*') || allowed.packages.includes(name)
}

function circles(): string[] {
  const next = new Map<string, string[]>()
  // A type is gone at run time: it closes no circle.
  for (const one of imports) if (one.is_own && !one.is_type_only) next.set(one.from, [...(next.get(one.from) ?? []), one.to])
  const done = new Set<string>()
  const found: string[] = []
  const visit = (file: string, path: string[]) => {
    if (path.includes(file)) {
      found.push([...path.slice(path.indexOf(file)), file].join(' -> '))
      return
    }
    if (done.has(file)) return
    for (const target of next.get(file) ?? []) visit(target, [...path, file])
    done.add(file)
  }
  for (const file of next.keys()) visit(file, [])
  return found
}

/** An optional package may sit beside the one that wants it or further up. */
function isLocked(packages: Record<string, unknown>, path: string, name: string): boolean {
  for (let at = path; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/')))) {
    if (`${at === '' ? '' : `${at}/`}node_modules/${name}` in packages) return true
    if (at === '') return false
  }
}

/** Leaves of a template what is computed in it. */
function withoutTexts(source: string): string {
  return source.replace(/`(?:[^`\\]|\\.)*`/g, (text) => (text.match(/\$\{[^}]*\}/g) ?? []).join(' ')).replace(/'(?:[^'\\\n]|\\.)*'/g, "''")
}
