import { EventEmitter } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { runDesktop } from '../../main/desktop.ts'
import type { PlatformHandle, DesktopOptions } from '../../main/desktop-options.ts'
import { createFakeDesktopFeed } from './fake-desktop-feed.ts'
import { app, type FakeWindow, resetFakeElectron, fakeElectron } from './fake-electron.ts'
import { fixedClock } from './test-clock.ts'
import { createFakeUpdater } from './fake-updater.ts'

/** A desktop that can be started with a fake platform and a fake system. */
export function createTestDesktop() {
  resetFakeElectron()
  const folder = mkdtempSync(join(tmpdir(), 'homeport-desktop-'))
  const feed = createFakeDesktopFeed()
  const updater = createFakeUpdater()
  const clock = fixedClock('2026-01-31T12:00:00.000Z')
  const counts = { opened: 0, stopped: 0, resynced: 0 }
  const parent = new EventEmitter()
  const stop = async () => void (counts.stopped += 1)
  const platform: PlatformHandle = {
    api_url: 'http://127.0.0.1:4600',
    edge_url: 'http://localhost:4680',
    dashboard_url: 'http://127.0.0.1:4600/app/',
    version: '9.8.7',
    instance: { token: 'svc_of_this_run', runtime: { name: 'docker', version: '29.1', reason: 'It is there.' } },
    desktopFeed: feed.feed,
    signInUrl: async () => 'http://127.0.0.1:4600/sign-in?code=once',
    resync: () => void (counts.resynced += 1),
    stop,
  }
  const defaultOptions: DesktopOptions = {
    data_dir: folder,
    preload: '/out/preload/index.cjs',
    resources: '/resources',
    argv: [],
    login: { args: [], config_dir: join(folder, 'config'), app_image: null },
    updates: { disabled_reason: 'This is a test.', download_page: null, public_key: null, installs_on_quit: true, loadUpdater: async () => updater },
    hasTrayHost: async () => true,
    platform: process.platform,
    startup_warning: null,
    parentProcess: parent,
    clock,
    startPlatform: async () => {
      counts.opened += 1
      return platform
    },
  }
  return {
    folder,
    platform,
    feed,
    clock,
    updater,
    parent,
    counts,
    async start(options: Partial<DesktopOptions> = {}) {
      await runDesktop({ ...defaultOptions, ...options })
    },
    window(): FakeWindow {
      expect(fakeElectron.windows).toHaveLength(1)
      return fakeElectron.windows[0]!
    },
    /** Simulates the end of the process and a new start on the same folder. */
    restart() {
      app.emit('quit')
      resetFakeElectron()
    },
    close() {
      app.emit('quit')
      for (const signal of ['SIGTERM', 'SIGINT'] as const) process.removeAllListeners(signal)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Waits until all pending promises are settled. */
export const flushPromises = () => new Promise((resolve) => setImmediate(resolve))
