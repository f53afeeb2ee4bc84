import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createTestDesktop, flushPromises } from '../support/test-desktop.ts'
import { app, type FakeWindow, powerMonitor, fakeElectron } from '../support/fake-electron.ts'

let testDesktop: ReturnType<typeof createTestDesktop>
const start: typeof testDesktop.start = async (options) => testDesktop.start(options)
const onlyWindow = () => testDesktop.window()

beforeEach(() => {
  testDesktop = createTestDesktop()
})
afterEach(() => testDesktop.close())

describe('a page during an upload', () => {
  test.each([
    ['is closed', (window: FakeWindow) => window.close(), () => fakeElectron.windows.length === 0],
    ['reloads', (window: FakeWindow) => window.webContents.reload(), (window: FakeWindow) => window.webContents.reloads === 1],
  ])('%s when the user confirms, and stays otherwise', async (_name, act, isGone) => {
    await start()
    const window = onlyWindow()
    window.webContents.prevents_unload = true
    fakeElectron.message_box_response = 1
    act(window)
    act(window)
    await flushPromises()
    expect([fakeElectron.message_boxes, isGone(window)]).toEqual([['Stop the upload or promotion?'], false])
    fakeElectron.message_box_response = 0
    act(window)
    await flushPromises()
    expect([fakeElectron.message_boxes.length, isGone(window)]).toEqual([2, true])
  })

  test('does not delay quitting', async () => {
    await start()
    onlyWindow().webContents.prevents_unload = true
    app.quit()
    await flushPromises()
    expect([fakeElectron.message_boxes, fakeElectron.quits]).toEqual([[], 1])
  })
})

describe('the end of the user session', () => {
  test('is delayed by macOS and Linux until Homeport has stopped in order', async () => {
    await start()
    expect(powerMonitor.holds_shutdown).toBe(true)
    let isDelayed = false
    powerMonitor.emit('shutdown', { preventDefault: () => (isDelayed = true) })
    expect(isDelayed).toBe(true)
    await flushPromises()
    expect([testDesktop.counts.stopped, fakeElectron.quits]).toEqual([1, 1])
  })

  test.each([
    ['Ctrl-C in the terminal of npm start on Windows', () => testDesktop.parent.emit('message', 'quit')],
    ['the end of that terminal', () => testDesktop.parent.emit('disconnect')],
  ])('%s stops Homeport in order', async (_name, act) => {
    await start()
    testDesktop.parent.emit('message', 'something else')
    act()
    await flushPromises()
    expect([testDesktop.counts.stopped, fakeElectron.quits]).toEqual([1, 1])
  })

  test('on Windows stops Homeport in order', async () => {
    await start()
    onlyWindow().emit('session-end', { reasons: ['shutdown'] })
    await flushPromises()
    expect([testDesktop.counts.stopped, fakeElectron.quits]).toEqual([1, 1])
  })
})

describe('without a visible window, a checkout on macOS is not throttled', () => {
  const held = () => fakeElectron.power_save_blockers.filter((type) => type === 'prevent-app-suspension').length

  test('during builds and for five seconds after a request', async () => {
    await start({ platform: 'darwin' })
    testDesktop.feed.emitUpdate({ active_deployments: 2 })
    testDesktop.feed.emitRequest()
    testDesktop.feed.emitUpdate({ active_deployments: 0 })
    expect(held()).toBe(1)
    await testDesktop.clock.advance(4_000)
    testDesktop.feed.emitRequest()
    await testDesktop.clock.advance(4_999)
    expect(held()).toBe(1)
    await testDesktop.clock.advance(1)
    expect(held()).toBe(0)
    testDesktop.feed.emitUpdate({ active_deployments: 1 })
    expect(held()).toBe(1)
    app.emit('quit')
    expect(held()).toBe(0)
  })

  test('a package, whose Info.plist covers this, and other systems hold no blocker', async () => {
    await start({ platform: 'linux' })
    app.isPackaged = true
    await start({ platform: 'darwin' })
    testDesktop.feed.emitUpdate({ active_deployments: 1 })
    testDesktop.feed.emitRequest()
    expect(held()).toBe(0)
  })
})

test('a checkout on Windows uses its program as app id, which notifications require; a package uses its own', async () => {
  await start()
  expect(fakeElectron.model_id).toBe(process.execPath)
  app.isPackaged = true
  await start()
  expect(fakeElectron.model_id).toBe('dev.homeport.desktop')
})

test('startup warnings are shown, and delay nothing', async () => {
  await start({ startup_warning: { message: 'Homeport is running from a temporary copy.', detail: 'Move it to Applications.' } })
  expect([fakeElectron.message_boxes, onlyWindow().is_visible]).toEqual([['Homeport is running from a temporary copy.'], true])
})
