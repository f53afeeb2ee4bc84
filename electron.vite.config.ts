import { defineConfig } from 'electron-vite'
import fs from 'node:fs'
import { minifySync, type Plugin } from 'vite'
import { bundledPackages } from './resources/package/bundled-packages.ts'

const isOfPackages = (modules: readonly string[]): boolean => modules.every((id) => id.includes('/node_modules/') || id.startsWith('\0'))

/** Chunks of packages alone are minified, for the size of what is downloaded. Ours keep the names and lines that a stack trace shows. */
const minifyPackages: Plugin = {
  name: 'minify-packages',
  generateBundle(_, files) {
    const keepNames = { function: true, class: true }
    for (const file of Object.values(files)) {
      if (file.type !== 'chunk' || file.moduleIds.length === 0 || !isOfPackages(file.moduleIds)) continue
      const { code, errors } = minifySync(file.fileName, file.code, { module: true, compress: { keepNames }, mangle: { keepNames: true } })
      if (errors.length > 0) throw new Error(`${file.fileName}: ${errors[0]?.message}`)
      file.code = code
      delete files[`${file.fileName}.map`]
    }
  },
}

/** One letter outside of ASCII, and V8 keeps the text of a whole file in two bytes per letter for as long as it runs: 2 MB of ours. */
export const ascii: Plugin = {
  name: 'ascii',
  generateBundle(_, files) {
    for (const file of Object.values(files)) {
      // The tables of character sets would grow by half, and are loaded with the first message alone.
      if (file.type !== 'chunk' || isOfPackages(file.moduleIds)) continue
      if (/\\[^\0-\x7f]/.test(file.code)) throw new Error(`${file.fileName}: no \\uXXXX can be written for a letter that a backslash stands before.`)
      file.code = file.code.replace(/[^\0-\x7f]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
    }
  },
}

/** These read what lies in the package's own archive. */
const readsArchive = /\/server\/(options|http\/dashboard)\.ts$/

/**
 * Electron's `node:fs` takes every file that ends in `.asar` for a folder: a project with one in it could not be copied, served or
 * deleted. The server uses `original-fs`, Electron's name for the file system as it is, and `node:fs` in plain Node.
 */
export const originalFs: Plugin = {
  name: 'original-fs',
  resolveId: (id) => (id.startsWith('original-fs:') ? `\0${id}` : undefined),
  load(id) {
    if (!id.startsWith('\0original-fs:')) return undefined
    const part = id.endsWith(':promises') ? 'promises' : undefined
    // What Node deprecated or loads late is behind a getter, and is not used.
    const names = Object.entries(Object.getOwnPropertyDescriptors(part ? fs[part] : fs)).flatMap(([name, { get }]) => (get ? [] : [name]))
    return `import fs from 'node:fs'
export const { ${names.join(', ')} } = (process.getBuiltinModule('original-fs') ?? fs)${part ? `.${part}` : ''}`
  },
  transform(code, id) {
    if (!/\/server\/.*\.ts$/.test(id) || readsArchive.test(id)) return undefined
    return {
      code: code.replace(
        /(\bfrom\s*|\bimport\()(["'])node:fs(\/promises)?\2/g,
        (_, keyword, quote, promises) => `${keyword}${quote}original-fs:${promises ? 'promises' : 'all'}${quote}`,
      ),
      map: null,
    }
  },
}

/**
 * Two parts of the build: `out/main` (the desktop, and the command line as a second entry) and `out/preload`. The third, `out/renderer`,
 * is built by vite itself (renderer/vite.config.ts): the platform serves it under /app/, and electron-vite insists on addresses for file://.
 * What only speeds up the start when it is in the bundle, or has many files that never run, is bundled; what finds files beside itself stays a package.
 */
export default defineConfig({
  main: {
    plugins: [originalFs, minifyPackages, ascii],
    build: {
      externalizeDeps: { exclude: bundledPackages },
      outDir: 'out/main',
      rollupOptions: {
        input: {
          index: 'main/index.ts',
          homeport: 'server/cli/homeport.ts',
          'edge-worker': 'server/edge/workers/worker.ts',
          'node-edge': 'server/edge/nodes/node-program.ts',
        },
        output: {
          format: 'es',
          entryFileNames: '[name].js',
          chunkFileNames: '[name]-[hash].js',
          // Half a megabyte, which nobody reads there.
          comments: { legal: true, annotation: true, jsdoc: false },
          // In a chunk with our code they would not be minified. One chunk for each package would take a tenth longer to start.
          codeSplitting: {
            groups: [
              {
                name: 'server-packages',
                test: /\/node_modules\/(kysely|h3|rou3|srvx|@fastify\/busboy|dns-packet|@leichtgewicht\/ip-codec|croner)\//,
              },
              { name: 'builder-packages', test: /\/node_modules\/(yaml|smol-toml)\// },
              {
                name: 'mcp-packages',
                test: /\/node_modules\/(@modelcontextprotocol|ajv|ajv-formats|fast-uri|fast-deep-equal|json-schema-traverse)\//,
              },
            ],
          },
        },
      },
      sourcemap: true,
    },
  },
  preload: {
    build: {
      // A sandboxed preload may require nothing but electron, and must be CommonJS.
      externalizeDeps: false,
      outDir: 'out/preload',
      rollupOptions: {
        input: { index: 'preload/index.ts' },
        output: { format: 'cjs', entryFileNames: '[name].cjs' },
      },
    },
  },
})
