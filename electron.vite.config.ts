import { defineConfig } from 'electron-vite'

/**
 * Two parts of the build: `out/main` (the desktop, and the command line as a second entry) and `out/preload`. The third, `out/renderer`,
 * is built by vite itself (renderer/vite.config.ts): the platform serves it under /app/, and electron-vite insists on addresses for file://.
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
})
