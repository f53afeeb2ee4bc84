import { defineConfig } from '@playwright/test'
import { chromiumPath, headlessShellPath } from '../support/requirements.ts'

/** `name.spec.ts` always runs; `name.full.spec.ts`, and tests tagged `@full` elsewhere, only in `npm run test:full`. */
const isFull = process.env['HOMEPORT_TEST_TIER'] === 'full'

/** The dashboard in a real browser, against a real platform that builds and runs real apps. */
export default defineConfig({
  testDir: '.',
  testMatch: '*.spec.ts',
  ...(isFull ? {} : { testIgnore: '*.full.spec.ts', grepInvert: /@full/ }),
  globalSetup: './global-setup.ts',
  outputDir: '../../test-results/e2e',
  // A test waits most of the time. `npm run bench -- dashboard` measures speed, with nothing else running.
  workers: 2,
  fullyParallel: true,
  forbidOnly: true,
  retries: 0,
  // The only time limits of all waiting: wide enough for a busy machine, so that only an event that never happens exceeds them.
  timeout: 300_000,
  expect: { timeout: 90_000 },
  reporter: [['list']],
  use: {
    viewport: { width: 1280, height: 820 },
    locale: 'en-GB',
    // Without animations, which are painted by the processor here. The full tier has them.
    ...(isFull ? {} : { contextOptions: { reducedMotion: 'reduce' as const } }),
    trace: 'off',
    screenshot: 'only-on-failure',
    launchOptions: {
      ...(chromiumPath ? { executablePath: headlessShellPath ?? chromiumPath } : {}),
      // Chromium's sandbox refuses to start as root, which CI uses.
      args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
    },
  },
})
