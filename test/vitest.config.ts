import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { SlowestFirst } from './runner/slowest-first.ts'
import { partTimeout_ms, testTimeout_ms } from './support/until.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const isFull = process.env.HOMEPORT_TEST_TIER === 'full'

/** Pure code: worker threads, one module graph for all files. */
const unit = [
  'architecture',
  'names',
  'documents',
  'builder/*',
  'builder/config/*',
  'client/*',
  'dns/*',
  'email/*',
  'registrar/*',
  'renderer/*',
  'spec/*',
].map((name) => `test/${name}.test.ts`)
/** Files that change their process (its environment, its standard streams, its trusted authorities, the fake of Electron) get a separate one. */
const isolated = ['main/*', 'packaging/*', 'remotes/connection'].map((name) => `test/${name}.test.ts`)

/** Both tiers: `name.test.ts` always runs, `name.full.test.ts` only in `npm run test:full`. */
const files = (patterns: string[]) => patterns.flatMap((pattern) => (isFull ? [pattern.replace('.test.ts', '{,.full}.test.ts')] : [pattern]))
const excluded = ['**/node_modules/**', 'test/e2e/**', 'test/bench/**', 'test/apps/*/**', ...(isFull ? [] : ['**/*.full.test.ts'])]

const shared = {
  root,
  setupFiles: fileURLToPath(new URL('support/setup.ts', import.meta.url)),
  testTimeout: testTimeout_ms,
  hookTimeout: testTimeout_ms,
  retry: 0,
}
// Importing the real package in plain Node begins a download.
const resolve = { alias: { electron: fileURLToPath(new URL('support/fake-electron.ts', import.meta.url)) } }
// Samples are uploaded unchanged.
const css = { include: /resources\/samples\// }

export default defineConfig({
  root,
  resolve,
  test: {
    passWithNoTests: false,
    maxWorkers: 3,
    sequence: { sequencer: SlowestFirst },
    projects: [
      { resolve, test: { ...shared, name: 'unit', pool: 'threads', isolate: false, include: files(unit), exclude: excluded } },
      {
        resolve,
        test: {
          ...shared,
          testTimeout: partTimeout_ms,
          expect: { poll: { timeout: partTimeout_ms - 10_000 } },
          name: 'dashboard',
          setupFiles: [shared.setupFiles, fileURLToPath(new URL('support/dashboard-setup.ts', import.meta.url))],
          pool: 'threads',
          isolate: false,
          environment: 'happy-dom',
          environmentOptions: { happyDOM: { url: 'http://127.0.0.1:4600/app/' } },
          include: files(['test/renderer/**/*.test.tsx']),
          exclude: excluded,
        },
      },
      { resolve, test: { ...shared, name: 'isolated', pool: 'forks', include: files(isolated), exclude: excluded } },
      {
        resolve,
        test: {
          ...shared,
          name: 'platform',
          css,
          pool: 'forks',
          isolate: false,
          include: files(['test/**/*.test.ts']),
          exclude: [...excluded, ...unit, ...isolated, ...(isFull ? [...files(unit), ...files(isolated)] : [])],
        },
      },
    ],
  },
})
