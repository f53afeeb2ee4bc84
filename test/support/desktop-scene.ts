import { EventEmitter } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { type City, type DesktopOptions, runDesktop } from '../../main/desktop.ts'
import { createDeskDouble } from './desk-double.ts'
import { app, type FakeWindow, reset, world } from './electron-double.ts'
import { fixedClock } from './test-clock.ts'
import { createUpdaterDouble } from './updater-double.ts'

/** A desktop that can be started over a platform that is played, on a system that is played. */
export function openDesktopScene() {
  reset()
  const folder = mkdtempSync(join(tmpdir(), 'homeport-desktop-'))
  const desk = createDeskDouble()
  const updater = createUpdaterDouble()
  const clock = fixedClock('2026-01-31T12:00:00.000Z')
  const seen = { opened: 0, stopped: 0, resynced: 0 }
  const parent = new EventEmitter()
  const stop = async () => void (seen.stopped += 1)
  const city: City = {
    api_url: 'http://127.0.0.1:4600',
    edge_url: 'http://localhost:4680',
    dashboard_url: 'http://127.0.0.1:4600/app/',
    version: '9.8.7',
    instance: { token: 'svc_of_this_run', runtime: { name: 'docker', version: '29.1', reason: 'It is there.' } },
    desk: desk.desk,
    signInUrl: async () => 'http://127.0.0.1:4600/sign-in?code=once',
    resync: () => void (seen.resynced += 1),
    stop,
  }
  const usual: DesktopOptions = {
    data_dir: folder,
    preload: '/out/preload/index.cjs',
    resources: '/resources',
    argv: [],
    login: { args: [], config_dir: join(folder, 'config'), app_image: null },
    updates: { off: 'This is a test.', page: null, key: null, installs_at_end: true, load: async () => updater },
    hasTrayHost: async () => true,
    platform: process.platform,
    advice: null,
    parent,
    clock,
    openCity: async () => {
      seen.opened += 1
      return city
    },
  }
  return {
    folder,
    city,
    desk,
    clock,
    updater,
    parent,
    seen,
    async start(options: Partial<DesktopOptions> = {}) {
      await runDesktop({ ...usual, ...options })
    },
    window(): FakeWindow {
      expect(world.windows).toHaveLength(1)
      return world.windows[0]!
    },
    /** The process is gone, and another one begins on the same folder. */
    again() {
      app.emit('quit')
      reset()
    },
    close() {
      app.emit('quit')
      for (const signal of ['SIGTERM', 'SIGINT'] as const) process.removeAllListeners(signal)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Lets every promise that is on its way come to its end. */
export const settled = () => new Promise((resolve) => setImmediate(resolve))
