import { defineConfig } from 'electron-vite'
import dashboard from './renderer/vite.config.ts'

/**
 * One build, three parts: `out/main` (the desktop, and the command line as a second entry), `out/preload`, `out/renderer`.
 * What only speeds up the start when it is in the bundle is bundled; what finds files beside itself stays a package.
 */
export default defineConfig({
  main: {
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
  // The platform serves it under /app/, to a browser and to the desktop's window alike.
  // Its folder is named from here: electron-vite takes it from the root of the repository, vite by itself from `renderer/`.
  renderer: {
    root: 'renderer',
    ...dashboard,
    build: { ...dashboard.build, outDir: 'out/renderer', rollupOptions: { input: { index: 'renderer/index.html' } } },
  },
})
