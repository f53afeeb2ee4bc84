import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './support/longest-first.ts'

/** Suites that start engines, builds and whole platforms. They come after the quick ones, two files at a time at most. */
const heavy = ['runtime', 'deploy', 'platform', 'apps', 'cli', 'database', 'upkeep', 'packaging']
  .map((room) => `test/${room}/**`)
  .map((folder) => `${folder}/*.test.ts`)

const shared = {
  root: fileURLToPath(new URL('..', import.meta.url)),
  // Importing the real package in plain Node begins a download.
  alias: { electron: fileURLToPath(new URL('support/electron-double.ts', import.meta.url)) },
  setupFiles: fileURLToPath(new URL('support/kill-guard.ts', import.meta.url)),
  pool: 'forks' as const,
  retry: 0,
}

export default defineConfig({
  root: shared.root,
  resolve: { alias: shared.alias },
  test: {
    watch: false,
    passWithNoTests: false,
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        resolve: { alias: shared.alias },
        root: shared.root,
        test: {
          name: 'quick',
          include: ['test/**/*.test.ts', 'test/**/*.test.tsx'],
          exclude: [...heavy, 'test/e2e/**', 'test/bench/**', '**/node_modules/**'],
          pool: shared.pool,
          setupFiles: shared.setupFiles,
          retry: shared.retry,
          testTimeout: 60_000,
          hookTimeout: 60_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        resolve: { alias: shared.alias },
        root: shared.root,
        test: {
          name: 'heavy',
          // As they are: the samples are sent as they lie there.
          css: { include: /resources\/samples\// },
          include: heavy,
          exclude: ['**/node_modules/**'],
          pool: shared.pool,
          setupFiles: shared.setupFiles,
          retry: shared.retry,
          testTimeout: 180_000,
          hookTimeout: 180_000,
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
