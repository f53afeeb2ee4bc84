import { defineConfig } from 'vite'
import { ascii } from '../../electron.vite.config.ts'
import { bundledPackages } from '../../resources/package/bundled-packages.ts'

/** Builds the programs that tests start as processes (`programs.ts`), from the same packages as the bundle of users. */
export default defineConfig({
  publicDir: false,
  plugins: [ascii],
  ssr: { noExternal: bundledPackages },
  build: {
    ssr: true,
    target: 'node24',
    outDir: 'out/programs',
    // A running platform loads further chunks when it needs them.
    emptyOutDir: false,
    minify: false,
    rollupOptions: {
      input: {
        homeport: 'server/cli/homeport.ts',
        'platform-process': 'test/support/platform-process.ts',
        'edge-worker': 'server/edge/workers/worker.ts',
        'node-edge': 'server/edge/nodes/node-program.ts',
      },
      output: { entryFileNames: '[name].js', chunkFileNames: '[name].js' },
    },
  },
})
