import { readdirSync, readFileSync } from 'node:fs'
import { constants, getPriority } from 'node:os'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { defaultScreenshotLimits } from '../../server/screenshots/screenshotter.ts'
import { requires } from '../support/requirements.ts'
import { until } from '../support/until.ts'
import {
  type AppHandler,
  findBrowserProcesses,
  type TestScreenshotter,
  htmlHandler,
  type SharedBrowser,
  pngSize,
  startTestScreenshotter,
  startSharedBrowser,
} from './test-screenshotter.ts'
import { expectNoOtherOrigin } from './other-origin-checks.ts'

describe.skipIf(!requires('chromium').ok)('a browser of this machine', () => {
  let camera: TestScreenshotter
  afterEach(async () => {
    await until(() => findBrowserProcesses(camera.data_dir).length === 0 || undefined, { what: 'the end of every process of the browser' })
    expect(readdirSync(camera.data_dir)).toEqual([])
    await camera.close()
  })

  /** A value of each process of the browser; processes that exit meanwhile are skipped. */
  const ofBrowsers = <T>(look: (pid: number) => T): T[] =>
    findBrowserProcesses(camera.data_dir).flatMap((pid) => {
      try {
        return [look(Number(pid))]
      } catch {
        return []
      }
    })

  test('is killed when a script of the page never ends', async () => {
    camera = await startTestScreenshotter(htmlHandler('<h1>x</h1><script>for (;;);</script>'), {
      limits: { picture_ms: 3000, load_ms: 500, quiet_ms: 100 },
    })
    await expect(camera.take()).rejects.toThrow('did not load within 3 s')
  })

  test('captures the top of a page of a million elements', async () => {
    camera = await startTestScreenshotter(htmlHandler('<h1>Top</h1><script>document.write("<p>line</p>".repeat(100000))</script>'))
    expect(pngSize((await camera.take())[0]!.png)).toEqual([1280, 800])
  })

  test('is killed when the page exceeds its memory limit', async () => {
    camera = await startTestScreenshotter(() => {}, { limits: { memory_bytes: 20 * 2 ** 20 } })
    await expect(camera.take()).rejects.toThrow('memory limit of 20 MiB')
  })

  test('runs at the lowest priority, and no other process can connect to it', async () => {
    let words = ''
    camera = await startTestScreenshotter(
      (request, response) => {
        words = ofBrowsers((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8')).join()
        const priorities = () => ofBrowsers(getPriority)
        void until(() => priorities().every((one) => one === constants.priority.PRIORITY_LOW) || undefined, { what: 'the lowest priority' }).then(
          () => htmlHandler('<h1>x</h1>')(request, response),
        )
      },
      { limits: { niceness: defaultScreenshotLimits.niceness } },
    )
    await camera.take()
    expect(words).toContain('--remote-debugging-pipe')
    expect(words).not.toContain('4680')
  })
})

describe.skipIf(!requires('chromium').ok)('a page', () => {
  let browser: SharedBrowser
  beforeAll(async () => void (browser = await startSharedBrowser()))
  afterAll(() => browser.close())

  test.each<[string, AppHandler]>([
    ['an API response', (_, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('{"hello":"world"}')],
    [
      'dialogs one after the other',
      htmlHandler(`<h1>x</h1><script>alert(1); confirm(2); prompt(3); onbeforeunload = () => 'stay'; print()</script>`),
    ],
  ])('is captured with %s', async (_, app) => {
    browser.serve(app)
    expect(pngSize(await browser.take())).toEqual([1280, 800])
  })

  test.each<[string, AppHandler, RegExp]>([
    ['an empty response', (_, response) => void response.end(), /empty/],
    [
      'a download',
      (_, response) => void response.writeHead(200, { 'content-disposition': 'attachment; filename="a.bin"' }).end('abc'),
      /could not be loaded/,
    ],
    ['a redirect into the machine', (_, response) => void response.writeHead(302, { location: 'file:///etc/passwd' }).end(), /could not be loaded/],
    ['a connection that breaks', (request) => void request.socket.destroy(), /could not be loaded/],
  ])('is not captured with %s, and the error has the reason', async (_, app, why) => {
    browser.serve(app)
    await expect(browser.take()).rejects.toThrow(why)
  })

  test('never reaches other origins, by any name', () =>
    expectNoOtherOrigin(browser, ['canary.localhost', '127.0.0.1', 'localhost', '127.1', '2130706433', 'shop.localhost', 'canary.test'], 20_000))
})
