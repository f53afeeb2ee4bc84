import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openDesktopScene, settled } from '../support/desktop-scene.ts'
import { app, type FakeWindow, powerMonitor, world } from '../support/electron-double.ts'

let scene: ReturnType<typeof openDesktopScene>
const start: typeof scene.start = async (options) => scene.start(options)
const onlyWindow = () => scene.window()

beforeEach(() => {
  scene = openDesktopScene()
})
afterEach(() => scene.close())

describe('a page in the middle of an upload', () => {
  test.each([
    ['is closed', (window: FakeWindow) => window.close(), () => world.windows.length === 0],
    ['is loaded again', (window: FakeWindow) => window.webContents.reload(), (window: FakeWindow) => window.webContents.reloads === 1],
  ])('%s when a person agrees, and stays when not', async (_name, act, isGone) => {
    await start()
    const window = onlyWindow()
    window.webContents.objects = true
    world.answer = 1
    act(window)
    act(window)
    await settled()
    expect([world.questions, isGone(window)]).toEqual([['Stop the upload or promotion?'], false])
    world.answer = 0
    act(window)
    await settled()
    expect([world.questions.length, isGone(window)]).toEqual([2, true])
  })

  test('does not hold up the end', async () => {
    await start()
    onlyWindow().webContents.objects = true
    app.quit()
    await settled()
    expect([world.questions, world.quits]).toEqual([[], 1])
  })
})

describe('the end of the session', () => {
  test('is delayed by macOS and Linux until Homeport has ended in order', async () => {
    await start()
    expect(powerMonitor.holds_shutdown).toBe(true)
    let isDelayed = false
    powerMonitor.emit('shutdown', { preventDefault: () => (isDelayed = true) })
    expect(isDelayed).toBe(true)
    await settled()
    expect([scene.seen.stopped, world.quits]).toEqual([1, 1])
  })

  test.each([
    ['Ctrl-C in the terminal of npm start on Windows', () => scene.parent.emit('message', 'quit')],
    ['the end of that terminal', () => scene.parent.emit('disconnect')],
  ])('%s ends Homeport in order', async (_name, act) => {
    await start()
    scene.parent.emit('message', 'something else')
    act()
    await settled()
    expect([scene.seen.stopped, world.quits]).toEqual([1, 1])
  })

  test('on Windows ends Homeport in order', async () => {
    await start()
    onlyWindow().emit('session-end', { reasons: ['shutdown'] })
    await settled()
    expect([scene.seen.stopped, world.quits]).toEqual([1, 1])
  })
})

describe('while no window is visible, a checkout on macOS is not throttled', () => {
  const held = () => world.blockers.filter((type) => type === 'prevent-app-suspension').length

  test('during builds and for five seconds after a request', async () => {
    await start({ platform: 'darwin' })
    scene.desk.tell({ builds: 2 })
    scene.desk.visit()
    scene.desk.tell({ builds: 0 })
    expect(held()).toBe(1)
    await scene.clock.advance(4_000)
    scene.desk.visit()
    await scene.clock.advance(4_999)
    expect(held()).toBe(1)
    await scene.clock.advance(1)
    expect(held()).toBe(0)
    scene.desk.tell({ builds: 1 })
    expect(held()).toBe(1)
    app.emit('quit')
    expect(held()).toBe(0)
  })

  test('and a package, whose Info.plist says so, and other systems hold nothing', async () => {
    await start({ platform: 'linux' })
    app.isPackaged = true
    await start({ platform: 'darwin' })
    scene.desk.tell({ builds: 1 })
    scene.desk.visit()
    expect(held()).toBe(0)
  })
})

test('a checkout on Windows is known by its program, which notifications need; a package by its own name', async () => {
  await start()
  expect(world.model_id).toBe(process.execPath)
  app.isPackaged = true
  await start()
  expect(world.model_id).toBe('dev.homeport.desktop')
})

test('what a person should know of how Homeport was started is said, and holds nothing up', async () => {
  await start({ advice: { message: 'Homeport runs from a temporary copy.', detail: 'Move it to Applications.' } })
  expect([world.questions, onlyWindow().is_visible]).toEqual([['Homeport runs from a temporary copy.'], true])
})
