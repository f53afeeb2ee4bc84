import { defineConfig } from 'electron-vite'
import type { Plugin } from 'vite'

/** One letter outside of ASCII, and V8 keeps the text of a whole file in two bytes per letter for as long as it runs: 2 MB of ours. */
const ascii: Plugin = {
  name: 'ascii',
  generateBundle(_, files) {
    for (const file of Object.values(files)) {
      if (file.type !== 'chunk') continue
      if (/\\[^\0-\x7f]/.test(file.code)) throw new Error(`${file.fileName}: no \\uXXXX can be written for a letter that a backslash stands before.`)
      file.code = file.code.replace(/[^\0-\x7f]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`)
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
    plugins: [ascii],
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
