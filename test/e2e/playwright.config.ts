import { defineConfig } from '@playwright/test'
import { chromiumPath, headlessShellPath } from '../support/requirements.ts'

/** Runs always: `name.spec.ts`. In `npm run test:full` alone: `name.full.spec.ts`, and what is tagged `@full` elsewhere. */
const isFull = process.env['HOMEPORT_TEST_TIER'] === 'full'

/** The dashboard in a real browser, against a real platform that builds and runs real apps. */
export default defineConfig({
  testDir: '.',
  testMatch: '*.spec.ts',
  ...(isFull ? {} : { testIgnore: '*.full.spec.ts', grepInvert: /@full/ }),
  globalSetup: './global-setup.ts',
  outputDir: '../../test-results/e2e',
  // A story waits most of the time. How quick anything is, `npm run bench -- dashboard` says, where nothing else runs.
  workers: 2,
  fullyParallel: true,
  forbidOnly: true,
  retries: 0,
  // The only bounds of all waiting: wide enough for a machine that does other work, so that they are met by what never comes alone.
  timeout: 300_000,
  expect: { timeout: 90_000 },
  reporter: [['list']],
  use: {
    viewport: { width: 1280, height: 820 },
    locale: 'en-GB',
    trace: 'off',
    screenshot: 'only-on-failure',
    launchOptions: {
      ...(chromiumPath ? { executablePath: headlessShellPath ?? chromiumPath } : {}),
      // Chromium's sandbox refuses to start as root, which is what CI is.
      args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
    },
  },
})
