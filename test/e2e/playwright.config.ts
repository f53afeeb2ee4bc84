import { defineConfig } from '@playwright/test'
import { chromiumPath } from '../support/requirements.ts'

/** Stories of the dashboard in a real browser, against a real platform that builds and runs real apps. */
export default defineConfig({
  testDir: '.',
  testMatch: '*.spec.ts',
  outputDir: '../../test-results/e2e',
  // A story waits most of the time. How quick anything is, `npm run bench -- desk` says, where nothing else runs.
  workers: 2,
  fullyParallel: false,
  forbidOnly: true,
  retries: 0,
  timeout: 90_000,
  expect: { timeout: 20_000 },
  reporter: [['list']],
  use: {
    viewport: { width: 1280, height: 820 },
    locale: 'en-GB',
    trace: 'off',
    screenshot: 'only-on-failure',
    launchOptions: {
      ...(chromiumPath ? { executablePath: chromiumPath } : {}),
      // Chromium's sandbox refuses to start as root, which is what CI is.
      args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
    },
  },
})
