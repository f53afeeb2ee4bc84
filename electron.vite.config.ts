import { defineConfig } from 'electron-vite'
import fs from 'node:fs'
import type { Plugin } from 'vite'

/** One letter outside of ASCII, and V8 keeps the text of a whole file in two bytes per letter for as long as it runs: 2 MB of ours. */
const ascii: Plugin = {
  name: 'ascii',
  generateBundle(_, files) {
    for (const file of Object.values(files)) {
      if (file.type !== 'chunk') continue
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
 * What only speeds up the start when it is in the bundle is bundled; what finds files beside itself stays a package.
 */
export default defineConfig({
  main: {
    plugins: [originalFs, ascii],
    build: {
      externalizeDeps: { exclude: ['h3', 'ignore', 'kysely', 'mrmime', 'zod'] },
      outDir: 'out/main',
      rollupOptions: {
        input: { index: 'main/index.ts', homeport: 'server/cli/homeport.ts' },
        output: { format: 'es', entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
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
