/** Enforces the dependency table of server/README.md and the general conventions: no cycles, no long files, no SQL outside of the store. */
import { existsSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { root } from './runner/command.ts'
import { type Import, importsOf, isCode, listFiles, withoutComments } from './runner/imports.ts'

const files = listFiles()
const codeFiles = files.filter(isCode)
const textOf = new Map(codeFiles.map((file) => [file, readFileSync(join(root, file), 'utf8')]))
const imports = codeFiles.flatMap((file) => importsOf(file, textOf.get(file)))

/**
 * Folder -> what it may import: other folders (by prefix), and packages. `type:` allows only types.
 * A folder may always import itself, and Node's own modules unless `has_node` is false.
 */
const shared = ['server/contract', 'server/lib']
const drivers = {
  'server/runtime': ['dockerode', 'tar-stream', 'semver', '@lydell/node-pty', 'bcryptjs'],
  'server/source': ['tar-stream', 'yauzl'],
  'server/builder': ['semver', 'smol-toml', 'yaml'],
}
const joining = ['server/runtime/swarm/join-swarm.ts', 'server/runtime/swarm/registry-trust.ts']

const allowedImports: Record<string, { folders: string[]; packages: string[]; has_node?: boolean }> = {
  'server/contract': { folders: [], packages: ['zod'], has_node: false },
  'server/lib': { folders: [], packages: ['ignore'] },
  'server/client': { folders: ['server/contract'], packages: ['eventsource-parser', 'zod'], has_node: false },
  'server/api': { folders: [...shared, 'type:server/features'], packages: ['h3', 'zod', 'mrmime', '@fastify/busboy', 'ws'] },
  'server/features': {
    folders: [
      ...shared,
      'server/store',
      'server/deployments/service.ts',
      'server/billing',
      'server/database',
      'type:server/edge',
      'type:server/email',
      'server/notifications',
      'server/log-drains/drain-address.ts',
      'type:server/log-drains',
      'type:server/mail-catcher',
      'type:server/tracing',
      'type:server/tls',
      'type:server/dns',
      'server/optional/domain-sales',
      'server/optional/registrar/registrar.ts',
      'type:server/remotes',
      'type:server/source',
      'type:server/runtime',
      'type:server/maintenance',
    ],
    packages: ['zod'],
  },
  'server/deployments': {
    folders: [
      ...shared,
      'type:server/database',
      'type:server/mail-catcher',
      'type:server/tracing',
      'server/store',
      'server/source',
      'server/builder',
      'server/runtime',
      'server/edge',
    ],
    packages: ['croner'],
  },
  'server/database': {
    folders: [
      ...shared,
      'server/store',
      'server/runtime/runtime.ts',
      'server/runtime/docker/connection.ts',
      'server/runtime/docker/engine.ts',
      'server/runtime/docker/errors.ts',
      'server/runtime/docker/networks.ts',
      'server/runtime/docker/stream-demuxer.ts',
    ],
    packages: ['pg', 'pg-copy-streams', 'pg-cursor', 'dockerode'],
  },
  'server/billing': { folders: [...shared, 'server/store', 'type:server/options.ts'], packages: ['stripe'] },
  'server/store': { folders: shared, packages: ['kysely', 'better-sqlite3'] },
  'server/edge': { folders: shared, packages: ['mrmime'] },
  'server/maintenance': {
    folders: [
      ...shared,
      'server/store',
      'server/keys',
      'server/source/archive-tar.ts',
      'type:server/deployments',
      'type:server/runtime',
      'type:server/edge',
    ],
    packages: ['zod', 'tar-stream'],
  },
  'server/bootstrap': { folders: ['server'], packages: [] },
  'server/remotes': { folders: [...shared, 'server/client'], packages: ['zod'] },
  'server/network': { folders: shared, packages: [] },
  'server/mail-catcher': {
    folders: [...shared, 'server/store', 'server/network/app-listeners.ts'],
    packages: ['smtp-server', 'mailparser', 'sanitize-html'],
  },
  'server/tracing': { folders: [...shared, 'server/store', 'server/network/app-listeners.ts'], packages: ['protobufjs'] },
  'server/email': { folders: shared, packages: ['nodemailer'] },
  'server/notifications': {
    folders: [
      ...shared,
      'server/store',
      'type:server/email',
      'server/remotes/origin.ts',
      'server/remotes/trusted-context.ts',
      'server/source/repository-address.ts',
    ],
    packages: ['zod'],
  },
  'server/log-drains': {
    folders: [
      ...shared,
      'server/store',
      'server/notifications/post-json.ts',
      'server/notifications/send.ts',
      'server/notifications/signature.ts',
      'server/notifications/target-address.ts',
      'server/remotes/trusted-context.ts',
    ],
    packages: [],
  },
  'server/keys': { folders: shared, packages: [] },
  'server/dns': { folders: shared, packages: [] },
  'server/optional/registrar': { folders: shared, packages: ['zod'] },
  'server/optional/dns-server': { folders: shared, packages: ['dns-packet'] },
  'server/optional/domain-sales': { folders: [...shared, 'server/store', 'server/features', 'server/optional/registrar/registrar.ts'], packages: [] },
  'server/tls': { folders: shared, packages: ['zod'] },
  'server/screenshots': { folders: shared, packages: [] },
  'server/mcp': { folders: [...shared, 'server/client'], packages: ['@modelcontextprotocol/sdk', 'zod'] },
  'server/help': { folders: ['server/contract'], packages: [], has_node: false },
  'server/cli': {
    folders: [...shared, 'server/client', 'server/builder', 'server/options.ts', 'server/help', 'server/mcp', 'type:server/maintenance', ...joining],
    packages: ['uqr', 'tar-stream', 'ws', '@modelcontextprotocol/sdk'],
  },
  renderer: {
    folders: ['server/contract', 'server/client', 'server/help', 'type:preload/bridge.ts', 'resources/samples/samples.json'],
    packages: ['*'],
    has_node: false,
  },
  preload: { folders: [], packages: ['electron'], has_node: false },
  'resources/package': { folders: ['main/update-signature.ts'], packages: ['electron-builder', '@electron/asar', 'yaml'] },
  main: {
    folders: [
      'server/index.ts',
      'server/options.ts',
      'server/contract/labels.ts',
      'server/lib/clock.ts',
      'server/lib/instance-file.ts',
      'server/lib/log-file.ts',
      'server/lib/log.ts',
      'server/deployments/secret-mask.ts',
      'server/screenshots',
      'type:server/keys/master-key.ts',
      'server/cli/prepare.mjs',
      'preload/bridge.ts',
    ],
    packages: ['electron', 'electron-updater'],
  },
}
for (const [folder, packages] of Object.entries(drivers)) allowedImports[folder] = { folders: shared, packages }
allowedImports['server/runtime']!.folders = [...shared, 'server/tls/certificate.ts'] // Of the registry of a cluster.
const folderNames = Object.keys(allowedImports).sort((a, b) => b.length - a.length)
const folderOf = (file: string) => folderNames.find((folder) => file.startsWith(`${folder}/`))

/** From top to bottom. Api and stores share a layer, because a connection holds the client of its instance. */
const rendererLayers = [['app/', 'main.tsx', 'routes.ts'], ['features/'], ['api/', 'stores/'], ['components/'], ['lib/']]
const rendererImports = imports.filter((one) => one.is_own && one.from.startsWith('renderer/') && one.to.startsWith('renderer/'))
const featureOf = (file: string) => /^renderer\/features\/([^/]+)\//.exec(file)?.[1]
const isForeignFeature = ({ from, to }: Import) => featureOf(from) !== undefined && featureOf(to) !== undefined && featureOf(from) !== featureOf(to)

describe('who may import whom', () => {
  test('every folder of server/ is in the table', () => {
    const folders = new Set(codeFiles.filter((file) => /^server\/[^/]+\//.test(file)).map((file) => file.split('/').slice(0, 2).join('/')))
    expect([...folders].filter((folder) => !folderNames.some((name) => name === folder || name.startsWith(`${folder}/`)))).toEqual([])
  })

  test.each(Object.keys(allowedImports))('%s', (folder) => {
    const allowed = allowedImports[folder]!
    const wrong = imports
      .filter((one) => folderOf(one.from) === folder && !isAllowed(folder, allowed, one))
      .map((one) => `${one.from} imports ${one.to}`)
    expect(wrong).toEqual([])
  })

  test('only serve.ts imports the composition root in the command line', () => {
    expect(
      imports.filter((one) => one.to === 'server/index.ts' && one.from.startsWith('server/') && !/^server\/(cli\/serve|index)\.ts$/.test(one.from)),
    ).toEqual([])
  })

  test('renderer: layers import only downwards', () => {
    const layer = (file: string) => rendererLayers.findIndex((folders) => folders.some((folder) => file.startsWith(`renderer/${folder}`)))
    expect(rendererImports.filter((one) => layer(one.from) > layer(one.to)).map((one) => `${one.from} -> ${one.to}`)).toEqual([])
  })

  test('renderer: nothing that it runs imports zod, which is large and tries eval, against the policy of the page', () => {
    // The build replaces routes.ts by its routes.
    const values = imports.filter((one) => !one.is_type_only && one.to !== 'server/contract/routes.ts')
    const reached = new Map(codeFiles.filter((file) => file.startsWith('renderer/')).map((file) => [file, file]))
    for (const [file, path] of reached)
      for (const { from, to, is_own } of values) if (is_own && from === file && !reached.has(to)) reached.set(to, `${path} -> ${to}`)
    expect(values.filter(({ from, to }) => to === 'zod' && reached.has(from)).map(({ from }) => reached.get(from))).toEqual([])
  })

  test('renderer: a feature imports another feature only through its index.ts', () => {
    expect(rendererImports.filter((one) => isForeignFeature(one) && !one.to.endsWith('/index.ts')).map((one) => `${one.from} -> ${one.to}`)).toEqual(
      [],
    )
  })

  test('renderer: there are no cycles between features', () => {
    expect(
      findImportCycles(rendererImports.filter(isForeignFeature).map(({ from, to }) => ({ from: featureOf(from)!, to: featureOf(to)! }))),
    ).toEqual([])
  })

  test('there are no import cycles', () => {
    // Type imports count too.
    expect(findImportCycles(imports.filter((one) => one.is_own))).toEqual([])
  })

  test('every relative import resolves to a file', () => {
    // The recipes contain code of other folders as text.
    const isMissing = (one: Import) => one.is_own && one.from !== 'test/recipes.ts' && !existsSync(join(root, one.to)) && !one.to.endsWith('.css')
    expect(imports.filter(isMissing).map((one) => `${one.from} -> ${one.to}`)).toEqual([])
  })
})

describe('conventions', () => {
  test('no file exceeds 400 lines (except contract and migrations)', () => {
    const long = codeFiles
      .filter((file) => !/^server\/(contract|store\/migrations)\//.test(file))
      .map((file) => [file, textOf.get(file)!.split('\n').length] as const)
    expect(long.filter(([, lines]) => lines > 401)).toEqual([])
  })

  test('server/ reads the environment only in options.ts', () => {
    const readers = codeFiles.filter(
      (file) => file.startsWith('server/') && /process\.env|import\.meta\.env/.test(withoutStrings(withoutComments(textOf.get(file)!))),
    )
    // The launcher runs before options.ts can be loaded, so it reads npm's own variable to learn which npm is running.
    expect(readers.filter((file) => file !== 'server/options.ts' && file !== 'server/cli/prepare.mjs')).toEqual([])
  })

  const runsSql =
    /\.(statement|pragma)\(|\braw\.(exec|prepare|backup)\(|\b(tables|logTables|metricsTables)\.[a-z]+[A-Z]\w+\(|\b(SELECT|DELETE)\s[\s\S]{0,200}?\bFROM\b|\bINSERT\s+INTO\b|\bUPDATE\s+\w+\s+SET\b/
  test('only store/ runs SQL on the store; only database/ speaks to PostgreSQL', () => {
    expect(
      codeFiles.filter(
        (file) => /^server\/(?!store\/|database\/|contract\/mariadb-restore)/.test(file) && runsSql.test(withoutComments(textOf.get(file)!)),
      ),
    ).toEqual([])
  })

  /** The files with SQL as text. All other queries are built with kysely: see store/query.ts. */
  const rawSqlReasons: Record<string, string> = {
    'data-folder-lock.ts': 'a lock through an empty file, which has no tables',
    'database-copy.ts': 'a copy may have the tables of an earlier version',
    'file-integrity.ts': 'reads the schema itself',
    'log-store.ts': 'pragmas',
    'migrate.ts': 'runs migrations, and a pragma',
    'query.ts': 'runs what kysely compiled',
    'recovery.ts': 'a pragma',
    'retention-candidates.ts': 'kysely has no INDEXED BY',
    'sqlite.ts': 'pragmas and transactions',
    'store.ts': 'pragmas',
    'vacuum.ts': 'VACUUM, and code of a thread',
    'wal-manager.ts': 'code of a thread',
  }
  test('SQL as text is used only where kysely cannot express it', () => {
    const hasRawSql = /\.(statement|prepare|pragma)\(|\bsql(<.*>)?`|\b(raw|db|file)\.exec\(|\ball(<.*>)?\(\s*['"`]/
    const found = codeFiles.filter((file) => /^server\/store\/[^/]+$/.test(file) && hasRawSql.test(withoutComments(textOf.get(file)!)))
    expect(found.map((file) => file.slice('server/store/'.length)).toSorted()).toEqual(Object.keys(rawSqlReasons))
  })

  test.each([
    "tx.statement('SELECT 1')",
    'db.raw.exec(text)',
    'tx.all(tables.selectFrom("users"))',
    '`DELETE FROM users`',
    '`SELECT id,\n  name\nFROM users`',
  ])('SQL is recognized: %s', (code) => {
    expect(code).toMatch(runsSql)
  })

  test('no type is cast away', () => {
    const marks = /@ts-(ignore|nocheck|expect-error)|as unknown as|\bas any\b|: any\b/
    expect(codeFiles.filter((file) => !file.startsWith('test/') && marks.test(withoutComments(textOf.get(file)!)))).toEqual([])
  })

  /** Drivers, the code that composes them, released migrations and the list itself. */
  const mayNameDrivers =
    /^server\/(runtime\/(docker|process)\/|database\/(docker|embedded)-|store\/migrations\/|contract\/runtimes\.ts|bootstrap\/|(runtime|database)\/index\.ts)/
  test('only contract/runtimes.ts lists the runtimes, and no other code branches on a name', () => {
    const decidesByName =
      /[=!]==\s*['"`](docker|process)['"`]|['"`](docker|process)['"`]\s*[=!]==|\|\s*'(docker|process)'|'(docker|process)'\s*[|,\])]|\bruntimes\.(docker|process)\b|'(runtime|databases) (docker|process)'|\bis(Docker|Process)\b/
    expect(
      codeFiles.filter(
        (file) =>
          /^(server|renderer|main|preload)\//.test(file) && !mayNameDrivers.test(file) && decidesByName.test(withoutComments(textOf.get(file)!)),
      ),
    ).toEqual([])
  })

  test('modules are not mocked', () => {
    expect(
      codeFiles.filter((file) => file.startsWith('test/') && file !== 'test/architecture.test.ts' && /\bvi\.(mock|doMock)\(/.test(textOf.get(file)!)),
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

function isAllowed(folder: string, allowed: { folders: string[]; packages: string[]; has_node?: boolean }, one: Import): boolean {
  if (one.is_own) {
    if (one.to.startsWith(`${folder}/`)) return true
    // Only the command line may start the program that it is.
    if (one.from === 'server/cli/serve.ts' && one.to === 'server/index.ts') return true
    // This command works without a running instance.
    if (one.from === 'server/cli/restore.ts' && one.to === 'server/maintenance/restore/restore-backup.ts') return true
    return allowed.folders.some((entry) => {
      const isTypeEntry = entry.startsWith('type:')
      const target = isTypeEntry ? entry.slice(5) : entry
      return (one.to === target || one.to.startsWith(`${target}/`)) && (!isTypeEntry || one.is_type_only)
    })
  }
  // The build configuration of the dashboard does not run in a browser.
  if (one.to.startsWith('node:')) return allowed.has_node !== false || one.from === 'renderer/vite.config.ts'
  const name = one.to.startsWith('@') ? one.to.split('/').slice(0, 2).join('/') : one.to.split('/')[0]!
  return allowed.packages.includes('*') || allowed.packages.includes(name)
}

function findImportCycles(edges: readonly { from: string; to: string }[]): string[] {
  const next = new Map<string, string[]>()
  for (const { from, to } of edges) next.set(from, [...(next.get(from) ?? []), to])
  const done = new Set<string>()
  const found: string[] = []
  const walk = (file: string, path: string[]) => {
    if (path.includes(file)) {
      found.push([...path.slice(path.indexOf(file)), file].join(' -> '))
      return
    }
    if (done.has(file)) return
    for (const target of next.get(file) ?? []) walk(target, [...path, file])
    done.add(file)
  }
  for (const file of next.keys()) walk(file, [])
  return found
}

/** An optional package may be installed next to the one that requires it, or further up. */
function isLocked(packages: Record<string, unknown>, path: string, name: string): boolean {
  for (let at = path; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/')))) {
    if (`${at === '' ? '' : `${at}/`}node_modules/${name}` in packages) return true
    if (at === '') return false
  }
}

/** Removes the expressions from a template. */
function withoutStrings(source: string): string {
  return source.replace(/`(?:[^`\\]|\\.)*`/g, (text) => (text.match(/\$\{[^}]*\}/g) ?? []).join(' ')).replace(/'(?:[^'\\\n]|\\.)*'/g, "''")
}
